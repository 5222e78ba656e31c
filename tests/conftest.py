"""What holds for every test. Fixtures live beside the tests that use them."""

pytest_plugins = ["requirements_report"]
