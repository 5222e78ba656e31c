"""An MCP server as a provider (K35): one bridge process for each server, on the SDK.

The kernel sees a provider like any other. The server is the bridge's child, so that the guard
above the bridge ends both.
"""
