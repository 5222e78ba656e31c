"""Writes the pages of docs/reference that are made from the code.

Run as `python -m scripts.references`. The output is committed; a test fails when it is stale.
"""

from pathlib import Path

from scripts import command_line_reference, library_reference, provider_reference

FOLDER = Path(__file__).parents[1] / "docs" / "reference"

PAGES = {
    "command-line.md": command_line_reference.page,
    "library.md": library_reference.page,
    "providers.md": provider_reference.page,
}
"""The pages by their files' names, each with the function that makes it."""


def main() -> None:
    """Bring the pages up to date."""
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
