"""Ask models through the journal: each thing once, and within what it may cost."""
