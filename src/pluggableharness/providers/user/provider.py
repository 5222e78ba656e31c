"""ask_user: its declaration is what matters, since the kernel never invokes it (C21).

No call of the wire lets a provider ask anyone. The kernel that offers this operation shows
the arguments to whoever is attached and collects the answer in the shape declared here.
"""

from dataclasses import dataclass
from typing import Annotated

from pluggableharness.sdk import Context, Doc, ExecutionFailed, Provider
from pluggableharness.sdk.render import Group, Listing, Node, Style, Text

provider = Provider("user")


@dataclass(frozen=True, slots=True)
class Answer:
    """What the person said."""

    answer: Annotated[str, Doc("The answer in words; of several options, all of them")]
    selected: Annotated[list[str] | None, Doc("The options that were chosen")] = None


@provider.interactive()
async def ask_user(
    ctx: Context[None],
    question: Annotated[str, Doc("What is asked, complete in itself")],
    options: Annotated[list[str] | None, Doc("Answers to choose from")] = None,
    multiple: Annotated[bool, Doc("Whether several options may be chosen")] = False,
    default: Annotated[str | None, Doc("The answer when the person just confirms")] = None,
) -> Answer:
    """Ask the person something that only they can know or decide, and wait for the answer.

    Ask when going on without would waste their time or risk their work, and not otherwise.
    """
    raise ExecutionFailed(
        "No person can be asked here: a kernel puts interactive operations to its own frontend "
        "instead of invoking them. Go on without the answer and say what was assumed."
    )


@ask_user.preview
async def preview_question(
    ctx: Context[None],
    question: str,
    options: list[str] | None,
    multiple: bool,
    default: str | None,
) -> Node:
    """Show the question with its options."""
    asked = Text(question, Style.BOLD)
    if not options:
        return asked
    return Group([asked, Listing([Text(option) for option in options], ordered=not multiple)])
