"""An OpenAI Agents agent whose tools are gated operations: its calls pass policy and the gate.

python openai_agents.py gpt-5 'What is in this project?'
"""

import asyncio
import sys

from agents import Agent, FunctionTool, Model, ModelSettings, RunConfig, Runner
from agents.tool_context import ToolContext

import pluggableharness as ph


def as_tool(tool: ph.Tool) -> FunctionTool:
    async def invoke(context: ToolContext[None], arguments: str) -> str:
        return ph.text_of(await tool.run(arguments))

    return FunctionTool(
        tool.name, tool.description, tool.schema, on_invoke_tool=invoke, strict_json_schema=False
    )


async def run(model: Model | str, prompt: str, directory: str, frontend: ph.Frontend) -> str:
    async with (
        ph.opened(ph.project(directory)) as kernel,
        kernel.calls("openai-agents", frontend) as calls,
    ):
        agent = Agent(
            "assistant",
            model=model,
            # One call at a time, so that none overtakes one that changes something.
            model_settings=ModelSettings(parallel_tool_calls=False),
            tools=[as_tool(tool) for tool in ph.tools(calls)],
        )
        # Traces would send what the tools say to a server.
        config = RunConfig(tracing_disabled=True)
        return str((await Runner.run(agent, prompt, run_config=config)).final_output)


async def decide(item: ph.PlanItem) -> ph.Answer:
    question = f"{item.call.operation.full_name} {dict(item.call.arguments)}: y to allow? "
    return ph.Answer(await asyncio.to_thread(input, question) == "y")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: openai_agents.py MODEL PROMPT")
    print(asyncio.run(run(sys.argv[1], sys.argv[2], ".", ph.answering(decide))))
