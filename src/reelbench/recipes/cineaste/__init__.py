"""Cinéaste: fine-grained questions about films condensed to their key scenes."""
