"""A cluster of Ray that is simulated, for the dispatcher to work on."""
