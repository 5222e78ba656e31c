"""Run the agent provider as a plugin: `python -m pluggableharness.providers.agent`."""

from pluggableharness.providers.agent.provider import provider

if __name__ == "__main__":
    provider.serve()
