"""Two endpoints with one peering: what one publishes, the other receives."""
from ipaddress import ip_address

import libpubsub

with libpubsub.Endpoint() as collector, libpubsub.Endpoint() as sensor:
    alerts = collector.make_subscriber("/alerts")  # every topic that starts with /alerts
    port = collector.listen("127.0.0.1:0")         # port 0: the system picks a free one
    sensor.peer(f"127.0.0.1:{port}")

    sensor.wait_for_subscribers("/alerts/scan", timeout=5)  # ready means ready: no sleep, nothing lost
    sensor.publish("/alerts/scan", ["port scan", ip_address("10.0.0.7"), libpubsub.Count(1024)])

    topic, (what, source, ports) = alerts.get(timeout=5)
    print(f"{what} from {source}")
