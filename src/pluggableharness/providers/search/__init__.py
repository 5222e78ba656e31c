"""The search provider: files by name and text by expression, through ripgrep (C7 to C9)."""
