"""Measure pictures: sharpness, noise, exposure and what they say of quality."""
