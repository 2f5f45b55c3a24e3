"""Two endpoints that meet through a relay: one publishes a record, the other reads it."""

from ipaddress import ip_address

import libpubsub
from libpubsub import Count, Port, Timestamp

with libpubsub.Endpoint() as relay, libpubsub.Endpoint() as monitor, libpubsub.Endpoint() as reader:
    port = relay.listen("tcp://127.0.0.1:0")
    reader.peer(f"tcp://127.0.0.1:{port}")
    monitor.peer(f"tcp://127.0.0.1:{port}")

    subscriber = reader.make_subscriber("zeek/")
    monitor.wait_for_subscribers("zeek/conn")  # ready means ready: nothing is published to nobody
    monitor.publish("zeek/conn", [Timestamp.now(), ip_address("192.0.2.1"), Port(443, "tcp"), Count(1500)])

    topic, data = subscriber.get(timeout=10)
    print(topic, data)
