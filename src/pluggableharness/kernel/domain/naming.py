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


@lru_cache(maxsize=4096)
def _vendor_name(provider: str, name: str) -> str:
    plain = f"{provider}__{name}"
    splits_back = plain.count("__") == 1 and "___" not in plain
    if splits_back and len(plain) <= _LONGEST and not _ILLEGAL.search(plain):
        return plain
    digest = hashlib.sha256(f"{provider}.{name}".encode(errors="surrogatepass")).hexdigest()[:12]
    legal = _UNDERSCORES.sub("_", _ILLEGAL.sub("_", plain))
    return f"{legal[: _LONGEST - 13].rstrip('_')}_{digest}"
