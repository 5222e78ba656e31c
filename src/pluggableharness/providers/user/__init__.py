"""Questions to the person, which the kernel puts to them itself (C21)."""
