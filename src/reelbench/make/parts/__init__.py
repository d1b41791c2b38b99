"""Stages that recipes are composed of."""
