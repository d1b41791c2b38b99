"""From files to frames and sound: probe, sample, decode, and a world of our own to test on."""
