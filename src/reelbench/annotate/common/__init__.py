"""What several operators share: detectors, tracking, crops, audio."""
