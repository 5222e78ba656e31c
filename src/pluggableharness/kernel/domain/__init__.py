"""The kernel's values: frozen, without behaviour beyond their own consistency.

Everything here is standard library only, so that every other package may import it and it
imports none. It knows nothing of the wire, of storage or of screens.
"""
