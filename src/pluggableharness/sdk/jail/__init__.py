"""Files beneath allowed folders and nothing else, for any provider (C1).

    jail = jail_for(tuple(ctx.settings.allowed_roots), ctx.working_directory)
    descriptor = jail.open(path, base=ctx.working_directory)

Every way out ends in PermissionDenied: `..`, absolute paths, links, links of the kernel's own
making, and folders swapped for links between check and use.
"""

from pluggableharness.sdk.jail.beneath import Jail, Place, jail_for
from pluggableharness.sdk.jail.descent import best, by_openat2, by_steps, open_folder
from pluggableharness.sdk.jail.refusals import from_system, kind_of, not_a_file
from pluggableharness.sdk.jail.spelling import unescaped
from pluggableharness.sdk.naming import visible

__all__ = [
    "Jail",
    "Place",
    "best",
    "by_openat2",
    "by_steps",
    "from_system",
    "jail_for",
    "kind_of",
    "not_a_file",
    "open_folder",
    "unescaped",
    "visible",
]
