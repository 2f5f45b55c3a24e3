"""Asks the workers of a Zeek cluster, and shows what the first of them answers."""

import libpubsub
from libpubsub import Count, zeek

with libpubsub.Endpoint() as endpoint:
    endpoint.peer("tcp://127.0.0.1:9999")
    answers = endpoint.make_subscriber("my/answers")
    if not endpoint.wait_for_subscribers("zeek/cluster/worker", 1, timeout=10):
        raise SystemExit("no cluster")
    zeek.publish_event(endpoint, "zeek/cluster/worker", "My::question", Count(42))
    for message in answers:
        event = zeek.Event.from_data(message.data)
        print(event.name, *event.args)
        break
