#!/bin/sh
# Renews the hashed locks from pyproject.toml. Needs uv. Names no index, so any mirror serves.
set -eu
cd "$(dirname "$0")/.."
lock() { uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-header --quiet "$@"; }
lock --extra telemetry --group dev -o requirements/dev.txt
lock -c requirements/dev.txt -o requirements/run.txt
lock --group bench -c requirements/dev.txt -o requirements/bench.txt
