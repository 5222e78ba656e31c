"""Models by a word: a vendor's, or a written list of messages (K36)."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from pluggableharness.kernel.domain.profile import Profile
from pluggableharness.kernel.models.script import ScriptModel, read_script
from pluggableharness.kernel.models.vendors import VendorModels, model_choice, vendor_models
from pluggableharness.kernel.turn.ports import Model


def script(path: str | Path) -> ScriptModel:
    """The model that plays a script, a YAML file. Raises UsageError that names what is wrong."""
    return ScriptModel(read_script(Path(path)))


@asynccontextmanager
async def model(name: str, environment: Mapping[str, str] | None = None) -> AsyncIterator[Model]:
    """A vendor's model by `PROVIDER:ID`, such as `anthropic:claude-sonnet-5-5`, for a block.

    Its key and address come from `environment`, None for the program's own. Raises UsageError
    when the name is none or there is no key.
    """
    async with models(environment) as of_profile:
        yield of_profile(Profile("default", models=(model_choice(name),)))


@asynccontextmanager
async def models(environment: Mapping[str, str] | None = None) -> AsyncIterator[VendorModels]:
    """What makes the models that profiles of agent.hcl name, for a block: a `Setup` takes it.

    With it sub-agents and reviewers have a model, and its connections end with the block.
    """
    async with vendor_models(os.environ if environment is None else environment) as of_profile:
        yield of_profile
