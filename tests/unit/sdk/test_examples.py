"""The examples do what they say, each loaded from its own file as an author's would be."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from pluggableharness.sdk.testing import opened

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Any:
    def load_example(path: Any) -> Any:
        file = EXAMPLES / path
        spec = importlib.util.spec_from_file_location(file.stem, file)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, file.stem, module)
        spec.loader.exec_module(module)
        return module.provider

    return load_example


@pytest.mark.req("P32")
async def test_hello_greets_as_often_as_it_is_asked(load: Any) -> None:
    async with opened(load("hello-provider/hello_provider.py")) as tool:
        outcome = await tool("greet", name="Ada", times=2)
        assert outcome.payload == {"text": "Hello, Ada! Hello, Ada!"}
        assert (await tool("greet", name=" ")).error.category == "invalid_arguments"
        assert (await tool("greet", name="Ada", times=0)).error.message == (
            "times: expected a whole number, at least 1, got 0"
        )


@pytest.mark.req("P32")
def test_hello_fits_on_one_screen() -> None:
    lines = (EXAMPLES / "hello-provider/hello_provider.py").read_text().splitlines()
    assert len(lines) <= 35


@pytest.mark.req("P3", "K12")
async def test_finish_is_a_low_risk_resource_that_ends_the_turn(load: Any) -> None:
    provider = load("finish/finish_provider.py")
    traits = provider.operations["finish"].traits
    assert (traits.kind, traits.risk, traits.terminates_turn) == ("resource", "low", True)
    async with opened(provider) as tool:
        assert (await tool("finish", summary="All done.")).payload == {"summary": "All done."}
        assert "at least 1 character" in (await tool("finish", summary="")).error.message
