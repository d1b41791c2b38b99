"""The synthetic world: videos whose truth is known, for the demo and for tests."""
