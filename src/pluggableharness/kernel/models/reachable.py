"""Keys and addresses that no request could carry, told before any is made (F10, K21)."""

from urllib.parse import SplitResult, urlsplit

from pluggableharness.kernel.domain.errors import UsageError


def check_key(model: str, variable: str, key: str) -> None:
    """Raise UsageError for a key that fits no header; it names the variable, never the key.

    Blanks are not taken away: whoever set the variable should know that it holds them.
    """
    if key.isascii() and key.isprintable() and " " not in key:
        return
    what = (
        "ends in a blank or a line end"
        if key.rstrip() != key
        else "holds what no key has: a blank, a control character or one beyond ASCII"
    )
    raise UsageError(f"{model}: the key in {variable} {what}. Set {variable} to the key alone")


def check_address(model: str, source: str, address: str) -> None:
    """Raise UsageError for an address that is none; `source` is where it was written."""
    parts = _parts(address)
    if parts is not None and parts.scheme in ("http", "https") and parts.hostname:
        return
    raise UsageError(
        f"{model}: the address in {source} is none. Write it whole, such as "
        "http://localhost:11434/v1"
    )


def _parts(address: str) -> SplitResult | None:
    if not address.isprintable() or " " in address:
        return None
    try:
        parts = urlsplit(address)
        parts.port  # noqa: B018  # raises for what is no port
    except ValueError:
        return None
    return parts
