# SPDX-License-Identifier: BSD-3-Clause
"""The exceptions of libpubsub: one root, :class:`PubsubError`, and one class for each thing to handle.

Every instance carries ``code``, the library's name of the failure (``"peer_unavailable"``); the
message is a sentence that names the address, file or byte it is about. Where Python has a built-in
exception for the same thing, ours derives from it too, so ``except ConnectionError`` works.
"""

from __future__ import annotations

from concurrent.futures import CancelledError
from typing import Optional

_LONGEST_TEXT = 10_000  # characters of an exception


class PubsubError(Exception):
    """Root of all exceptions of this package."""

    code: str = "unspecified"

    def __init__(self, message: str = "", code: Optional[str] = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code


class InvalidArgument(PubsubError, ValueError):
    """A URI, option, topic or time-out that cannot be used."""

    code = "invalid_argument"


class PeerError(PubsubError, ConnectionError):
    """A peering failed, or the peer broke the protocol."""


class PeerUnavailable(PeerError):
    """The peer could not be reached, or the handshake was not finished in time."""

    code = "peer_unavailable"


class TlsFailed(PeerUnavailable):
    """Only one side uses TLS, or one does not accept the other's certificate."""

    code = "tls_failed"


class PeerIncompatible(PeerError):
    """The peer speaks no protocol version that this library speaks."""

    code = "peer_incompatible"


class NotAPeer(PeerError):
    """``unpeer`` of an address or id that is not a peer."""

    code = "peer_invalid"


class ListenError(PubsubError, OSError):
    """The address cannot be listened on, for instance because another process does."""

    code = "cannot_listen"


class Timeout(PubsubError, TimeoutError):
    """An operation did not finish before its deadline."""

    code = "request_timeout"


class Closed(PubsubError):
    """The endpoint or subscriber is closed and nothing is left to read."""

    code = "shutting_down"


class DecodeError(PubsubError, ValueError):
    """Bytes or text are not a valid value, or have no faithful form in Python."""

    code = "invalid_data"


class EncodeError(PubsubError, ValueError):
    """A Python value of a supported type that the data model cannot hold."""

    code = "serialization_failed"


class EncodeTypeError(EncodeError, TypeError):
    """A Python value whose type has no counterpart in the data model."""

    code = "type_clash"


class LimitExceeded(PubsubError, ValueError):
    """A size, depth or count beyond a limit."""

    code = "limit_exceeded"


class FileError(PubsubError, OSError):
    """A file cannot be opened for reading or writing."""

    code = "cannot_open_file"


class NotSupported(PubsubError, NotImplementedError):
    """This build of the library cannot do that."""

    code = "not_supported"


class ForkError(PubsubError, RuntimeError):
    """The object was made before ``os.fork()`` and belongs to the parent process."""

    code = "logic_error"


class TaskError(PubsubError, RuntimeError):
    """A task of a pipeline failed: the function of ``stage`` raised an exception of the class ``type`` that says ``text``.

    ``type`` is ``"WorkerLost"`` for one that was lost with too many worker processes.
    """

    code = "task_failed"

    def __init__(self, stage: str, type: str, text: str) -> None:
        super().__init__(f"stage {stage!r}: {type}: {text}")
        self.stage = stage
        self.type = type
        self.text = text

    def __reduce__(self) -> tuple[type[TaskError], tuple[str, str, str]]:
        return TaskError, (self.stage, self.type, self.text)


class StageError(PubsubError, RuntimeError):
    """A stage of a pipeline cannot start, or its processes end again and again."""

    code = "stage_failed"


class NoSuchService(PubsubError, ConnectionError):
    """Nobody within reach serves this name: it is wrong, or nobody has started, or a link is missing."""

    code = "no_such_service"


class ServiceLost(PubsubError, ConnectionError):
    """The instance of a service that was asked is gone: it may have done the operation or not."""

    code = "service_lost"


class NoSuchOperation(PubsubError, LookupError):
    """The service has no operation of this name."""

    code = "no_such_operation"


class Cancelled(PubsubError, CancelledError):
    """The call was given up by whoever had asked for it; it may have been done."""

    code = "cancelled"


class OperationFailed(PubsubError, RuntimeError):
    """The function of a remote operation raised an exception of the class ``type`` that says ``text``.

    In the names of its own language: ``"ValueError"``, ``"std::out_of_range"``.
    """

    code = "operation_failed"

    def __init__(self, type: str, text: str) -> None:
        super().__init__(f"{type}: {text}" if type else text)
        self.type = type
        self.text = text

    def __reduce__(self) -> tuple[type[OperationFailed], tuple[str, str]]:
        return OperationFailed, (self.type, self.text)


def type_and_text(failure: BaseException) -> tuple[str, str]:
    """Of an exception, for another process; the text may be cut."""
    try:
        text = str(failure)
    except Exception:  # it is somebody else's class
        text = "(its text cannot be had)"
    return type(failure).__name__, text[:_LONGEST_TEXT].encode(errors="replace").decode()


_BY_CODE: dict[str, type[PubsubError]] = {
    "invalid_argument": InvalidArgument,
    "peer_unavailable": PeerUnavailable,
    "peer_disconnect_during_handshake": PeerUnavailable,
    "peer_timeout": PeerUnavailable,
    "tls_failed": TlsFailed,
    "peer_incompatible": PeerIncompatible,
    "wrong_magic_number": PeerIncompatible,
    "peer_invalid": NotAPeer,
    "no_path_to_peer": PeerError,
    "redundant_connection": PeerError,
    "unexpected_handshake_message": PeerError,
    "invalid_handshake_state": PeerError,
    "logic_error": PeerError,
    "denied": PeerError,
    "unspecified": PeerError,
    "invalid_message": PeerError,
    "address_in_use": ListenError,
    "cannot_listen": ListenError,
    "request_timeout": Timeout,
    "shutting_down": Closed,
    "type_clash": DecodeError,
    "invalid_data": DecodeError,
    "end_of_file": DecodeError,
    "invalid_tag": DecodeError,
    "duplicate_key": DecodeError,
    "invalid_json": DecodeError,
    "conversion_failed": DecodeError,
    "deserialization_failed": DecodeError,
    "serialization_failed": EncodeError,
    "limit_exceeded": LimitExceeded,
    "cannot_open_file": FileError,
    "cannot_write_file": FileError,
    "not_supported": NotSupported,
    "no_such_service": NoSuchService,
    "no_such_operation": NoSuchOperation,
    "service_lost": ServiceLost,
    "cancelled": Cancelled,
}


def from_code(code: str, message: str) -> PubsubError:
    """The exception for the library's error ``code`` (an unknown one gives the root class)."""
    if code == OperationFailed.code:
        kind, found, text = message.partition(f"{code}: ")[2].partition(": ")
        return OperationFailed(kind, text) if found else OperationFailed("", kind or message)
    return _BY_CODE.get(code, PubsubError)(message, code)
