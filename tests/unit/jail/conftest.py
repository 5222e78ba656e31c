"""A root with things in it, things outside it, and both ways of opening beneath it."""

from pathlib import Path

import pytest
from unit.jail.reading import Build

from pluggableharness.sdk.jail import Jail, by_openat2, by_steps


@pytest.fixture(params=[by_openat2, by_steps], ids=["openat2", "steps"])
def build(request: pytest.FixtureRequest) -> Build:
    """Make a jail of roots, in one of the two ways that must not differ."""
    return lambda *roots: Jail(roots, descend=request.param)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root `r` with `a` in it; beside it `outside/secret` and `r-sibling/a`."""
    for folder in ("r", "outside", "r-sibling"):
        (tmp_path / folder).mkdir()
    (tmp_path / "r" / "a").write_bytes(b"inside")
    (tmp_path / "outside" / "secret").write_bytes(b"secret")
    (tmp_path / "r-sibling" / "a").write_bytes(b"secret")
    return tmp_path / "r"
