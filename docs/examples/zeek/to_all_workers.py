"""Asks all workers of a Zeek cluster to watch an address: to_all_workers.py URI ADDRESS"""

import sys

from libpubsub import zeek

uri, address = sys.argv[1:]
with zeek.connect(uri) as cluster:
    cluster.declare("global Site::watch: event(host: addr, how_long: interval);")
    if not cluster.wait_for("zeek/cluster/worker", timeout=10):
        sys.exit("no worker is there")
    cluster.publish("zeek/cluster/worker", "Site::watch", address, 3600)
