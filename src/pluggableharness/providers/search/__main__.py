"""Run the search provider as a plugin: `python -m pluggableharness.providers.search`."""

from pluggableharness.providers.search.provider import provider

if __name__ == "__main__":
    provider.serve()
