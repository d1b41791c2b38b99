"""Models on this machine's accelerators, through transformers: prepared ahead, asked in batches."""
