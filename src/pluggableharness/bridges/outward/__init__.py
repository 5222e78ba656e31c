"""The kernel as an MCP server (K35): gated operations as tools, questions as elicitation.

What the protocol has is translated here and nowhere else; what may run is decided by the
kernel, which knows nothing of MCP. The `mcp` package is imported here only, and only by
`harness mcp`.
"""
