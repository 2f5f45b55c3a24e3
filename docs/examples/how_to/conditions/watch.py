"""Prints connections to one port that moved some data. Usage: python watch.py HOST:PORT"""

import sys
from ipaddress import ip_network

import libpubsub
from libpubsub import Port, field

WANTED = ((field("id.resp_p") == Port(443, "tcp"))
          & (field("orig_bytes") > 1000)
          & field("id.orig_h").is_in(ip_network("10.0.0.0/8")))

with libpubsub.Endpoint() as endpoint:
    subscriber = endpoint.make_subscriber("zeek/records/conn", where=WANTED)
    endpoint.peer(f"tcp://{sys.argv[1]}")
    for path, record in libpubsub.zeek.RecordReader(subscriber):
        print(path, record["id.orig_h"], record["orig_bytes"])
