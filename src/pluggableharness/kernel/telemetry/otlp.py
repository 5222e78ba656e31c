"""Spans to a collector over OTLP/HTTP, with the OpenTelemetry SDK (K31).

The one place that knows it. The SDK sends from a thread of its own and keeps at most as many
spans as its queue holds, so that a collector that is down, slow or broken costs the session
nothing but those spans; the end waits for it a bounded time. The standard `OTEL_*` variables
hold where the configuration says nothing: headers, compression, certificates, sampling, and
the attributes of the resource.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Thread
from typing import TYPE_CHECKING, Final

from pluggableharness.kernel.domain.errors import UsageError
from pluggableharness.kernel.telemetry.spans import Attribute, Span
from pluggableharness.version import __version__

if TYPE_CHECKING:
    from opentelemetry import trace
    from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, export

_FLUSH_S: Final = 2.0
"""How long the end of a kernel waits for the collector, in seconds."""

_PATH: Final = "/v1/traces"

_log = logging.getLogger("pluggableharness.telemetry")


def otlp_tracer(address: str) -> "OtlpTracer":
    """A tracer that sends to a collector; without a path it is the one that OTLP has.

    Raises UsageError when OpenTelemetry is not installed.
    """
    # Put off: whoever has configured no collector neither has these nor waits for them.
    try:
        from opentelemetry.context import Context
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import OTELResourceDetector, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.trace import StatusCode, set_span_in_context
    except ImportError as missing:
        raise UsageError(
            f"settings.telemetry is set, and OpenTelemetry is not installed ({missing}): "
            "install the extra `telemetry` of pluggableharness, or remove the setting"
        ) from None
    # Its complaints about a collector are counted here and told once, at the end.
    logging.getLogger("opentelemetry").addHandler(logging.NullHandler())
    endpoint = _endpoint(address)
    ours = Resource({"service.name": "pluggableharness", "service.version": __version__})
    resource = Resource.create(ours.merge(OTELResourceDetector().detect()).attributes)
    exporter = _Counting(OTLPSpanExporter(endpoint=endpoint))
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    processor = BatchSpanProcessor(exporter)  # type: ignore[arg-type]  # not of its class: it loads late
    provider.add_span_processor(processor)
    tracer = provider.get_tracer("pluggableharness", __version__)

    def begin(
        name: str, above: "trace.Span | None", attributes: Mapping[str, Attribute]
    ) -> "trace.Span":
        # Traces that an embedding program makes stay apart from ours.
        context = Context() if above is None else set_span_in_context(above, Context())
        return tracer.start_span(name, context, attributes=attributes)

    return OtlpTracer(endpoint, begin, StatusCode.ERROR, processor, exporter)


def _endpoint(address: str) -> str:
    scheme, separator, rest = address.rstrip("/").partition("://")
    return f"{scheme}{separator}{rest}" + ("" if "/" in rest else _PATH)


class _Counting:
    """An exporter that keeps count of what it has sent."""

    def __init__(self, exporter: "export.SpanExporter") -> None:
        self._exporter = exporter
        self.sent = 0

    def export(self, spans: "Sequence[ReadableSpan]") -> "export.SpanExportResult":
        result = self._exporter.export(spans)
        if result.name == "SUCCESS":
            self.sent += len(spans)
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 0) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class _OtlpSpan:
    span: "trace.Span"
    error: "trace.StatusCode"

    def note(self, attributes: Mapping[str, Attribute]) -> None:
        self.span.set_attributes(attributes)

    def fail(self, why: str) -> None:
        self.span.set_attribute("error.type", why)
        self.span.set_status(self.error)

    def end(self) -> None:
        self.span.end()


class OtlpTracer:
    """Implements Tracer. Made by `otlp_tracer`, which loads the library."""

    def __init__(
        self,
        endpoint: str,
        begin: "Callable[[str, trace.Span | None, Mapping[str, Attribute]], trace.Span]",
        error: "trace.StatusCode",
        processor: "SpanProcessor",
        exporter: _Counting,
    ) -> None:
        self._endpoint = endpoint
        self._begin = begin
        self._error = error
        self._processor = processor
        self._exporter = exporter
        self._sampled = 0

    def start(self, name: str, above: Span | None, attributes: Mapping[str, Attribute]) -> Span:
        """Begin a span below another one of this tracer, or a trace of its own."""
        span = self._begin(name, above.span if isinstance(above, _OtlpSpan) else None, attributes)
        self._sampled += span.is_recording()
        return _OtlpSpan(span, self._error)

    async def close(self) -> None:
        """Send what is left, wait for it at most _FLUSH_S, and say what was lost."""
        loop = asyncio.get_running_loop()
        sent = loop.create_future()

        def send() -> None:
            self._processor.shutdown()
            try:
                loop.call_soon_threadsafe(sent.set_result, None)
            except RuntimeError:
                pass  # The loop was closed meanwhile: nobody waits any more.

        # A daemon, so that a collector that never answers does not hold up the exit.
        Thread(target=send, name="telemetry-flush", daemon=True).start()
        await asyncio.wait([sent], timeout=_FLUSH_S)
        if not sent.done():
            self._exporter.shutdown()
        lost = self._sampled - self._exporter.sent
        if lost:
            _log.warning(
                "%d of %d spans did not reach the collector at %s",
                lost,
                self._sampled,
                self._endpoint,
            )
