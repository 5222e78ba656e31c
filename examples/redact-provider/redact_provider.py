"""A provider that takes keys out of what the model reads, and nowhere else (K25)."""

import json
import re

from pluggableharness.sdk import HookEvent, Provider

provider = Provider("redact", version="1.0.0")

KEY = re.compile(r"\bsk-[A-Za-z0-9]{8,}")


@provider.hook("pre-model-call", mode="transform")
async def redact(event: HookEvent[None]) -> object:
    """Give the messages back with every key blacked out, in whatever field it stands."""
    return json.loads(KEY.sub("[key]", json.dumps(event.payload["messages"])))


if __name__ == "__main__":
    provider.serve()
