"""Start the exec provider as a plugin."""

from pluggableharness.providers.exec.provider import provider

if __name__ == "__main__":
    provider.serve()
