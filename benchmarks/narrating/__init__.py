"""Mixes of known parts with a narrator, and what is measured on them."""
