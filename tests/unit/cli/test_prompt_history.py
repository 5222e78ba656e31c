"""What was typed before: private, bounded, and never in the way."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pluggableharness.cli.prompt_history import (
    MOST_ENTRIES,
    history_path,
    read_history,
    remember,
)


def place(tmp_path: Path) -> Path:
    return history_path({"XDG_STATE_HOME": str(tmp_path)})


@pytest.mark.req("K32")
def test_prompts_come_back_whole_in_order_and_only_the_owner_reads_them(tmp_path: Path) -> None:
    path = place(tmp_path)
    for prompt in ("one\ntwo", "drei \u00e9\u202e", "drei \u00e9\u202e", "four"):
        remember(path, prompt)
    assert read_history(path) == ["one\ntwo", "drei \u00e9\u202e", "four"]
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o077 == 0
    assert os.listdir(path.parent) == ["history"]


@settings(deadline=None, max_examples=30)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60)))
def test_any_text_is_kept(tmp_path_factory: pytest.TempPathFactory, prompts: list[str]) -> None:
    path = place(tmp_path_factory.mktemp("state"))
    for prompt in prompts:
        remember(path, prompt)
    kept = [one for at, one in enumerate(prompts) if at == 0 or prompts[at - 1] != one]
    assert read_history(path) == kept


def test_it_never_grows_beyond_its_bounds(tmp_path: Path) -> None:
    path = place(tmp_path)
    path.parent.mkdir(parents=True, mode=0o700)
    path.write_text('"old"\n' * (MOST_ENTRIES + 100))
    remember(path, "new")
    assert len(read_history(path)) == MOST_ENTRIES
    assert read_history(path)[-1] == "new"
    remember(path, "x" * 100_000)
    assert read_history(path)[-1] == "new"


@pytest.mark.parametrize("strange", ["a pipe", "a link", "a directory", "junk"])
def test_what_is_no_history_is_none_and_no_error(tmp_path: Path, strange: str) -> None:
    path = place(tmp_path)
    path.parent.mkdir(parents=True, mode=0o700)
    other = tmp_path / "other"
    other.write_text('"secret"\n')
    match strange:
        case "a pipe":
            os.mkfifo(path)
        case "a link":
            path.symlink_to(other)
        case "a directory":
            path.mkdir()
        case _:
            path.write_bytes(b'{"a": 1}\n\xff\n"good"\n[[[[\n')
    assert read_history(path) == (["good"] if strange == "junk" else [])
    remember(path, "new")
    assert other.read_text() == '"secret"\n'
