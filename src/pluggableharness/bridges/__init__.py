"""Bridges to other protocols: `outward` serves the kernel over MCP, `inward` takes servers in."""
