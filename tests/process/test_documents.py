"""What README and the reference tell a newcomer to type does what they say."""

import json
import os
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest
from process.harness import Harness, lines

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
HOOKS = (ROOT / "docs/how-to/write-a-hook.md").read_text()
SCRIPTS = (ROOT / "docs/reference/script.md").read_text()
HARNESS = ".venv/bin/harness"


def first_steps() -> list[list[str]]:
    """The words of each command of README's first steps, behind the name of `harness`."""
    found = re.search(r"## First steps\n\n```sh\n(.*?)```", README, re.DOTALL)
    assert found
    commands = found[1].replace("\\\n", " ").splitlines()
    return [shlex.split(command, comments=True) for command in commands]


@pytest.mark.parametrize("words", first_steps(), ids=" ".join)
def test_the_first_steps_of_readme_work(harness: Harness, words: list[str]) -> None:
    assert words[0] == HARNESS
    there = Harness(ROOT, harness.state)
    done = there.run(*words[1:])
    # Doctor ends with 1 where the machine lacks something; it has then still said so.
    assert done.returncode == 0 or words[1] == "doctor", done.stdout + done.stderr
    assert done.stdout
    assert (ROOT / "README.md").read_text() == README


def test_the_provider_of_readme_answers_a_call(harness: Harness) -> None:
    (code,) = re.findall(r"```python\n(from dataclasses .*?)```", README, re.DOTALL)
    (harness.project / "hello.py").write_text(code)
    provider = f"{sys.executable} hello.py"
    done = harness.run("call", "hello.greet", "name=Ada", "--provider", provider, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Hello, Ada!" in done.stdout


@pytest.mark.req("K36")
def test_the_example_of_a_script_plays(harness: Harness) -> None:
    script = ROOT / "examples/script/count.yaml"
    words = ("run", "--script", str(script), "--cwd", str(script.parent))
    ran = harness.run(*words, "--allow-all", "--json")
    assert ran.returncode == 0, ran.stdout
    last = lines(ran.stdout)[-1]
    assert last["final_text"] == "The counter says: I have looked."
    said = [line["text"] for line in lines(ran.stdout) if line["type"] == "message"]
    assert "It has 29 lines; the other is not_found." in said


@pytest.mark.req("K36")
def test_the_mistake_that_the_reference_shows_is_told_so(harness: Harness) -> None:
    (harness.project / "fix.yaml").write_text("messages: [{say: a}, {calls: [{tol: a.b}]}]")
    told = harness.run("run", "--script", "fix.yaml")
    assert (told.returncode, told.stderr in SCRIPTS) == (2, True), told.stderr


@pytest.fixture
def activated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python and harness are found as in an environment that is activated."""
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)


@pytest.mark.req("P32")
@pytest.mark.usefixtures("activated")
def test_the_first_provider_runs_by_its_own_name(harness: Harness) -> None:
    there = Harness(ROOT / "examples/hello-provider", harness.state)
    done = there.run("call", "hello.greet", "name=Ada", "--provider", "./hello_provider.py")
    assert done.returncode == 0, done.stderr
    assert "Hello, Ada!" in done.stdout


def tried(document: str) -> dict[str, str]:
    """The files that a document has its reader write, by their names."""
    return dict(re.findall(r"<!-- try: ([^\n]+) -->\n```\w+\n(.*?)```\n", document, re.DOTALL))


@pytest.mark.req("P28", "P29", "P31", "P32")
@pytest.mark.usefixtures("activated")
def test_the_notes_of_the_how_to_are_previewed_written_and_read(harness: Harness) -> None:
    shutil.copytree(ROOT / "examples/notes-provider", harness.project, dirs_exist_ok=True)
    note = ("name=to-do", "text=buy milk")
    ran = [
        harness.run("call", *words, NOTES_TOKEN="abc123")
        for words in (
            ("notes.save", *note, "--preview"),
            ("notes.load", "name=to-do"),
            ("notes.save", *note),
            ("notes.load", "name=to-do"),
            ("notes.save", "name=to-do", "text=abc123"),
        )
    ]
    shown, missing, saved, loaded, refused = ran
    assert shown.stdout == "write notes/to-do.txt\nbuy milk\n"
    assert "there is no note to-do; write it with notes.save" in missing.stderr
    assert saved.returncode == 0, saved.stderr
    assert "text: buy milk" in loaded.stdout
    assert "the text holds [secret]" in refused.stderr
    assert "NOTES_TOKEN is not set" in harness.run("call", "notes.load", "name=to-do").stderr


@pytest.mark.req("F2", "K25", "K26")
@pytest.mark.usefixtures("activated")
def test_the_audit_that_is_shown_forbids_and_writes_down_what_it_says(harness: Harness) -> None:
    files = {**tried(HOOKS), "notes.txt": "some notes\n"}
    for name, text in files.items():
        (harness.project / name).write_text(text)
    audit = "audit_provider.py"
    (harness.project / audit).write_text((ROOT / "examples/audit-provider" / audit).read_text())
    ran = harness.run("run", "--script", "look.yaml", "--json")
    assert ran.returncode == 3, ran.stderr
    (denied,) = [line for line in lines(ran.stdout) if line.get("category")]
    assert "hook pre-tool-call of audit" in denied["message"]
    assert "hook pre-tool-call of audit" in HOOKS
    said = lines(ran.stdout)[-1]["final_text"]
    written = json.loads(said.removeprefix("The log has "))
    assert [json.loads(line)["operation"] for line in written] == ["read_file"]


@pytest.mark.req("K25")
@pytest.mark.usefixtures("activated")
def test_the_transform_that_is_shown_keeps_keys_from_the_model_alone(harness: Harness) -> None:
    redact = ROOT / "examples/redact-provider/redact_provider.py"
    (harness.project / "agent.hcl").write_text(
        'required_providers {\n  filesystem = { source = "builtin" }\n'
        f'  redact = {{ source = ["python3", "{redact}"] }}\n}}\n'
        'hook "pre-model-call" {\n  provider = "redact"\n  mode = "transform"\n}\n'
    )
    (harness.project / "notes.txt").write_text("the key is sk-12345678 today\n")
    script = harness.script("""
messages:
  - calls: [{id: look, tool: filesystem.read_file, arguments: {path: notes.txt}}]
  - say: "${look.content}"
""")
    ran = harness.run("run", "--script", script, "--json")
    assert ran.returncode == 0, ran.stderr
    assert "the key is [key] today" in lines(ran.stdout)[-1]["final_text"]
    (result,) = [line for line in lines(ran.stdout) if line["type"] == "result"]
    assert "sk-12345678" in result["payload"]["content"]
