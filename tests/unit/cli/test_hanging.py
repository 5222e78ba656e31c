"""The last column of a list: folded where a terminal shows it, one line elsewhere."""

import sys

import pytest

from pluggableharness.cli.hanging import hanging


@pytest.mark.parametrize(
    ("terminal", "columns", "shown"),
    [
        (
            True,
            40,
            "provider exec  one two three four five\n               six\n               seven",
        ),
        (True, 30, "provider exec  one two three four five six\nseven"),
        (False, 40, "provider exec  one two three four five six\nseven"),
    ],
    ids=["folded", "no room to fold", "no terminal"],
)
def test_a_text_stands_in_its_own_column_of_a_terminal(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, columns: int, shown: str
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    monkeypatch.setenv("COLUMNS", str(columns))
    assert hanging("provider exec  ", "one two three four five six\nseven") == shown
