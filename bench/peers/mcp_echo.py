"""The peer of S1, S2 and S4: an echo tool and a file reader, served over stdio by FastMCP."""

from pathlib import Path

from fastmcp import FastMCP

server = FastMCP("echo")


@server.tool
def echo(text: str) -> dict[str, str]:
    """Give back what came."""
    return {"text": text}


@server.tool
def read_file(path: str) -> dict[str, str]:
    """Read a file."""
    return {"content": Path(path).read_text()}


if __name__ == "__main__":
    server.run(show_banner=False)
