"""A provider that lets a model say that it is done: its one operation ends the turn (K12).

The call goes through the gate like any other change. Once it has succeeded the loop stops,
whatever else the model's message held, and the summary is the session's last word.
"""

from dataclasses import dataclass
from typing import Annotated

from pluggableharness.sdk import Context, Doc, MinLength, Provider

provider = Provider("finish", version="1.0.0")


@dataclass(frozen=True, slots=True)
class Finished:
    summary: Annotated[str, Doc("What was done, as the model told it")]


@provider.resource(risk="low", terminates_turn=True)
async def finish(
    ctx: Context[None],
    summary: Annotated[str, MinLength(1), Doc("What was done and what is left, for the person")],
) -> Finished:
    """Say that the task is done, and stop. Call it last, with nothing else beside it."""
    return Finished(summary)


if __name__ == "__main__":
    provider.serve()
