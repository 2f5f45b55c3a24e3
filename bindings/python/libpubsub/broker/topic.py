# SPDX-License-Identifier: BSD-3-Clause
"""Topics and their concatenation."""

from __future__ import annotations

from typing import Any, Iterable, Union


class Topic:
    """The name of a subject; components are joined with ``/``. Immutable; equal if the names are."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"a topic is a str, not {type(name).__name__}")
        self._name = name

    def string(self) -> str:
        return self._name

    def __truediv__(self, other: Union[Topic, str]) -> Topic:
        """Joins with one ``/`` unless the right side begins with one; drops one at the end."""
        if not isinstance(other, (Topic, str)):
            return NotImplemented
        right = str(other)
        separator = "/" if self._name and right and right[0] != "/" else ""
        joined = self._name + separator + right
        return Topic(joined[:-1] if joined.endswith("/") else joined)

    def __eq__(self, other: object) -> bool:
        return self._name == other._name if isinstance(other, Topic) else NotImplemented

    def __hash__(self) -> int:
        return hash((Topic, self._name))

    def __str__(self) -> str:
        return self._name

    __repr__ = __str__


def topic_name(topic: Union[Topic, str]) -> str:
    """The name of a topic given as Topic or ``str``; raises ``TypeError`` for anything else."""
    return topic if isinstance(topic, str) else _checked(topic).string()


def topic_names(topics: Union[Topic, str, Iterable[Union[Topic, str]]]) -> list[str]:
    """The names of one topic or several."""
    several = [topics] if isinstance(topics, (Topic, str)) else topics
    return [topic_name(each) for each in several]


def _checked(topic: Any) -> Topic:
    return topic if isinstance(topic, Topic) else Topic(topic)
