"""Labels as one can watch them."""
