"""A shell's command line as policy sees it (K7).

Fails closed: what is not understood for certain makes the whole view unusable. It judges text
alone; what a file name, a variable or a program's own configuration leads to is not seen here,
so that no rule over it replaces a sandbox.

To be read in this order, in which each imports only what stands above it:

    words                       a word, with its quoting undone
    tree                        a line, by the grammar: simple commands and their redirects
    options                     how options and operands are told apart, by the shape of a program
    readers, known, runners     what is known of programs; data alone
    builtins, git, sed          what no table can hold
    wrappers                    programs that run another, and what they run
    programs                    what one command does by its own words: looks all that up
    view                        what a line runs, writes and reads: gathers it
    supposed                    what it may run beside that, for rules that forbid
    subcommands                 which first words say what a program does, for grants
"""

from pluggableharness.kernel.policy.shell.supposed import supposed
from pluggableharness.kernel.policy.shell.view import Command, ShellView, shell_view

__all__ = ["Command", "ShellView", "shell_view", "supposed"]
