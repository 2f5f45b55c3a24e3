"""Says which queues of a node have dropped messages. Usage: python losses.py HOST:PORT"""

import sys

import libpubsub

with libpubsub.Endpoint() as endpoint:
    endpoint.peer(f"tcp://{sys.argv[1]}")
    status = endpoint.status_of(endpoint.peers()[0].id, timeout=10)

for kind in ("peers", "subscribers"):
    for each in status[kind]:
        who = each.get("address") or "a subscriber"
        lost = {name: number for name, number in each["counters"].items()
                if number and name.startswith(("dropped", "conflated", "missed"))}
        if lost:
            print(f"{who} of {', '.join(each['topics'])}:", lost)
