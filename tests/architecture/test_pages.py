"""What pages owe their readers: links that lead somewhere, and nothing that is no longer so."""

import contextlib
import io
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pluggableharness.cli.main import build_parser
from scripts.references import FOLDER, PAGES

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    *sorted(ROOT.glob("*.md")),
    ROOT / "examples/README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)")
CODE = re.compile(r"^```\w*\n.*?^```$", re.DOTALL | re.MULTILINE)
SHELL = re.compile(r"^```(?:sh|console)\n(.*?)^```$|^    (harness .*)$", re.DOTALL | re.MULTILINE)
SHOWN = re.compile(r"<!-- file: ([^\n]+) -->\n```\w+\n(.*?)```\n", re.DOTALL)
HARNESS = re.compile(r"(?:[\w./]*/)?harness")


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def anchors(page: Path) -> set[str]:
    """The headings of a page as links name them."""
    titles = re.findall(r"^#+ (.*)$", CODE.sub("", page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", DOCUMENTS, ids=named)
def test_every_link_leads_somewhere(page: Path) -> None:
    dead = []
    for target, anchor in LINK.findall(CODE.sub("", page.read_text("utf-8"))):
        if re.match(r"\w+:", target):
            continue
        there = (page.parent / target).resolve() if target else page
        if not there.exists() or (anchor and anchor not in anchors(there)):
            dead.append(f"{target}#{anchor}")
    assert dead == []


@pytest.mark.parametrize("page", DOCUMENTS, ids=named)
def test_every_file_is_shown_as_it_is(page: Path) -> None:
    for name, text in SHOWN.findall(page.read_text("utf-8")):
        assert text == (ROOT / name).read_text("utf-8"), name


def commands(page: Path) -> Iterator[list[str]]:
    """The words behind `harness` of each command that a page tells its reader to type."""
    for block, line in SHELL.findall(page.read_text("utf-8")):
        for typed in (block or line).replace("\\\n", " ").splitlines():
            yield from in_line(typed.removeprefix("$ "))


def in_line(typed: str) -> Iterator[list[str]]:
    with contextlib.suppress(ValueError):  # output that no shell could read
        words = shlex.split(typed, comments=True)
        starts = [place for place, word in enumerate(words) if HARNESS.fullmatch(word)]
        for start in starts:
            rest = words[start + 1 :]
            if all("=" in word for word in words[:start]) or words[start - 1] == "|":
                yield rest[: rest.index("|")] if "|" in rest else rest


TYPED = [(page, words) for page in DOCUMENTS for words in commands(page)]


@pytest.mark.req("K33")
@pytest.mark.parametrize(
    ("page", "words"), TYPED, ids=[f"{named(page)}: {' '.join(words)}" for page, words in TYPED]
)
def test_every_command_can_be_typed_so(page: Path, words: list[str]) -> None:
    told = io.StringIO()
    with contextlib.redirect_stderr(told), contextlib.suppress(SystemExit):
        build_parser(only=words[0]).parse_args(words)
    assert told.getvalue() == ""


@pytest.mark.req("K33", "K34")
@pytest.mark.parametrize(("name", "page"), PAGES.items())
def test_a_page_of_the_reference_is_what_the_code_says(name: str, page: Callable[[], str]) -> None:
    assert (FOLDER / name).read_text("utf-8") == page(), "stale: make generate"


@pytest.mark.req("K33")
def test_what_help_prints_fits_a_terminal() -> None:
    helps = re.findall(r"```text\n(.*?)```", PAGES["command-line.md"](), re.DOTALL)
    assert [line for shown in helps for line in shown.splitlines() if len(line) > 80] == []


def in_source(name: str) -> bool:
    """Whether the path of a module of ours ends in that name."""
    return any(
        f"/{path.relative_to(ROOT)}".endswith(f"/{name}")
        for folder in ("src", "tests", "bench", "scripts")
        for path in (ROOT / folder).rglob("*")
    )


@pytest.mark.parametrize(
    "page", [ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs/design").glob("*.md"))], ids=named
)
def test_every_module_that_a_note_names_is_there(page: Path) -> None:
    text = page.read_text("utf-8")
    modules = re.findall(r"`([\w/.]+\.py)`", text)
    tables = re.findall(r"^\| module of `(.*?/)` (\|.*?\n)\n", text, re.DOTALL | re.MULTILINE)
    for folder, table in tables:
        for cell in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE):
            modules += [f"{folder}{name}.py" for name in re.findall(r"`([\w/]+)`", cell)]
    assert [name for name in modules if not in_source(name)] == []
    assert len(tables) == text.count("\n| module")


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wanted = [
        *project["project"]["dependencies"],
        *(one for extra in project["project"]["optional-dependencies"].values() for one in extra),
        *(one for group in project["dependency-groups"].values() for one in group),
    ]
    names = {re.match(r"[\w-]+", one)[0] for one in wanted}  # type: ignore[index]
    text = (ROOT / "docs/design/dependencies.md").read_text("utf-8")
    assert {name for name in names if f"`{name}`" not in text} == set()


def test_every_design_note_is_in_their_index() -> None:
    notes = ROOT / "docs" / "design"
    listed = set(re.findall(r"\]\((\w[\w-]*\.md)\)", (notes / "README.md").read_text("utf-8")))
    assert listed == {path.name for path in notes.glob("*.md")} - {"README.md"}


def test_every_example_is_in_their_index() -> None:
    examples = ROOT / "examples"
    listed = re.findall(
        r"^\| \[([\w-]+)\]", (examples / "README.md").read_text("utf-8"), re.MULTILINE
    )
    assert sorted(listed) == sorted(path.name for path in examples.glob("[a-z]*/"))
