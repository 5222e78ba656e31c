"""The user provider: a declaration that kernels serve themselves (C21)."""

from pathlib import Path

import pytest

from pluggableharness.providers.user.provider import provider
from pluggableharness.sdk.testing import opened


@pytest.mark.req("C21")
async def test_invoked_by_another_kernel_it_says_that_nobody_is_here(tmp_path: Path) -> None:
    async with opened(provider, cwd=tmp_path) as tool:
        outcome = await tool("ask_user", question="Which colour?")
    assert outcome.error is not None
    assert outcome.error.category == "execution_failed"
    assert "No person" in outcome.error.message
