"""Domain values to and from the wire: the only place where untyped values are allowed.

Knows the messages and the domain, and no rule of the kernel beyond what may be read from a
message at all. The contract's rules for what a provider declares stand in `contract`.
"""
