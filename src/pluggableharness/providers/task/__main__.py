"""Run the task provider as a plugin: `python -m pluggableharness.providers.task`."""

from pluggableharness.providers.task.provider import provider

if __name__ == "__main__":
    provider.serve()
