# SPDX-License-Identifier: BSD-3-Clause
"""What happens to peers: codes, contexts, Status and Error."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, NamedTuple, Optional, Union

if TYPE_CHECKING:
    from .._core import PeerInfo as NativePeerInfo
    from .._core import Status as NativeStatus

_NOBODY = "00000000-0000-0000-0000-000000000000"


class _Code(enum.IntEnum):
    """Codes print as ``EC.PeerUnavailable`` in every version of Python."""

    def __str__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


class EC(_Code):
    """What went wrong; the numbers are those on the wire."""

    Unspecified = 1
    PeerIncompatible = 2
    PeerInvalid = 3
    PeerUnavailable = 4
    PeerDisconnectDuringHandshake = 5
    PeerTimeout = 6
    MasterExists = 7
    NoSuchMaster = 8
    NoSuchKey = 9
    RequestTimeOut = 10
    TypeClash = 11
    InvalidData = 12
    BackendFailure = 13
    StaleData = 14
    CannotOpenFile = 15
    CannotWriteFile = 16
    InvalidTopicKey = 17
    EndOfFile = 18
    InvalidTag = 19
    InvalidMessage = 20
    InvalidStatus = 21
    ConversionFailed = 22
    ConsumerExists = 23
    ConnectionTimeout = 24
    BadMemberFunctionCall = 25
    RepeatedRequestId = 26
    BrokenClone = 27
    ShuttingDown = 28
    InvalidPeeringRequest = 29
    RepeatedPeeringHandshakeRequest = 30
    UnexpectedHandshakeMessage = 31
    InvalidHandshakeState = 32
    NoPathToPeer = 33
    NoConnectorAvailable = 34
    CannotOpenResource = 35
    SerializationFailed = 36
    DeserializationFailed = 37
    WrongMagicNumber = 38
    RedundantConnection = 39
    LogicError = 40
    InvalidJson = 41


class SC(_Code):
    """What happened to a peer."""

    Unspecified = 0
    PeerAdded = 1
    PeerRemoved = 2
    PeerLost = 3
    EndpointDiscovered = 4
    EndpointUnreachable = 5


class PeerStatus(_Code):
    """How far a peering is."""

    Initialized = 0
    Connecting = 1
    Connected = 2
    Peered = 3
    Disconnected = 4
    Reconnecting = 5


class PeerFlags(enum.IntFlag):
    """Where a peer is; those of this library are all Remote."""

    Invalid = 0
    Local = 1
    Remote = 2
    Outbound = 4
    Inbound = 8


def _plain(name: str) -> str:
    """Names of codes without case and separators: request_timeout and RequestTimeOut are one."""
    return name.replace("_", "").lower()


_ERRORS = {_plain(code.name): code for code in EC}
_STATUSES = {_plain(code.name): code for code in SC}


class NetworkInfo:
    """Host and port of a peer; prints as ``host:port``."""

    __slots__ = ("address", "port")

    def __init__(self, address: str, port: int) -> None:
        self.address = address
        self.port = port

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NetworkInfo):
            return NotImplemented
        return (self.address, self.port) == (other.address, other.port)

    def __hash__(self) -> int:
        return hash((NetworkInfo, self.address, self.port))

    def __repr__(self) -> str:
        return f"{self.address}:{self.port}"


class OptionalNetworkInfo:
    """A NetworkInfo, or none: ask ``is_set()``, then ``get()``."""

    __slots__ = ("_info",)

    def __init__(self, info: Optional[NetworkInfo] = None) -> None:
        self._info = info

    def is_set(self) -> bool:
        return self._info is not None

    def get(self) -> NetworkInfo:
        """Raises ``ValueError`` if there is none."""
        if self._info is None:
            raise ValueError("the address of this peer is not known")
        return self._info

    def __repr__(self) -> str:
        return "nil" if self._info is None else repr(self._info)


class EndpointInfo:
    """Id and address of an endpoint. ``network`` is an OptionalNetworkInfo."""

    __slots__ = ("_id", "network")

    def __init__(self, node_id: Optional[str] = None, network: Optional[tuple[str, int]] = None) -> None:
        self._id = node_id or _NOBODY
        self.network = OptionalNetworkInfo(None if network is None else NetworkInfo(*network))

    def node_id(self) -> str:
        """A UUID; all zeros where it is not known (yet)."""
        return self._id

    def __repr__(self) -> str:
        return self._id


class PeerInfo(NamedTuple):
    """One peer, as ``Endpoint.peers`` lists them."""

    peer: EndpointInfo
    flags: PeerFlags
    status: PeerStatus


class Status:
    """A change of a peering. Two are equal if their codes are; also comparable with an SC."""

    __slots__ = ("_code", "_context", "_message")

    def __init__(self, code: SC = SC.Unspecified, context: Optional[EndpointInfo] = None,
                 message: str = "") -> None:
        self._code = code
        self._context = context
        self._message = message

    def code(self) -> SC:
        return self._code

    def context(self) -> Optional[EndpointInfo]:
        """The endpoint concerned; None for ``SC.Unspecified``."""
        return self._context

    def message(self) -> str:
        """A sentence for people."""
        return self._message

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Status):
            return self._code == other._code
        return self._code == other if isinstance(other, SC) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._code)

    def __repr__(self) -> str:
        """``peer_added(<id>, 127.0.0.1:9999, "handshake successful")``."""
        where = [] if self._context is None else [self._context.node_id()]
        if self._context is not None and self._context.network.is_set():
            where.append(repr(self._context.network))
        return f"{_wire_name(self._code)}({', '.join([*where, _quoted(self._message)])})"


class Error:
    """A failure that concerns a peer. Equal to another of the same code, to its EC and its number."""

    __slots__ = ("_code", "_context", "_message")

    def __init__(self, code: int = 0, context: Optional[EndpointInfo] = None, message: str = "") -> None:
        self._code = code
        self._context = context
        self._message = message

    def code(self) -> int:
        """The number of an EC; 0 for no error."""
        return int(self._code)

    def context(self) -> Optional[EndpointInfo]:
        """The endpoint concerned, if any."""
        return self._context

    def message(self) -> str:
        """A sentence for people."""
        return self._message

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Error):
            return self._code == other._code
        return self._code == other if isinstance(other, int) else NotImplemented

    def __hash__(self) -> int:
        return hash(int(self._code))

    def __repr__(self) -> str:
        """``peer_unavailable(endpoint_info(<id>, *127.0.0.1:9999), "connection refused")``."""
        if self._code == 0:
            return "none"
        parts = [] if self._context is None else [_described(self._context)]
        return f"{_wire_name(EC(self._code))}({', '.join([*parts, _quoted(self._message)])})"


def _wire_name(code: Union[EC, SC]) -> str:
    """``peer_added`` for ``SC.PeerAdded``."""
    if code is EC.RequestTimeOut:
        return "request_timeout"
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in code.name)[1:]


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _described(info: EndpointInfo) -> str:
    where = f"*{info.network!r}" if info.network.is_set() else "none"
    return f"endpoint_info({info.node_id()}, {where})"


def from_native(event: NativeStatus) -> Union[Status, Error]:
    """The library's event as Broker's, which tells only two errors: an unpeer of nobody, and a peer that is not
    available, with its address, without its id, and here with the cause in parentheses."""
    context = EndpointInfo(event.peer, event.network)
    if event.is_error and _ERRORS.get(_plain(event.code)) is EC.PeerInvalid:
        return Error(EC.PeerInvalid, context, event.message)
    if event.is_error:
        return Error(EC.PeerUnavailable, EndpointInfo(None, event.network),
                     f"unable to connect to remote peer ({event.message})")
    code = _STATUSES[_plain(event.code)]
    return Status(code, None if code is SC.Unspecified else context, event.message)


def peer_from_native(peer: NativePeerInfo) -> PeerInfo:
    """An established peer of the library as Broker's."""
    return PeerInfo(EndpointInfo(peer.id, peer.network), PeerFlags.Remote, PeerStatus.Peered)
