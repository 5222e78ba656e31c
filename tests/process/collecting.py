"""A collector of traces for tests: takes OTLP over HTTP, and fails in the ways that they do."""

import gzip
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span


@dataclass
class Collector:
    """What came in; `status` is how it answers."""

    address: str = ""
    status: int = 200
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    @property
    def requests(self) -> list[ExportTraceServiceRequest]:
        return [ExportTraceServiceRequest.FromString(body) for body in self.bodies]

    @property
    def spans(self) -> list[Span]:
        return [
            span
            for request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    @property
    def resource(self) -> dict[str, Any]:
        return attributes(self.requests[0].resource_spans[0].resource)


def attributes(holder: Any) -> dict[str, Any]:
    """The attributes of a span or a resource."""
    return {
        pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in holder.attributes
    }


@contextmanager
def collecting(status: int = 200) -> Iterator[Collector]:
    """A collector, by default one that takes everything."""
    collector = Collector(status=status)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            collector.paths.append(self.path)
            collector.headers.append(dict(self.headers))
            collector.bodies.append(body)
            self.send_response(collector.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *words: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        collector.address = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield collector
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def answering(status: int) -> Iterator[str]:
    """The address of a collector that answers everything with one status."""
    with collecting(status) as collector:
        yield collector.address


@contextmanager
def silent() -> Iterator[str]:
    """The address of a server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@contextmanager
def absent() -> Iterator[str]:
    """An address at which nobody listens, and nobody else will meanwhile."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}"
