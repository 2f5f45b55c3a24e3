"""A node that listens, and whose subscriber does not read."""

import threading

import libpubsub

with libpubsub.Endpoint() as endpoint:
    subscriber = endpoint.make_subscriber("zeek/records/", capacity=1000, policy="drop_oldest")
    print("listening on", endpoint.listen("tcp://127.0.0.1:9999"))
    threading.Event().wait()
