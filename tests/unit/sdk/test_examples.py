"""The examples do what they say, each loaded from its own file as an author's would be."""

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pluggableharness.sdk import Provider
from pluggableharness.sdk.testing import opened

EXAMPLES = Path(__file__).parents[3] / "examples"
Load = Callable[[str], Provider[None]]


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Load:
    def load_example(path: str) -> Provider[None]:
        file = EXAMPLES / path
        spec = importlib.util.spec_from_file_location(file.stem, file)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, file.stem, module)
        spec.loader.exec_module(module)
        provider: Provider[None] = module.provider
        return provider

    return load_example


@pytest.mark.req("P32")
async def test_hello_greets_as_often_as_it_is_asked(load: Load) -> None:
    async with opened(load("hello-provider/hello_provider.py")) as tool:
        outcome = await tool("greet", name="Ada", times=2)
        assert outcome.payload == {"text": "Hello, Ada! Hello, Ada!"}
        assert (await tool("greet", name=" ")).failure.category == "invalid_arguments"
        assert (await tool("greet", name="Ada", times=0)).failure.message == (
            "times: expected a whole number, at least 1, got 0"
        )


@pytest.mark.req("P32")
def test_hello_fits_on_one_screen() -> None:
    lines = (EXAMPLES / "hello-provider/hello_provider.py").read_text().splitlines()
    assert len(lines) <= 35


@pytest.mark.req("P3", "K12")
async def test_finish_is_a_low_risk_resource_that_ends_the_turn(load: Load) -> None:
    provider = load("finish/finish_provider.py")
    traits = provider.operations["finish"].traits
    assert (traits.kind, traits.risk, traits.terminates_turn) == ("resource", "low", True)
    async with opened(provider) as tool:
        assert (await tool("finish", summary="All done.")).payload == {"summary": "All done."}
        assert "at least 1 character" in (await tool("finish", summary="")).failure.message
