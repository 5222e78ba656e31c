"""spawn_subagent: an ordinary operation that calls RunSession on the kernel (C20, K22).

It touches nothing shared and holds no lock that its child could need. Depth, budgets, tools
and how many run at once are the kernel's to bound.
"""

from dataclasses import dataclass
from typing import Annotated

from pluggableharness.sdk import Context, Doc, ExecutionFailed, KernelUnavailable, Provider
from pluggableharness.sdk.render import Group, Node, Style, SubSession, Text

provider = Provider("agent")


@dataclass(frozen=True, slots=True)
class Ended:
    """How the child session ended."""

    session_id: Annotated[str, Doc("The child session, whose record has the rest")]
    status: Annotated[str, Doc("completed, or why it ended otherwise")]
    final_message: Annotated[str, Doc("All that comes back of what it said")]
    cost_usd: Annotated[float, Doc("What it and its own children spent, in US dollars")]
    input_tokens: int
    output_tokens: int


@provider.resource(risk="critical", safe=True)
async def spawn_subagent(
    ctx: Context[None],
    profile: Annotated[str, Doc("The agent profile that the child runs as")],
    prompt: Annotated[str, Doc("The whole task: the child sees nothing of this conversation")],
    providers: Annotated[
        list[str] | None, Doc("Narrows the child's tools to those of these providers")
    ] = None,
) -> Ended:
    """Give a task to a fresh agent and wait for its final message.

    The child starts with the prompt alone, has its profile's tools, and may act on its own
    within them. Several spawned in one message run at the same time.
    """
    try:
        end = await ctx.run_session(profile, prompt, providers=providers or ())
    except KernelUnavailable as error:
        raise ExecutionFailed(f"no sub-agent was started: {error}") from error
    return Ended(
        end.session_id,
        end.status,
        end.final_message,
        end.cost_usd,
        end.input_tokens,
        end.output_tokens,
    )


@spawn_subagent.preview
async def preview_spawn(
    ctx: Context[None], profile: str, prompt: str, providers: list[str] | None
) -> Node:
    """Show what the child would be and be told."""
    tools = f"only these providers: {', '.join(providers)}" if providers else "its profile's tools"
    return Group([Text(f"a sub-agent as {profile}, with {tools}", Style.BOLD), Text(prompt)])


@spawn_subagent.render
def render_end(payload: dict[str, str]) -> Node:
    """Show the child and how it ended."""
    return SubSession(payload["session_id"], f"{payload['status']}: {payload['final_message']}")
