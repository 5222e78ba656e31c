"""What holds for every test. Fixtures live beside the tests that use them."""

import os

pytest_plugins = ["requirements_report"]

# What a process compiles is kept for the hundreds that tests start after it.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
