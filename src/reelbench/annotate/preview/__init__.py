"""Previews: videos and contact sheets with labels drawn in."""
