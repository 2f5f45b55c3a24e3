"""Publishes an event from within a span. Usage: python sensor.py HOST:PORT"""

import sys

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

import libpubsub
from libpubsub.zeek import Event

tracer = TracerProvider().get_tracer("sensor")
with libpubsub.Endpoint() as endpoint:
    endpoint.peer(f"tcp://{sys.argv[1]}")
    endpoint.wait_for_subscribers("zeek/events/scan", n=1, timeout=30)
    with tracer.start_as_current_span("scan seen") as span:
        carrier = {}
        TraceContextTextMapPropagator().inject(carrier)  # traceparent, and tracestate where there is one
        endpoint.publish("zeek/events/scan", Event("Scan::seen", "10.0.0.7", **carrier))
    print(f"trace {span.context.trace_id:032x}, span {span.context.span_id:016x}")
