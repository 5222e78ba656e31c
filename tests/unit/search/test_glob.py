"""glob: files by name (C8)."""

import os
from pathlib import Path
from typing import Any

import pytest
from unit.search.trees import NOTHING_SKIPPED, globbed, grepped, put, refusal

from pluggableharness.providers.filesystem.provider import provider as filesystem
from pluggableharness.providers.search.provider import provider
from pluggableharness.sdk.testing import Tool, opened

pytestmark = pytest.mark.req("C8")


def tree(folder: Path, *names: str) -> None:
    for name in names:
        put(folder, name)


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.py", ["a.py", "src/b.py", "src/deep/er/c.py"]),
        ("**/*.py", ["a.py", "src/b.py", "src/deep/er/c.py"]),
        ("./*.py", ["a.py"]),
        ("src/*.py", ["src/b.py"]),
        ("src/**/*.py", ["src/b.py", "src/deep/er/c.py"]),
        ("src/**", ["src/b.py", "src/b.ts", "src/deep/er/c.py"]),
        ("src/", ["src/b.py", "src/b.ts", "src/deep/er/c.py"]),
        ("s*/**/c.py", ["src/deep/er/c.py"]),
        ("**/deep/**/c.py", ["src/deep/er/c.py"]),
        ("**/e?/*", ["src/deep/er/c.py"]),
        ("*.{ts,md}", ["README.md", "src/b.ts"]),
        ("{src,doc}/*.{ts,tsx}", ["src/b.ts"]),
        ("src/{b,deep/{er,es}/c}.py", ["src/b.py", "src/deep/er/c.py"]),
        ("[a-b].py", ["a.py", "src/b.py"]),
        ("[!a].py", ["src/b.py", "src/deep/er/c.py"]),
        ("src/b.ts", ["src/b.ts"]),
        ("b.ts", ["src/b.ts"]),
        ("B.ts", []),
        ("*.rs", []),
        ("nowhere/*.py", []),
    ],
)
async def test_patterns_mean_what_they_mean_to_ripgrep(
    tool: Tool, folder: Path, pattern: str, found: list[str]
) -> None:
    tree(folder, "a.py", "README.md", "src/b.py", "src/b.ts", "src/deep/er/c.py")
    payload = (await tool("glob", pattern=pattern)).payload
    assert payload == {
        "paths": found,
        "total": len(found),
        "truncated": False,
        "skipped": NOTHING_SKIPPED,
        "warnings": [],
    }


async def test_a_dot_that_is_written_out_is_found(tool: Tool, folder: Path) -> None:
    """Case search-01: a name with a dot is no wildcard's business."""
    tree(folder, ".github/workflows/ci.yml", ".env.example", "sub/.env")
    assert await globbed(tool, ".github/workflows/*.yml") == [".github/workflows/ci.yml"]
    assert await globbed(tool, ".env*") == [".env.example", "sub/.env"]
    assert await globbed(tool, "**/.github/**") == [".github/workflows/ci.yml"]
    assert await globbed(tool, "{.env*,*.md}") == [".env.example", "sub/.env"]
    assert await globbed(tool, ".github/workflows/ci.yml") == [".github/workflows/ci.yml"]


async def test_what_hidden_names_leave_out_is_said(tool: Tool, folder: Path) -> None:
    """Case search-02: wildcards pass hidden names by, and the result counts them; never .git."""
    tree(folder, "a.yml", ".hid/b.yml", ".git/c.yml", "sub/.d.yml")
    payload = (await tool("glob", pattern="**/*.yml")).payload
    assert payload["paths"] == ["a.yml"]
    assert payload["skipped"] == NOTHING_SKIPPED | {"hidden": 2}
    everything = (await tool("glob", pattern="**/*.yml", hidden=True)).payload
    assert everything["paths"] == [".hid/b.yml", "a.yml", "sub/.d.yml"]
    assert everything["skipped"] == NOTHING_SKIPPED


@pytest.mark.parametrize("arguments", [{"pattern": ".git/**"}, {"pattern": "*", "path": ".git"}])
async def test_git_is_never_listed_and_that_is_said(
    tool: Tool, folder: Path, arguments: dict[str, str]
) -> None:
    tree(folder, ".git/config", "sub/.git/config")
    payload = (await tool("glob", hidden=True, ignored=True, **arguments)).payload
    assert payload["paths"] == []
    assert payload["warnings"] == ["what is in .git is never listed"]
    assert await globbed(tool, "**", hidden=True, ignored=True) == []


async def test_what_ignore_files_leave_out_is_said(tool: Tool, folder: Path) -> None:
    """With or without a repository; a pattern lets in nothing that is ignored."""
    tree(folder, "a.py", "made/b.py", "c_pb2.py", "sub/d.py", "sub/keep/e.py")
    put(folder, ".gitignore", "made/\n*_pb2.py\n")
    put(folder, "sub/.ignore", "d.py\n")
    payload = (await tool("glob", pattern="*.py")).payload
    assert payload["paths"] == ["a.py", "sub/keep/e.py"]
    assert payload["skipped"] == NOTHING_SKIPPED | {"ignored": 3}
    everything = (await tool("glob", pattern="*.py", ignored=True)).payload
    assert everything["total"] == 5
    assert everything["skipped"] == NOTHING_SKIPPED


async def test_a_folder_below_the_ignore_file_is_searched_by_its_rules(
    tool: Tool, folder: Path
) -> None:
    tree(folder, "src/a.py", "src/made/b.py", "src/made/deep/c.py")
    put(folder, ".gitignore", "/src/made/\n")
    payload = (await tool("glob", pattern="*.py", path="src")).payload
    assert payload["paths"] == ["src/a.py"]
    assert payload["skipped"] == NOTHING_SKIPPED | {"ignored": 2}
    # What is named itself is searched.
    assert await globbed(tool, "src/made/*.py") == ["src/made/b.py"]
    assert await globbed(tool, "src/made/deep/c.py") == ["src/made/deep/c.py"]


async def test_ignore_files_above_the_root_do_not_count(tool: Tool, folder: Path) -> None:
    put(folder.parent, ".gitignore", "*\n")
    tree(folder, "a.py", "src/b.py")
    assert await globbed(tool, "*.py") == ["a.py", "src/b.py"]
    assert await globbed(tool, "*.py", path="src") == ["src/b.py"]


async def test_hidden_names_that_git_wants_are_hidden_all_the_same(
    tool: Tool, folder: Path
) -> None:
    tree(folder, "a.yml", ".github/b.yml")
    put(folder, ".gitignore", ".*\n!.github\n")
    payload = (await tool("glob", pattern="*.yml")).payload
    assert payload["paths"] == ["a.yml"]
    assert payload["skipped"] == NOTHING_SKIPPED | {"hidden": 1}


async def test_a_link_to_its_own_folder_ends(tool: Tool, folder: Path) -> None:
    """Case search-03: one result, however often one could go round."""
    put(folder, "f.txt")
    (folder / "loop").symlink_to(".")
    (folder / "other").symlink_to("loop")
    assert await globbed(tool, "**/f.txt") == ["f.txt"]
    assert await globbed(tool, "**/*.txt") == ["f.txt"]


async def test_an_absolute_pattern_is_found_beneath_the_root(tool: Tool, folder: Path) -> None:
    """Case search-05."""
    tree(folder, "a.txt", "sub/b.txt")
    assert await globbed(tool, f"{folder}/*.txt") == [f"{folder}/a.txt"]
    assert await globbed(tool, f"{folder}/**/b.txt") == [f"{folder}/sub/b.txt"]
    assert await globbed(tool, "*.txt", path=f"{folder}/sub") == [f"{folder}/sub/b.txt"]
    [match] = await grepped(tool, "needle", glob=f"{folder}/*.txt")
    assert match["path"] == f"{folder}/a.txt"


HOSTILE = [
    b"nl\nname.txt",
    b"with space.txt",
    b"[id].txt",
    b"{a,b}.txt",
    b"star*.txt",
    b"-dash.txt",
    b"!not.txt",
    b"a:1:b.txt",
    b'quote".txt',
    b"back\\slash.txt",
    b"caf\xe9.txt",
    "e\u0301\u202f.txt".encode(),
    b"\x07bell.txt",
    b"sub\n/in folder.txt",
]


@pytest.mark.parametrize("name", HOSTILE)
async def test_every_name_comes_back_as_one_that_read_file_takes(
    tool: Tool, folder: Path, name: bytes
) -> None:
    """Cases search-06, search-10, search-19: one entry, in one line, usable in the next call."""
    put(folder, name, "needle\n")
    put(folder, "other", "needle\n")
    [path] = await globbed(tool, "*.txt")
    assert path.isprintable()
    async with opened(filesystem, cwd=folder) as reader:
        assert (await reader("read_file", path=path)).payload["content"] == "1|needle"
    hits = (await tool("grep", pattern="needle")).payload["matches"]
    assert sorted(hit["path"] for hit in hits) == sorted([path, "other"])
    [again] = (await tool("grep", pattern="needle", path=path)).payload["matches"]
    assert again["path"].isprintable()


async def test_a_folder_called_like_a_class_is_found_as_it_is_written(
    tool: Tool, folder: Path
) -> None:
    tree(folder, "app/[id]/page.tsx", "app/i/page.tsx", "app/x/page.tsx")
    assert await globbed(tool, "app/[id]/page.tsx") == ["app/[id]/page.tsx", "app/i/page.tsx"]
    assert await globbed(tool, "app/\\[id\\]/*.tsx") == ["app/[id]/page.tsx"]


async def test_many_alternatives_are_still_these_alone(tool: Tool, folder: Path) -> None:
    tree(folder, "a.x1", "a.x150", "a.y")
    kinds = ",".join(f"x{number}" for number in range(190))
    assert await globbed(tool, f"*.{{{kinds}}}") == ["a.x1", "a.x150"]
    assert await globbed(tool, f"{{*,*.{{{kinds}}}}}") == ["a.x1", "a.x150", "a.y"]


async def test_paths_that_are_long_together_are_cut(tool: Tool, folder: Path) -> None:
    deep = "/".join(["d" * 200] * 10)
    for number in range(700):
        (folder / deep).mkdir(parents=True, exist_ok=True)
        (folder / deep / f"{number:03}").touch()
    payload = (await tool("glob", pattern="*", limit=10_000)).payload
    assert payload["total"] == 700
    assert payload["truncated"] is True
    assert 1_000_000 < sum(map(len, payload["paths"])) < 1_100_000


@pytest.mark.parametrize("more", [-1, 0, 1])
async def test_truncated_tells_all_from_cut(tool: Tool, folder: Path, more: int) -> None:
    """Case search-22: at the limit, one below and one above it, in a stable order."""
    tree(folder, *(f"{number % 7}/{number:03}.txt" for number in range(20 + more)))
    payload = (await tool("glob", pattern="*.txt", limit=20)).payload
    everything = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.txt"))
    assert payload["paths"] == everything[:20]
    assert payload["total"] == 20 + more
    assert payload["truncated"] is (more > 0)


async def test_a_cut_list_holds_the_first_of_a_great_many(tool: Tool, folder: Path) -> None:
    names = [f"{number:04x}"[::-1] for number in range(3_000)]
    for name in names:
        put(folder, f"{name[0]}/{name}.txt", b"")
    payload = (await tool("glob", pattern="*.txt", limit=5)).payload
    assert payload["paths"] == sorted(f"{name[0]}/{name}.txt" for name in names)[:5]
    assert payload["total"] == 3_000


async def test_the_newest_come_first(tool: Tool, folder: Path) -> None:
    for age, name in enumerate(("c.txt", "sub/a.txt", "b.txt", "sub/d.txt")):
        path = put(folder, name)
        os.utime(path, ns=(0, 10**18 - age * 10**9))
    put(folder, "same.txt")
    os.utime(folder / "same.txt", ns=(0, 10**18))
    newest = await globbed(tool, "*.txt", sort="mtime")
    assert newest == ["c.txt", "same.txt", "sub/a.txt", "b.txt", "sub/d.txt"]
    assert await globbed(tool, "*.txt", sort="mtime", limit=2) == ["c.txt", "same.txt"]


@pytest.mark.parametrize("sort", ["path", "mtime"])
async def test_a_link_to_nowhere_harms_nothing(tool: Tool, folder: Path, sort: str) -> None:
    """Case search-23: it is not listed, like any link that a wildcard meets."""
    put(folder, "real.txt")
    (folder / "dangling.txt").symlink_to("/nope")
    payload = (await tool("glob", pattern="*.txt", sort=sort)).payload
    assert payload["paths"] == ["real.txt"]
    assert payload["warnings"] == []


async def test_a_link_that_is_written_out_is_followed(tool: Tool, folder: Path) -> None:
    tree(folder, "real/a.txt")
    (folder / "link").symlink_to("real")
    (folder / "one.txt").symlink_to("real/a.txt")
    assert await globbed(tool, "link/*.txt") == ["link/a.txt"]
    assert await globbed(tool, "one.txt") == ["one.txt"]
    assert await globbed(tool, "./one.txt") == ["one.txt"]


async def test_results_begin_with_the_path_as_it_was_given(tool: Tool, folder: Path) -> None:
    tree(folder, "src/deep/a.py")
    for path in ("src", "./src", "src/", ".//src//."):
        assert await globbed(tool, "*.py", path=path) == ["src/deep/a.py"]
    assert await globbed(tool, "deep/*.py", path="src") == ["src/deep/a.py"]


@pytest.mark.parametrize(
    ("arguments", "category", "said"),
    [
        ({"pattern": "a["}, "invalid_arguments", "a [ without its ]"),
        ({"pattern": "a{b"}, "invalid_arguments", "a { without its }"),
        ({"pattern": "a}"}, "invalid_arguments", "a } without its {"),
        ({"pattern": "a\\"}, "invalid_arguments", "last backslash"),
        ({"pattern": "[z-a]"}, "invalid_arguments", "z-a runs backwards"),
        ({"pattern": "{/a,b}/*"}, "invalid_arguments", "absolute and for relative"),
        ({"pattern": "*/../x"}, "invalid_arguments", "goes up"),
        ({"pattern": "{a,b}" * 9}, "invalid_arguments", "more than 200"),
        ({"pattern": "a\0b"}, "invalid_arguments", "NUL"),
        ({"pattern": ""}, "invalid_arguments", "at least 1"),
        ({"pattern": "sub"}, "invalid_arguments", "sub/**"),
        ({"pattern": "*", "path": "file"}, "invalid_arguments", "file is a file"),
        ({"pattern": "*", "path": "nope"}, "not_found", "nope does not exist"),
        ({"pattern": "x/*", "path": "nope"}, "not_found", "nope does not exist"),
        ({"pattern": "x", "path": "nope"}, "not_found", "nope does not exist"),
        ({"pattern": "file/*"}, "invalid_arguments", "file is a file"),
        ({"pattern": "*", "limit": 0}, "invalid_arguments", "limit"),
        ({"pattern": "*", "sort": "size"}, "invalid_arguments", "sort"),
    ],
)
async def test_what_cannot_be_meant_is_refused_with_a_way_on(
    tool: Tool, folder: Path, arguments: dict[str, Any], category: str, said: str
) -> None:
    put(folder, "file")
    put(folder, "sub/a")
    got, message = await refusal(tool, "glob", **arguments)
    assert got == category
    assert said in message


async def test_relative_paths_start_at_the_working_directory_of_the_call(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P9, whatever the provider's own is."""
    put(folder, "here.txt")
    monkeypatch.chdir("/")
    async with opened(provider, cwd=folder) as tool:
        assert await globbed(tool, "*.txt") == ["here.txt"]
        assert await globbed(tool, "*.txt", path=".") == ["here.txt"]
