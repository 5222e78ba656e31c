"""The filesystem provider: read, write and edit files beneath allowed roots (C1 to C6)."""
