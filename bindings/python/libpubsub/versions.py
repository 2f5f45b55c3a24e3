# SPDX-License-Identifier: BSD-3-Clause
"""What versioned delivery hands out besides messages: MessageVersion and Completion."""

from __future__ import annotations

from typing import NamedTuple, Optional

from .errors import PubsubError


class MessageVersion(NamedTuple):
    """Which message this is for all replicas of a group. Compares by epoch, then number.

    Numbers begin with 1 and are contiguous over all epochs; the epoch grows when another replica becomes the sequencer.
    """

    epoch: int
    number: int

    def __str__(self) -> str:
        return f"{self.epoch}.{self.number}"


class Completion(NamedTuple):
    """What became of a message that was posted: all replicas hold it as ``version``, or why that is not certain."""

    number: int
    """Its number at the client, as ``VersionedGroup.post`` has returned it."""
    version: Optional[MessageVersion]
    """None with scheme ``none``, and where there is an error."""
    error: Optional[PubsubError]
    """What ``VersionedGroup.send`` would have raised."""
