"""Collects logs of a Zeek cluster, a JSON object a line: logs_to_json.py URI [PATH]..."""

import json
import sys
from datetime import datetime, timedelta

from libpubsub import zeek


def plain(value):
    """What JSON has no type for."""
    if isinstance(value, datetime):
        return value.timestamp()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    return str(value)


uri, *paths = sys.argv[1:]
with zeek.connect(uri) as cluster:
    for path, record in cluster.records(*paths):
        print(json.dumps({"_path": path, **record}, default=plain), flush=True)
