"""How messages name what somebody sent: in one line, cut, with nothing hidden (P16)."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pluggableharness.providers.exec.provider import provider as exec_provider
from pluggableharness.providers.filesystem.provider import provider as filesystem
from pluggableharness.providers.search.provider import provider as search
from pluggableharness.providers.task.provider import provider as task
from pluggableharness.providers.web.provider import provider as web
from pluggableharness.sdk import Context, ExecutionFailed, Provider
from pluggableharness.sdk.naming import bounded, named, quoted, shown
from pluggableharness.sdk.testing import opened

pytestmark = pytest.mark.req("P16")

LONG = "\x1b[2J\u202ex" + "y" * 1_000_000
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e]")


@given(st.text(max_size=1000), st.integers(0, 3))
def test_a_value_is_named_in_one_short_line(text: str, times: int) -> None:
    for name in (named, quoted, shown):
        said = name(text * 10**times)
        assert len(said) < 5_000 and not CONTROL.search(said) and "\n" not in said


def test_what_is_cut_says_so_and_what_is_not_is_whole() -> None:
    assert quoted("it's") == '"it\'s"'
    assert named("a/b") == "a/b"
    assert shown({"a": ["\x1b"]}) == '{"a": ["\\u001b"]}'
    assert quoted("x" * 81) == f"'{'x' * 80}…' (81 characters)"
    assert named(b"\xff" * 500) == "\\xff" * 400 + "… (500 characters)"
    assert bounded("x" * 20_000) == "x" * 20_000
    assert bounded("x" * 20_001).endswith("… (20001 characters)")


REFUSED: list[tuple[Provider[Any], str, dict[str, Any]]] = [
    (filesystem, "read_file", {"path": LONG}),
    (filesystem, "read_file", {"path": f"/{LONG}"}),
    (filesystem, "read_file", {"path": "a/" * 500_000}),
    (filesystem, "write_file", {"path": LONG, "content": ""}),
    (filesystem, "write_file", {"path": f"{LONG}/", "content": ""}),
    (filesystem, "edit_file", {"path": "there", "old_str": LONG, "new_str": ""}),
    (filesystem, "read_file", {"path": "there", LONG: 1}),
    (filesystem, "read_file", {"path": [LONG]}),
    (search, "glob", {"pattern": "*", "path": LONG}),
    (search, "glob", {"pattern": f"[{LONG}"}),
    (search, "grep", {"pattern": f"({LONG}"}),
    (search, "grep", {"pattern": "x", "path": LONG}),
    (search, "grep", {"pattern": "x", "type": LONG}),
    (exec_provider, "bash", {"command": "true", "working_directory": LONG}),
    (exec_provider, "shell_read", {"argv": [LONG]}),
    (exec_provider, "shell_read", {"argv": ["git", LONG]}),
    (exec_provider, "shell_read", {"argv": ["git", "log", f"--{LONG}"]}),
    (web, "web_fetch", {"url": LONG}),
    (web, "web_fetch", {"url": f"http://{LONG[:1500]}/"}),
    (web, "http_request", {"method": "POST", "url": "http://x", "headers": {LONG: "x"}}),
    (web, "web_search", {"query": "x", "site": LONG}),
    (task, "task_update", {"id": LONG}),
    (task, "task_create", {"title": "x", "depends_on": [LONG]}),
    (task, "no_such_operation" + LONG, {}),
]


@pytest.mark.parametrize(("provider", "operation", "arguments"), REFUSED)
async def test_a_refusal_repeats_no_megabytes_and_no_escape_sequences(
    tmp_path: Path, provider: Provider[Any], operation: str, arguments: dict[str, Any]
) -> None:
    (tmp_path / "there").write_text("text")
    settings = {"allowed_roots": [str(tmp_path)]} if provider is filesystem else None
    async with opened(provider, cwd=tmp_path, settings=settings) as tool:
        await tool("read_file", path="there")
        error = (await tool(operation, **arguments)).error
    assert error is not None
    assert len(error.message) < 3_000, len(error.message)
    assert not CONTROL.search(error.message)
    assert len(str(error.details)) < 5_000


async def test_whatever_an_author_repeats_is_cut_in_the_end() -> None:
    provider = Provider("sample")

    @provider.data_source()
    async def careless(ctx: Context[None], text: str, bug: bool) -> dict[str, Any]:
        """Repeat everything."""
        raise ValueError(text) if bug else ExecutionFailed(f"cannot do {text}")

    async with opened(provider) as tool:
        for bug in (False, True):
            error = (await tool("careless", text=LONG, bug=bug)).error
            assert error is not None and len(error.message) < 21_000
