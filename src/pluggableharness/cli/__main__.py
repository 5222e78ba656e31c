"""Lets `python -m pluggableharness.cli` stand in for the `harness` command."""

import sys

from pluggableharness.cli.main import main

sys.exit(main())
