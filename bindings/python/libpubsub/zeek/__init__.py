# SPDX-License-Identifier: BSD-3-Clause
"""Zeek: membership of its clusters, events, logs and batches as it sends them, and log records.

>>> from libpubsub import zeek
>>> with zeek.connect("zeek+zmq://manager.example") as cluster:  # doctest: +SKIP
...     cluster.declare("global Site::block: event(a: addr, for_how_long: interval);")
...     cluster.publish("zeek/cluster/manager", "Site::block", "192.0.2.1", 300)
...     for event in cluster.events("site/alarms"):
...         print(event.topic, event.name, event.args)
"""

from .cluster import Cluster, Events, Records, connect
from .declarations import Declarations
from .messages import (RECORD_TOPIC, Event, Field, IdentifierUpdate, LogCreate, LogReader, LogWrite, Record, RecordReader,
                       ZeekMessage, parse_messages, publish_event)

__all__ = ["RECORD_TOPIC", "Cluster", "Declarations", "Event", "Events", "Field", "IdentifierUpdate", "LogCreate", "LogReader",
           "LogWrite", "Record", "RecordReader", "Records", "ZeekMessage", "connect", "parse_messages", "publish_event"]
