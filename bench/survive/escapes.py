"""R8: the sandboxed shell tries to write outside, to reach out, to pry, to use a helper."""

import tempfile
from collections import Counter
from itertools import cycle, islice

from bench.survive.attempts import CHANGING, EVERYWHERE, HELPERS, PRYING, REACHING, WRITING
from bench.survive.scene import set_up
from bench.survive.survived import Survived
from pluggableharness.providers.exec.provider import provider
from pluggableharness.sdk.testing import opened

ID = "R8"
SIZE = 500

_WORDS = {
    "writing outside": {**WRITING, **CHANGING},
    "reaching out": REACHING,
    "prying": PRYING,
    "helpers": HELPERS,
}


async def run(count: int) -> Survived:
    """Make so many attempts, each in a sandbox of its own."""
    scene = set_up()
    counts: Counter[str] = Counter()
    faults: list[str] = []
    try:
        with tempfile.TemporaryDirectory() as root:
            async with opened(provider, cwd=root, settings={"sandbox": "workspace"}) as tool:
                for name, command in islice(cycle({**EVERYWHERE, **CHANGING}.items()), count):
                    outcome = await tool("bash", command=scene.fill(command), timeout_s=20)
                    if outcome.error is None and outcome.payload["exit_code"] == 0:
                        faults.append(f"{name}: got through")
                    counts[next(kind for kind, ways in _WORDS.items() if name in ways)] += 1
                    faults.extend(f"{name}: {what}" for what in scene.touched())
    finally:
        scene.close()
    done = f"tried {count} times to get out of the sandbox"
    return Survived(ID, done, dict(sorted(counts.items())), tuple(faults))
