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
from ._core import (EndpointCounters, LinkCounters, Message, NodeInfo, PeerInfo, Publisher,
                    PublisherCounters, Status, SubscriberCounters, decode, encode, from_json, to_json)
from ._core import version as __version__
from .endpoint import Endpoint
from .errors import (Closed, DecodeError, EncodeError, EncodeTypeError, FileError, ForkError,
                     InvalidArgument, LimitExceeded, ListenError, NotAPeer, NotSupported, PeerError,
                     PeerIncompatible, PeerUnavailable, PubsubError, StageError, TaskError, Timeout, TlsFailed)
from .pipelines import (Exchange, Pipeline, Progress, Sink, Task, TaskQueue, Ventilator, Worker, pipeline,
                        stage)
from .stream import Stream
from .subscriber import StatusSubscriber, Subscriber
from .times import Timespan, Timestamp
from .values import Count, EnumValue, Port, PublishResult, Subnet, Table
from .versioned import Completion, MessageVersion, Replica, VersionedGroup, VersionedMessage

__all__ = [
    "Closed", "Completion", "Count", "DecodeError", "EncodeError", "EncodeTypeError", "Endpoint",
    "EndpointCounters", "EnumValue", "Exchange", "FileError", "ForkError", "InvalidArgument",
    "LimitExceeded", "LinkCounters", "ListenError", "Message", "MessageVersion", "NodeInfo", "NotAPeer",
    "NotSupported", "PeerError", "PeerIncompatible", "PeerInfo", "PeerUnavailable", "Pipeline", "Port",
    "Progress", "PublishResult", "Publisher", "PublisherCounters", "PubsubError", "Replica", "Sink",
    "StageError", "Status", "StatusSubscriber", "Stream", "Subnet", "Subscriber", "SubscriberCounters",
    "Table", "Task", "TaskError", "TaskQueue", "Timeout", "Timespan", "Timestamp", "TlsFailed",
    "Ventilator", "VersionedGroup", "VersionedMessage", "Worker", "__version__", "decode", "encode",
    "from_json", "pipeline", "stage", "to_json", "zeek",
]
