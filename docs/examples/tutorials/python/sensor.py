"""Publishes three alerts over the relay."""

from ipaddress import ip_address

import libpubsub
from libpubsub import Count

with libpubsub.Endpoint() as endpoint:
    endpoint.peer("tcp://127.0.0.1:9999")
    endpoint.wait_for_subscribers("/alerts/", n=1, timeout=30)
    endpoint.publish("/alerts/scan", ("port scan", ip_address("10.0.0.7"), Count(1024)))
    endpoint.publish("/alerts/scan", ("port scan", ip_address("2001:db8::7"), Count(3)))
    endpoint.publish("/alerts/end", ("goodbye", ip_address("127.0.0.1"), Count(0)))
