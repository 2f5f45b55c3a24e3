# SPDX-License-Identifier: BSD-3-Clause
"""The commands `pubsub` and `pubsub-bench`: programs beside this file, started by the entry points of the package.

They are in here, not in the environment's folder of scripts, because the libraries that a wheel carries are
found from where a program lies: that is fixed within the package, and not from a folder of scripts.
"""

import os
import signal
import sys
from typing import NoReturn

__all__ = ["pubsub", "pubsub_bench"]


def pubsub() -> NoReturn:
    """Becomes the program `pubsub`, with the arguments of this process."""
    _become("pubsub")


def pubsub_bench() -> NoReturn:
    """Becomes the program `pubsub-bench`, with the arguments of this process."""
    _become("pubsub-bench")


def _become(name: str) -> NoReturn:
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    os.environ.setdefault("PUBSUB_PYTHON", sys.executable)  # for what is written by this package
    # Python ignores these; a program that is started would inherit that, and not end with the pipe it writes to.
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored, signal.SIG_DFL)
    try:
        os.execv(program, [name, *sys.argv[1:]])
    except FileNotFoundError:
        sys.exit(f"{name}: this libpubsub was built without its commands, because CLI11 or fmt was missing "
                 "(Debian: libcli11-dev libfmt-dev).")
    except OSError as failure:
        sys.exit(f"{name}: {program} cannot be started: {failure.strerror}.")
