"""Models by PROVIDER:ID, as people write them (F10, K36)."""

import pytest

from pluggableharness.kernel.domain.errors import UsageError
from pluggableharness.kernel.domain.model_choice import Vendor
from pluggableharness.kernel.models.vendors import model_choice

IDS = [
    "claude-sonnet-5-5",
    "gpt-5",
    "ft:gpt-4o-mini-2024-07-18:my-org::7qTVM5AR",
    "models/gemini-2.5-pro",
    "qwen3:8b",
    "meta-llama/Llama-3.3-70B-Instruct:free",
    "@cf/meta/llama-3.1-8b-instruct",
    "/srv/models/small_q4.gguf",
    "modèle",
]


@pytest.mark.req("F10")
@pytest.mark.parametrize("vendor", list(Vendor))
@pytest.mark.parametrize("written", IDS)
def test_an_id_is_whatever_one_word_a_vendor_has_for_its_model(
    vendor: Vendor, written: str
) -> None:
    choice = model_choice(f"{vendor.value}:{written}")
    assert (choice.vendor, choice.id) == (vendor, written)
    assert model_choice(choice.name) == choice


NONE = [
    "",
    "anthropic",
    "anthropic:",
    "antropic:x",
    "x",
    "openai-compatible:/model anthropic:y",
    "anthropic: y",
    "anthropic:y ",
    "anthropic::y",
    "anthropic:y\nz",
    "anthropic:y\x1b[31m",
    "anthropic:y\u200b",
    "anthropic:/",
    'openai:"gpt-5"',
    "openai:<gpt-5>",
    "openai:gpt-5,gpt-4",
]


@pytest.mark.req("F10", "P16")
@pytest.mark.parametrize("written", NONE, ids=ascii)
def test_what_names_no_model_is_refused_with_what_does(written: str) -> None:
    with pytest.raises(UsageError) as refused:
        model_choice(written)
    told = str(refused.value)
    assert told.startswith(repr(written))
    assert "one of anthropic, openai, google, openai-compatible" in told
    assert "one word such as claude-sonnet-5-5" in told
    assert "\n" not in told
