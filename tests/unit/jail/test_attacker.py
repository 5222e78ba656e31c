"""R3 at a size of seconds: names that are swapped while they are opened."""

import os
from pathlib import Path

import pytest
from unit.jail.reading import Build, read

from bench.survive.siege import Siege

TRIES = 1_000

pytestmark = [pytest.mark.req("C1"), pytest.mark.req("R3")]


@pytest.mark.parametrize("folder", [True, False], ids=["folder", "file"])
def test_a_reader_never_gets_what_lies_outside(build: Build, tmp_path: Path, folder: bool) -> None:
    """Case jail-06, reading."""
    siege = Siege(tmp_path, folder=folder)
    jail = build(siege.root)
    seen = siege.run(TRIES, lambda path: read(jail, path))
    siege.assert_nothing_outside_was_touched()
    assert seen["inside"] > 0


@pytest.mark.parametrize("folder", [True, False], ids=["folder", "file"])
def test_a_writer_never_touches_what_lies_outside(
    build: Build, tmp_path: Path, folder: bool
) -> None:
    """Case jail-06, writing: through the name, and a new name beside it."""
    siege = Siege(tmp_path, folder=folder)
    jail = build(siege.root)

    def write(path: str) -> bytes:
        for each, flags in ((path, os.O_WRONLY), (f"{path}.new", os.O_WRONLY | os.O_CREAT)):
            descriptor = jail.open(each, flags)
            os.write(descriptor, b"overwritten")
            os.close(descriptor)
        return b""

    seen = siege.run(TRIES, write)
    siege.assert_nothing_outside_was_touched()
    assert seen["inside"] > 0
