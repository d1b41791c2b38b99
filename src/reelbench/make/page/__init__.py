"""The pages of a make."""
