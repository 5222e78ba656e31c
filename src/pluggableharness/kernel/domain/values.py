"""JSON as Python sees it, and nothing else."""

from collections.abc import Mapping, Sequence

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]
"""A parsed JSON value."""

JsonObject = Mapping[str, Json]
"""A parsed JSON object; arguments, payloads and details are of this shape."""
