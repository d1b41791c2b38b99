"""MuseBench: intent-level questions about audiovisual arts, from video essays."""
