"""`harness mcp`: the gated operations for any MCP client, over standard input and output (K35)."""

import argparse
import os
import sys
from dataclasses import replace

from pluggableharness.cli.exits import DONE
from pluggableharness.cli.interrupts import run_until_done
from pluggableharness.cli.working_directory import working_directory
from pluggableharness.kernel.configured import configured
from pluggableharness.kernel.domain.profile import DEFAULT_PROFILE
from pluggableharness.kernel.kernel import opened
from pluggableharness.kernel.models.vendors import vendor_models

_EPILOG = """\
A client starts it. In the form that many of them read:
  { "mcpServers": {
      "project": { "command": "harness", "args": ["mcp", "--cwd", "DIR"] } } }

What agent.hcl does not decide is put to the client's person by elicitation, where the client has
it, and is denied elsewhere. What was called is one session: harness sessions list
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.epilog = _EPILOG
    parser.add_argument("--cwd", metavar="DIR", default=".", help="the project's directory")
    parser.add_argument(
        "--profile",
        metavar="NAME",
        default=DEFAULT_PROFILE.name,
        help="an agent_profile of agent.hcl: what the client may call",
    )


def main(options: argparse.Namespace) -> int:
    """Serve until the client leaves; the exit code is 0 then."""
    if sys.stdin.isatty():
        print("harness mcp: speaks to an MCP client on standard input, not to you", file=sys.stderr)
    return run_until_done(lambda: _serve(options))


async def _serve(options: argparse.Namespace) -> int:
    # MCP and what it stands on take a second to import, and no other command needs them.
    from pluggableharness.bridges.outward.server import serve

    setup = configured(working_directory(options.cwd), os.environ, options.profile)
    async with vendor_models(os.environ) as models, opened(replace(setup, models=models)) as kernel:
        await serve(kernel)
    return DONE
