# SPDX-License-Identifier: BSD-3-Clause
"""What a stage of a pipeline is, how its parts find one another, and what travels between them."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any, Callable, Optional, Sequence, Union

from ..errors import InvalidArgument, TaskError, type_and_text

Function = Callable[[Any], Any]


@dataclasses.dataclass(frozen=True)
class Stage:
    """One step of a pipeline: ``workers`` processes that call ``function`` in ``concurrency`` threads each."""

    function: Function
    workers: int = 1
    concurrency: int = 1
    name: str = ""


def stage(function: Function, workers: int = 1, concurrency: int = 1, name: Optional[str] = None) -> Stage:
    """One step of a pipeline: ``workers`` processes call ``function(value)``, in ``concurrency`` threads each.

    ``function`` must be importable by another process: of the top level of a module. What it takes and returns are
    values of the data model. ``workers`` may be 0 where workers on other hosts join. ``name`` is for messages, by
    default that of the function. Raises InvalidArgument.
    """
    if not callable(function):
        raise InvalidArgument(f"a stage is made of a function, not of {function!r}")
    name = name or str(getattr(function, "__name__", type(function).__name__))
    if workers < 0:
        raise InvalidArgument(f"stage {name!r} has {workers} workers: 0 or more are possible")
    if concurrency < 1:
        raise InvalidArgument(f"stage {name!r} has concurrency {concurrency}: 1 or more is possible")
    return Stage(function, workers, concurrency, name)


def checked_stages(stages: Sequence[Union[Stage, Function]], may_be_remote: bool) -> list[Stage]:
    """All as Stage, with different names. Raises InvalidArgument."""
    result: list[Stage] = []
    for each in stages:
        one = each if isinstance(each, Stage) else stage(each)
        if one.workers == 0 and not may_be_remote:
            raise InvalidArgument(f"stage {one.name!r} has no workers, and nobody can join: give the pipeline listen=")
        namesakes = sum(1 for other in result if other.name.split("#")[0] == one.name)
        result.append(dataclasses.replace(one, name=f"{one.name}#{namesakes + 1}") if namesakes else one)
    if not result:
        raise InvalidArgument("a pipeline has at least one stage")
    return result


def pickled(which: Stage) -> bytes:
    """Its function, as another process can load it. Raises InvalidArgument."""
    try:
        return pickle.dumps(which.function)
    except Exception as failure:  # pickle raises about anything
        raise InvalidArgument(
            f"stage {which.name!r}: another process cannot import {which.function!r} ({failure}); define it with `def` "
            "at the top level of a module") from None


def link_name(pipeline: str, place: int) -> str:
    """The name that tasks for the stage at ``place`` travel by; that behind the last leads to the sink."""
    return f"{pipeline}/{place}"


def dead_letters_name(pipeline: str, place: int) -> str:
    """Where tasks go that too many workers of the stage at ``place`` were lost with."""
    return f"{link_name(pipeline, place)}/dead"


# What travels is a tuple: of one, the value; or of three, what became of a task that failed.


def wrap(value: object) -> tuple[object]:
    return (value,)


def wrap_failure(name: str, failure: BaseException) -> tuple[str, str, str]:
    """Stage, type and text of an exception; the text may be cut."""
    return (name, *type_and_text(failure))


def failed(envelope: tuple[Any, ...]) -> bool:
    return len(envelope) == 3


def unwrap(envelope: object) -> tuple[Any, Optional[TaskError]]:
    """The value, or why there is none; whatever comes."""
    if isinstance(envelope, tuple) and len(envelope) == 1:
        return envelope[0], None
    if isinstance(envelope, tuple) and len(envelope) == 3:
        return None, TaskError(*map(str, envelope))
    return None, TaskError("", "DecodeError", "what came back is no result of a stage: use `join` to take part")
