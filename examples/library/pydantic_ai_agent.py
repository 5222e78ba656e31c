"""A pydantic-ai agent whose tools are gated operations: its calls pass policy and the gate.

python pydantic_ai_agent.py anthropic:claude-sonnet-5-5 'What is in this project?'
"""

import asyncio
import sys

from pydantic_ai import Agent, Tool
from pydantic_ai.models import Model

import pluggableharness as ph


def as_tool(tool: ph.Tool) -> Tool[None]:
    # Sequential: of one message, nothing overtakes a call that changes something.
    changes = tool.operation.kind is ph.Kind.RESOURCE
    return Tool.from_schema(tool, tool.name, tool.description, tool.schema, sequential=changes)


async def run(model: Model | str, prompt: str, directory: str, frontend: ph.Frontend) -> str:
    async with (
        ph.opened(ph.project(directory)) as kernel,
        kernel.calls("pydantic-ai", frontend) as calls,
    ):
        agent = Agent(model, tools=[as_tool(tool) for tool in ph.tools(calls)])
        return (await agent.run(prompt)).output


async def decide(item: ph.PlanItem) -> ph.Answer:
    question = f"{item.call.operation.full_name} {dict(item.call.arguments)}: y to allow? "
    return ph.Answer(await asyncio.to_thread(input, question) == "y")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: pydantic_ai_agent.py MODEL PROMPT")
    print(asyncio.run(run(sys.argv[1], sys.argv[2], ".", ph.answering(decide))))
