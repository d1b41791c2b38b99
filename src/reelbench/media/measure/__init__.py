"""Measures the quality of pictures: sharpness, noise, exposure and others."""
