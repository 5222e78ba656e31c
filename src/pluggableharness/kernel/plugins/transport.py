"""gRPC as the host uses it: one channel to a process, one small server for its callbacks.

The only place that loads gRPC, and it does so late: its import takes 100 ms, in which a
provider that has been started by then starts as well. Messages pass as bytes, so that what
cannot be decoded is the caller's finding and not an exception in a library.
"""

import os
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from types import ModuleType

    import grpc.aio

MAX_MESSAGE_BYTES: Final = 64 * 1024 * 1024
"""The largest message taken or sent; beyond it a call fails with a size error."""

_NEVER_MS: Final = 2**31 - 1

_LIMITS: Final = (
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
)

_CHANNEL_OPTIONS: Final = (
    *_LIMITS,
    # go-plugin's servers expect a host name; gRPC would send the percent-encoded socket path.
    ("grpc.default_authority", "localhost"),
    # A proxy variable must not lead calls out of the machine.
    ("grpc.enable_http_proxy", 0),
    # A repeated call is the kernel's decision (P17), never the transport's.
    ("grpc.enable_retries", 0),
    # A lost connection means a lost process, so there is no idling and coming back.
    ("grpc.client_idle_timeout_ms", _NEVER_MS),
    # Each launch has a connection of its own: who calls back is known from it.
    ("grpc.use_local_subchannel_pool", 1),
)

_SERVER_OPTIONS: Final = (
    *_LIMITS,
    # gRPC drops requests at random once more than about a thousand wait.
    ("grpc.server.max_pending_requests", 100_000),
    ("grpc.server.max_pending_requests_hard_limit", 100_000),
)

Channel = Any
"""A grpc.aio.Channel; its stubs learn what passes from serializers, and bytes have none."""

TOOL_SERVICE: Final = "/pluggableharness.tool.v1.ToolService/"
HOOK_SERVICE: Final = "/pluggableharness.hook.v1.HookSubscriberService/"
CALLBACK_SERVICE: Final = "pluggableharness.kernel.v1.KernelCallbackService"


def grpc_aio() -> "ModuleType":
    """Return `grpc` with `grpc.aio`, loaded now if nobody has yet."""
    # Its C core else writes to our stderr, a person's screen, that a provider said goodbye.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    # Put off: see above. A statement instead of a cached value costs 0.2 µs.
    import grpc.aio

    return grpc


def status_of(error: "grpc.aio.AioRpcError") -> str:
    """What an RPC failed with, on a line."""
    code, details = error.code(), error.details()
    return f"{code.name}: {details}" if details else code.name


def open_channel(target: str) -> "grpc.aio.Channel":
    """Return a channel to a provider; it connects with the first call."""
    channel: grpc.aio.Channel = grpc_aio().aio.insecure_channel(target, options=_CHANNEL_OPTIONS)
    return channel


def new_server() -> "grpc.aio.Server":
    """Return a server without services and addresses, for one process's callbacks."""
    server: grpc.aio.Server = grpc_aio().aio.server(options=_SERVER_OPTIONS)
    return server
