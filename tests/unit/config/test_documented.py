"""Each block of agent.hcl that a page shows is one that the harness takes."""

import re
from pathlib import Path

import pytest

from pluggableharness.kernel.config.project import file_config

ROOT = Path(__file__).parents[3]
SHOWN = [
    pytest.param(text, id=f"{path.stem}-{number}")
    for path in (*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md")
    for number, text in enumerate(re.findall(r"```hcl\n(.*?)```", path.read_text("utf-8"), re.S), 1)
]


@pytest.mark.req("F11")
@pytest.mark.parametrize("text", SHOWN)
def test_what_a_page_shows_of_agent_hcl_is_in_order(text: str, tmp_path: Path) -> None:
    for name in re.findall(r'"\./([^"*]+)"', text):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch(0o755)
    (tmp_path / "agent.hcl").write_text(text)
    named = dict.fromkeys(re.findall(r'env\("(\w+)"\)', text), "http://127.0.0.1")
    file_config(tmp_path / "agent.hcl", tmp_path, named)
