"""Prints the records of a cluster's logs as they come: follow_logs.py URI [PATH]..."""

import sys

from libpubsub import zeek

uri, *paths = sys.argv[1:]
with zeek.connect(uri) as cluster:
    for path, record in cluster.records(*paths):
        print(path, record, flush=True)
