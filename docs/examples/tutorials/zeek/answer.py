"""Answers events of Zeek's with an event for Zeek."""

import libpubsub
from libpubsub import zeek

with libpubsub.Endpoint() as endpoint:
    subscriber = endpoint.make_subscriber("zeek/events/")
    endpoint.peer("tcp://127.0.0.1:9999")
    for message in subscriber:
        event = zeek.Event.parse(message.data)
        if event is None:
            continue  # some other value on this topic
        print(event.name, *event.args)
        if event.name == "scan_detected":
            endpoint.publish("zeek/control/block", zeek.Event("block_host", event.args[0]))
            break
