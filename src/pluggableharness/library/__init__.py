"""What programs that embed the kernel need beside it; the public names are the package's own."""
