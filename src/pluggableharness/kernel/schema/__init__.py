"""The schema subset (P6): is a value of a schema, and if not, what is wrong with it.

Pure: values in, values out. It knows the domain's `Schema` and plain JSON values, and
nothing of the wire, of providers or of who asks.
"""

from pluggableharness.kernel.schema.declaration import Problem, declaration_problems
from pluggableharness.kernel.schema.explain import explain
from pluggableharness.kernel.schema.nearest import did_you_mean, nearest_first
from pluggableharness.kernel.schema.nulls import without_nulls
from pluggableharness.kernel.schema.parse import parse_arguments
from pluggableharness.kernel.schema.validate import MAX_VIOLATIONS, violations
from pluggableharness.kernel.schema.violation import Violation

__all__ = [
    "MAX_VIOLATIONS",
    "Problem",
    "Violation",
    "declaration_problems",
    "did_you_mean",
    "explain",
    "nearest_first",
    "parse_arguments",
    "violations",
    "without_nulls",
]
