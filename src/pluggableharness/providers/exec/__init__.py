"""The provider that runs commands: bash, and what keeps a command's output readable."""
