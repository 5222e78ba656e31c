"""How our kernel tells our SDK where a call's paths led: metadata, since messages are fixed.

The value is a JSON object from absolute paths as they are written to real ones.
"""

from typing import Final

PLACES: Final = "pluggableharness-places-bin"

PLACES_BYTES: Final = 4096
"""The most that is sent: a server takes no more than 8 KiB of headers, in base64."""
