"""Texts as HCL holds them."""

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def hcl_string(text: str) -> str:
    """A text as HCL quotes it; what does not print is escaped."""
    escaped = "".join(
        _ESCAPES.get(one) or (one if one.isprintable() else f"\\U{ord(one):08x}") for one in text
    )
    return '"' + literal(escaped) + '"'


def literal(text: str) -> str:
    """A text in which nothing is to be evaluated, as a string or a heredoc has it."""
    return text.replace("${", "$${").replace("%{", "%%{")
