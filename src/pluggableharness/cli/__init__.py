"""The command line: one file a command, or a folder where it has subcommands of its own."""
