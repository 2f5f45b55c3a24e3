# SPDX-License-Identifier: BSD-3-Clause
"""libpubsub: publish/subscribe and relay for network-monitoring data.

>>> import libpubsub
>>> with libpubsub.Endpoint() as endpoint:
...     subscriber = endpoint.make_subscriber("/topic")
...     endpoint.publish("/topic/test", [1, "two", 3.0])
...     topic, data = subscriber.get()
PublishResult.TAKEN

Data are Python's own types where those are exact; see ``docs/python.md`` for the table. Time-outs are
seconds. All exceptions derive from PubsubError.
"""

from . import zeek
from ._core import (EndpointCounters, GatewayInfo, LinkCounters, Message, NetworkEvent, NodeInfo, PeerInfo, Publisher,
                    PublisherCounters, Status, SubscriberCounters, TraceHop, decode, encode, from_json, to_json)
from ._core import version as __version__
from .access import AccessRule, read_access_rules
from .arrow import record_batches, to_arrow
from .conditions import (EVENT, SIZE, TOPIC, VALUE, Condition, Expression, Field, Pattern, between, field, position,
                         prefix, regex, topic_part)
from .endpoint import Endpoint
from .errors import (Cancelled, Closed, DecodeError, EncodeError, EncodeTypeError, FileError, ForkError,
                     InvalidArgument, LimitExceeded, ListenError, NoSuchOperation, NoSuchService, NotAPeer,
                     NotSupported, OperationFailed, PeerError, PeerIncompatible, PeerUnavailable, PubsubError,
                     ServiceLost, StageError, TaskError, Timeout, TlsFailed)
from .pipelines import (Exchange, Pipeline, Progress, Sink, Task, TaskQueue, Ventilator, Worker, pipeline,
                        stage)
from .remote import Remote, RemoteConditions, RemoteFuture, RemotePlan, Service, as_completed
from .stream import Stream
from .subscriber import NetworkSubscriber, StatusSubscriber, Subscriber
from .times import Timespan, Timestamp
from .values import Count, EnumValue, Port, PublishResult, Subnet, Table
from .versioned import Completion, MessageVersion, Replica, VersionedGroup, VersionedMessage

__all__ = [
    "AccessRule", "Cancelled", "Closed", "Completion", "Condition", "Count", "DecodeError", "EncodeError", "EncodeTypeError",
    "Endpoint", "EndpointCounters", "EVENT", "EnumValue", "Exchange", "Expression", "Field", "FileError", "ForkError", "GatewayInfo",
    "InvalidArgument", "LimitExceeded", "LinkCounters", "ListenError", "Message", "MessageVersion",
    "NetworkEvent", "NetworkSubscriber", "NoSuchOperation", "NoSuchService", "NodeInfo", "NotAPeer", "NotSupported", "OperationFailed", "Pattern",
    "PeerError", "PeerIncompatible", "PeerInfo", "PeerUnavailable", "Pipeline", "Port", "Progress",
    "PublishResult", "Publisher", "PublisherCounters", "PubsubError", "Remote", "RemoteConditions",
    "RemoteFuture", "RemotePlan", "Replica", "SIZE", "Service", "ServiceLost", "Sink", "StageError",
    "Status", "StatusSubscriber", "Stream", "Subnet", "Subscriber", "SubscriberCounters", "TOPIC", "Table",
    "Task", "TaskError", "TaskQueue", "Timeout", "Timespan", "Timestamp", "TlsFailed", "TraceHop", "VALUE", "Ventilator",
    "VersionedGroup", "VersionedMessage", "Worker", "__version__", "as_completed", "between", "decode",
    "encode", "field", "from_json", "pipeline", "position", "prefix", "read_access_rules", "record_batches", "regex", "stage",
    "to_arrow", "to_json", "topic_part", "zeek",
]
