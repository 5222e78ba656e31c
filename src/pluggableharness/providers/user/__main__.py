"""Run the user provider as a plugin: `python -m pluggableharness.providers.user`."""

from pluggableharness.providers.user.provider import provider

if __name__ == "__main__":
    provider.serve()
