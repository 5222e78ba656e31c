"""Exchange rates, as a provider: one operation that reads, and a setting of agent.hcl."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pluggableharness.sdk import Context, Doc, Ge, Provider


@dataclass(frozen=True, slots=True)
class Settings:
    base: Annotated[Literal["EUR", "NOK"], Doc("What amounts are converted to")]


@dataclass(frozen=True, slots=True)
class Converted:
    amount: Annotated[float, Doc("The amount in the other currency")]
    currency: Annotated[str, Doc("That currency")]


provider = Provider("rates", settings=Settings, version="1.0.0")
KRONER = {"EUR": 11.5, "NOK": 1.0, "SEK": 1.02}


@provider.data_source(idempotent=True)
async def convert(
    ctx: Context[Settings],
    amount: Annotated[float, Ge(0), Doc("How much")],
    currency: Annotated[Literal["EUR", "NOK", "SEK"], Doc("In which currency it is")],
) -> Converted:
    """Convert an amount at the rates of the trip."""
    base = ctx.settings.base
    return Converted(round(amount * KRONER[currency] / KRONER[base], 2), base)


if __name__ == "__main__":
    provider.serve()
