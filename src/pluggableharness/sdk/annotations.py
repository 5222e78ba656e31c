"""What an author writes beside a type: a description, a range, that a setting is secret.

The ranges are msgspec's own, so that its C code checks them.
"""

from __future__ import annotations

from typing import Final

from msgspec import Meta


def Doc(text: str) -> Meta:  # noqa: N802  # reads as part of a type, where classes stand
    """Describe a parameter, a field or a setting: `Annotated[str, Doc("…")]`."""
    return Meta(description=text)


def Ge(limit: float) -> Meta:  # noqa: N802
    """Admit numbers from `limit` on."""
    return Meta(ge=limit)


def Gt(limit: float) -> Meta:  # noqa: N802
    """Admit numbers above `limit`."""
    return Meta(gt=limit)


def Le(limit: float) -> Meta:  # noqa: N802
    """Admit numbers up to `limit`."""
    return Meta(le=limit)


def Lt(limit: float) -> Meta:  # noqa: N802
    """Admit numbers below `limit`."""
    return Meta(lt=limit)


def MinLength(limit: int) -> Meta:  # noqa: N802
    """Admit strings of at least `limit` characters, lists of at least `limit` items."""
    return Meta(min_length=limit)


def MaxLength(limit: int) -> Meta:  # noqa: N802
    """Admit strings of at most `limit` characters, lists of at most `limit` items."""
    return Meta(max_length=limit)


def Pattern(regex: str) -> Meta:  # noqa: N802
    """Admit strings in which `regex` is found; anchor it to say more."""
    return Meta(pattern=regex)


class _Secret:
    """The type of `Secret`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "Secret"


Secret: Final = _Secret()
"""Marks a setting that holds a secret: `api_key: Annotated[str, Secret]` (F6, P31)."""
