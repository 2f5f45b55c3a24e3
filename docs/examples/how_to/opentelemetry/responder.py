"""Handles events in spans whose parents are spans of their publishers. Usage: python responder.py HOST:PORT"""

import sys

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

import libpubsub
from libpubsub.zeek import Event

tracer = TracerProvider().get_tracer("responder")
with libpubsub.Endpoint() as endpoint:
    endpoint.peer(f"tcp://{sys.argv[1]}")
    with endpoint.make_subscriber("zeek/events/") as subscriber:
        print("waiting", flush=True)
        for message in subscriber:
            event = Event.from_data(message.data)
            carrier = {"traceparent": event.traceparent, "tracestate": event.tracestate}
            context = TraceContextTextMapPropagator().extract(carrier)
            with tracer.start_as_current_span(event.name, context) as span:
                print(event.name, *event.args, f"in trace {span.context.trace_id:032x}, parent {span.parent.span_id:016x}", flush=True)
