"""Pairs the members of a domain enum with the numbers of the wire's.

Both sides use the same names, the wire's behind a prefix; a member without a partner is a
programming error that shows at import.
"""

from enum import Enum
from typing import Any, TypeVar

from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper

Member = TypeVar("Member", bound=Enum)


def numbers(domain: type[Member], wire: EnumTypeWrapper, prefix: str) -> dict[Member, Any]:
    """Return the wire's number of each domain member, `PREFIX_MEMBER` on the wire.

    Typed Any because the stubs want each field's own enum class where the runtime has ints.
    """
    return {member: wire.Value(f"{prefix}_{member.name}") for member in domain}


def members(domain: type[Member], wire: EnumTypeWrapper, prefix: str) -> dict[int, Member]:
    """Return the domain member of each of the wire's numbers; UNSPECIFIED has none."""
    return {number: member for member, number in numbers(domain, wire, prefix).items()}
