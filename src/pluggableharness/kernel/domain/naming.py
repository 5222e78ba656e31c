"""The names under which models know operations (K3)."""

import hashlib
import re
from functools import lru_cache

from pluggableharness.kernel.domain.operation import Operation

_LONGEST = 64
"""Characters: the shortest limit among the vendors."""

_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]")
_UNDERSCORES = re.compile("_{2,}")


def vendor_name(operation: Operation) -> str:
    """The operation's name in the letters that every vendor takes: `provider__operation`.

    No two operations share one, and none depends on what else is offered: a name that would
    not split back at its only double underscore, is too long, or has other characters gets
    single underscores and a digest of the full name instead.
    """
    return _vendor_name(operation.provider, operation.name)


def legal_name(name: str) -> str:
    """What any name of a history is written as to a vendor, whether or not it is one of ours.

    That of an operation becomes its `vendor_name`; what a model once made up stays as it is,
    where a vendor takes it.
    """
    provider, dot, own = name.partition(".")
    if dot:
        return _vendor_name(provider, own)
    if name and len(name) <= _LONGEST and not _ILLEGAL.search(name):
        return name
    return _digested(name, name)


@lru_cache(maxsize=4096)
def _vendor_name(provider: str, name: str) -> str:
    plain = f"{provider}__{name}"
    splits_back = plain.count("__") == 1 and "___" not in plain
    if splits_back and len(plain) <= _LONGEST and not _ILLEGAL.search(plain):
        return plain
    return _digested(plain, f"{provider}.{name}")


def _digested(plain: str, full: str) -> str:
    digest = hashlib.sha256(full.encode(errors="surrogatepass")).hexdigest()[:12]
    legal = _UNDERSCORES.sub("_", _ILLEGAL.sub("_", plain))
    return f"{legal[: _LONGEST - 13].rstrip('_')}_{digest}"
