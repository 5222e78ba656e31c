"""Holds any executable against the contract of a tool provider (P33).

report        what is checked, and what came of it
arguments     arguments that a schema allows, and such that it does not
probe         one process under check, and everything that it says
declarations  what can be said before a call is made
calls         what calls show
check         the whole, in order
"""

from pluggableharness.kernel.plugins.checking.check import check_provider
from pluggableharness.kernel.plugins.checking.report import Line, Report, Status

__all__ = ["Line", "Report", "Status", "check_provider"]
