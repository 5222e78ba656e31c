"""Our reading of glob patterns against ripgrep's own (C8)."""

import re
import subprocess
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pluggableharness.providers.search.pattern import Pattern, parse
from pluggableharness.providers.search.ripgrep import installed
from pluggableharness.sdk import InvalidArguments

pytestmark = pytest.mark.req("C8")

NAMES = ("a", "b", "ab", "ba", "abc", "a.c", ".a", ".a.b", "é", "a b")
PATHS = tuple(
    [*NAMES]
    + [f"d/{name}" for name in NAMES]
    + [f"{top}/{name}" for top in ("da", ".d", "d/d", "d/.d", "e/d/da", "a-") for name in NAMES[:7]]
)

letters = st.sampled_from("abcd.é ")
classes = st.sampled_from(["[ab]", "[!a]", "[^b]", "[a-c]", "[]a]", "[!-a]", "[.a]"])
pieces = st.one_of(letters, st.sampled_from(["*", "?"]), classes)
plain = st.lists(pieces, min_size=1, max_size=4).map("".join)
choices = st.lists(plain, min_size=1, max_size=3).map(lambda parts: "{" + ",".join(parts) + "}")
names = st.lists(st.one_of(pieces, st.just("**"), choices), min_size=1, max_size=4).map("".join)
segments = st.one_of(names, st.sampled_from(["**", "d"]))
patterns = st.lists(segments, min_size=1, max_size=4).map("/".join)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    for path in PATHS:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()
    return root


def by_ripgrep(tree: Path, pattern: str) -> set[str]:
    argv = [installed().path, "--no-config", "--files", "--hidden", f"--glob={pattern}"]
    found = subprocess.run(argv, cwd=tree, env={}, capture_output=True, check=False)
    assert found.returncode in (0, 1), found.stderr
    return set(found.stdout.decode().splitlines())


def read(pattern: str) -> Pattern | None:
    """Read a pattern; None for one that goes up or means something else to ripgrep.

    A name `.`; white space at the end, which ripgrep drops; `**` alone in braces, of which it
    makes this or that, depending on its neighbours.
    """
    if re.search(r"(^|[/{,])\.($|[/},])| $|[{,]\*\*[},]", pattern):
        return None
    try:
        return parse(pattern)
    except InvalidArguments:
        return None


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(patterns)
@example("**/d/**/a")
@example("d/**/d/**")
@example("**/**/a")
@example("{a,d/b}")
@example("{d,e}/**/{a,*b*}")
def test_a_pattern_matches_what_it_matches_for_ripgrep(tree: Path, pattern: str) -> None:
    """But for what is decided otherwise: classes and `?` are for one character, never a `/`."""
    understood = read(pattern)
    if understood is None:
        return
    inside = [
        path.removeprefix(f"{understood.prefix}/")
        for path in PATHS
        if not understood.prefix or path.startswith(f"{understood.prefix}/")
    ]
    above = f"{understood.prefix}/" if understood.prefix else ""
    ours = {above + path for path in inside if understood.expression(True).fullmatch(path)}
    assert ours >= {above + path for path in inside if understood.expression(False).fullmatch(path)}
    theirs = by_ripgrep(tree, pattern)
    if "?" in pattern or "[" in pattern:  # one of either is a byte for ripgrep, no character
        ours = {path for path in ours if path.isascii()}
        theirs = {path for path in theirs if path.isascii()}
    if "[!" in pattern or "[^" in pattern:  # for ripgrep that may be a `/`
        assert ours <= theirs
    else:
        assert ours == theirs


@settings(max_examples=300, deadline=None)
@given(patterns)
def test_what_narrows_the_search_loses_nothing(pattern: str) -> None:
    """Prefix, depth and name globs only leave out what does not match."""
    understood = read(pattern)
    if understood is None:
        return
    for path in PATHS:
        if understood.expression(True).fullmatch(path):
            name = path.rpartition("/")[2]
            assert understood.depth is None or path.count("/") < understood.depth
            if understood.name_globs and "{" not in pattern and "[" not in pattern:
                globs = [glob.replace("\\", "") for glob in understood.name_globs]
                assert any(fnmatchcase(name, glob) for glob in globs)


@given(st.text(max_size=30))
def test_any_text_is_a_pattern_or_is_refused(text: str) -> None:
    try:
        understood = parse(text)
    except InvalidArguments:
        return
    for hidden in (True, False):
        understood.expression(hidden).fullmatch("a/b/c")


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 30 + "b", "a" * 250),
        ("a*" * 30 + "b", "a" * 250),
        ("**/a/" * 20 + "b", "a/" * 100 + "c"),
        ("**/*a*/" * 10 + "b", "aaaa/" * 50 + "c"),
        ("{a,a*}" * 5 + "b", "a" * 250),
    ],
)
def test_no_pattern_takes_for_ever(pattern: str, path: str) -> None:
    """A pattern that tries every way to part a name would not return in this century."""
    for hidden in (True, False):
        assert not parse(pattern).expression(hidden).fullmatch(path)
