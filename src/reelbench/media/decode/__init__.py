"""From a file to frames: probe, seek, sample, decode, store."""
