"""Answers the first event on my/questions."""

import libpubsub
from libpubsub import zeek

with libpubsub.Endpoint() as endpoint:
    endpoint.peer("tcp://127.0.0.1:9999")
    for message in endpoint.make_subscriber("my/questions"):
        event = zeek.Event.from_data(message.data)
        print(event.name, *event.args)
        zeek.publish_event(endpoint, "my/answers", "My::hello_back", *event.args)
        endpoint.flush(10)
        break
