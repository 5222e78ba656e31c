"""Run the web provider as a plugin: `python -m pluggableharness.providers.web`."""

from pluggableharness.providers.web.provider import provider

if __name__ == "__main__":
    provider.serve()
