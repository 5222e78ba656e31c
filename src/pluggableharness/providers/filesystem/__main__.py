"""Run the filesystem provider as a plugin: `python -m pluggableharness.providers.filesystem`."""

from pluggableharness.providers.filesystem.provider import provider

if __name__ == "__main__":
    provider.serve()
