"""Serves a provider as a plugin: the process, the handshake, the services, the way back.

process      one plugin process from its first line to its end
tools        ToolService: the contract's own RPCs
services     health, broker and controller of go-plugin
printed      what is printed after the handshake line
kernel_link  the callback channel to the kernel
mutual_tls   what stands between a host that asks for TLS and the sockets
messages     events, schemas and nodes as messages of the wire
"""

from pluggableharness.sdk.serving.process import serve

__all__ = ["serve"]
