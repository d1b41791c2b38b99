"""Recipes, stages, and what takes rows through them."""
