"""The kernel: from a model's message to results, through the gate."""
