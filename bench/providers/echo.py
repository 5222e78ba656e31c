"""The provider behind S1, S2, S3 and S15: gives back what came, as a read and as a resource."""

from dataclasses import dataclass
from typing import Annotated

from pluggableharness.sdk import Context, Doc, Provider

provider = Provider("echo")


@dataclass(frozen=True, slots=True)
class Echoed:
    """What came."""

    text: Annotated[str, Doc("What came")]


@provider.data_source()
async def read(ctx: Context[None], text: Annotated[str, Doc("Anything")]) -> Echoed:
    """Give back what came."""
    return Echoed(text)


@provider.resource(risk="low", safe=True)
async def act(ctx: Context[None], text: Annotated[str, Doc("Anything")]) -> Echoed:
    """Give back what came, as if it had changed something."""
    return Echoed(text)


if __name__ == "__main__":
    provider.serve()
