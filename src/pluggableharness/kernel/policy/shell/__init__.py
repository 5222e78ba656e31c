"""A shell's command line as policy sees it (K7).

Fails closed: what is not understood for certain makes the whole view unusable. It judges text
alone; what a file name, a variable or a program's own configuration leads to is not seen here,
so that no rule over it replaces a sandbox.
"""

from pluggableharness.kernel.policy.shell.supposed import supposed
from pluggableharness.kernel.policy.shell.view import Command, ShellView, shell_view

__all__ = ["Command", "ShellView", "shell_view", "supposed"]
