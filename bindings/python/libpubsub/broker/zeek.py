# SPDX-License-Identifier: BSD-3-Clause
"""Zeek's events: Event and SafeEvent."""

from __future__ import annotations

from typing import Any, Callable, Iterable, Mapping, Optional, Union

from .convert import to_frozen_py, to_py
from .data import Data, DataType, Value
from .values import Count

Metadata = Union[Mapping[Any, Any], Iterable[tuple[Any, Any]]]


class MetadataType:
    """Keys of metadata."""

    NetworkTimestamp = Count(1)
    """The time of the event, a timestamp."""
    UserMetadataStart = Count(200)
    """The first key that Zeek leaves to others."""


_VERSION = Count(1)
_EVENT = Count(1)


class Event:
    """An event to publish, ``Event(name, *args, metadata=...)``, or one received, ``Event(data)``.

    ``args``: one value per parameter, anything Data takes; Zeek converts nothing, so a ``count`` must be a Count.
    ``metadata``: a mapping or pairs of keys (Count or ``int``) and values. What was received may be anything: ask
    ``valid()`` first; ``name``, ``args`` and ``metadata`` raise ``ValueError`` where it is no event.
    """

    _convert: Callable[[Any], Any] = staticmethod(to_py)

    def __init__(self, *args: Any, metadata: Optional[Metadata] = None) -> None:
        if not args:
            raise TypeError("an event has a name, or is made from received data")
        if len(args) == 1 and not isinstance(args[0], str):
            self._data: Value = Data(args[0])
            return
        content = [args[0], args[1:]]
        if metadata is not None:
            pairs = metadata.items() if isinstance(metadata, Mapping) else metadata
            content.append([(key if isinstance(key, Count) else Count(key), value) for key, value in pairs])
        self._data = Data((_VERSION, _EVENT, content))

    def as_data(self) -> Value:
        """The event as the vector that travels."""
        return self._data

    def to_data(self) -> Any:
        return self._data.to_data()

    def valid(self) -> bool:
        """Whether version, type, name, arguments and metadata have the form that Zeek accepts."""
        content = self._content()
        if (len(content) < 2 or content[0].get_type() is not DataType.String
                or content[1].get_type() is not DataType.Vector):
            return False
        if len(content) == 2:
            return True
        return content[2].get_type() is DataType.Vector and all(map(_is_metadata, content[2].as_vector()))

    def name(self) -> str:
        return str(self._part(0))

    def args(self) -> list[Any]:
        """The arguments. Raises ``TypeError`` for one with, say, a set of tables: see SafeEvent."""
        return [self._convert(member) for member in self._part(1).as_vector()]

    def metadata(self) -> Optional[list[tuple[Count, Any]]]:
        """``(key, value)`` pairs; None if there are none."""
        self._part(0)
        content = self._content()
        if len(content) == 2 or not content[2].as_vector():
            return None
        return [to_py(pair) for pair in content[2].as_vector()]

    def _content(self) -> list[Value]:
        """Name, arguments and possibly metadata; empty where this is no event."""
        outer = _members(self._data)
        if len(outer) < 3 or outer[0] != Data(_VERSION) or outer[1] != Data(_EVENT):
            return []
        return _members(outer[2])

    def _part(self, index: int) -> Value:
        if not self.valid():
            raise ValueError(f"invalid Event data: {str(self._data):.200}")
        return self._content()[index]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._data}>"


class SafeEvent(Event):
    """An Event whose arguments are immutable and hashable, as ``ImmutableData.to_py`` gives them."""

    _convert = staticmethod(to_frozen_py)


def _members(x: Value) -> list[Value]:
    return x.as_vector() if x.get_type() is DataType.Vector else []


def _is_metadata(x: Value) -> bool:
    """A pair of a count and any value; the network time must be a timestamp."""
    pair = _members(x)
    if len(pair) != 2 or pair[0].get_type() is not DataType.Count:
        return False
    return pair[0] != Data(MetadataType.NetworkTimestamp) or pair[1].get_type() is DataType.Timestamp
