# SPDX-License-Identifier: BSD-3-Clause
"""``python -m libpubsub.bench``: rounds, in each of which every library is measured once."""

from __future__ import annotations

import argparse
import sys
from typing import NoReturn, Optional, Sequence

from .libraries import LIBRARIES
from .report import Samples, make_results, print_table, write_json
from .run import CASES, FIGURES, Limits, measure

_USAGE, _LOSS = 1, 3
_EPILOG = """\
figures: publish, batches of bytes over TCP to a subscriber with room for all; iterate, reading them once they have
arrived; records, reading and decoding records of 20 fields to native objects; stream, all of it at the same time, every
message checked. "ours / it" is the median of the rounds' ratios.
Exit status: 0 ok, 1 usage, 3 messages were lost or a measurement of ours failed."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(_USAGE, f"{self.prog}: {message}\n")


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError(text)
    return value


def _parse(arguments: Optional[Sequence[str]]) -> argparse.Namespace:
    parser = _Parser(prog="python -m libpubsub.bench", description="Speed of this package beside other libraries.",
                     epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=_positive, default=5, help="measurements of each library (default: 5)")
    parser.add_argument("--duration", type=float, default=1.0, metavar="S", help="seconds to publish, at most (default: 1)")
    parser.add_argument("--messages", type=_positive, default=500_000, metavar="N",
                        help="messages to publish, at most (default: 500000); of records a fifth")
    parser.add_argument("--payload", type=int, default=100, metavar="BYTES", help="bytes of a small message (default: 100)")
    parser.add_argument("--figures", default=",".join(FIGURES), metavar="LIST", help="which to measure (default: all)")
    parser.add_argument("--only", metavar="LIST", help="libraries beside libpubsub to measure (default: all; '': none)")
    parser.add_argument("--short", action="store_true", help="one round of 20,000 messages: does it work?")
    parser.add_argument("--json", metavar="FILE", help="also write all figures to FILE")
    options = parser.parse_args(arguments)
    options.figures = options.figures.split(",")
    names = [library.name for library in LIBRARIES]
    options.only = names if options.only is None else [name for name in options.only.split(",") if name]
    if options.short:
        options.rounds, options.messages = 1, min(options.messages, 20_000)
    for name in [*options.figures, *options.only]:
        if name not in FIGURES and name not in names:
            parser.error(f"there is no figure or library {name!r}")
    if options.payload < 8 or not options.duration > 0:
        parser.error("a payload has 8 bytes or more, and a duration is more than 0")
    return options


def _run_rounds(options: argparse.Namespace) -> Samples:
    chosen = [x for x in LIBRARIES if x is LIBRARIES[0] or x.name in options.only]
    samples: Samples = {library.name: [] for library in chosen}
    for round_number in range(1, options.rounds + 1):
        for case in CASES:
            limits = Limits(options.duration, max(1, options.messages // (5 if case.records else 1)), options.payload)
            for library in chosen:
                if not library.missing() and {*case.figures} & {*library.figures} & {*options.figures}:
                    sample = measure(library, case, limits)
                    samples[library.name].append(sample)
                    if sys.stderr.isatty():
                        print(f"round {round_number}: {library.name}: {sample}", file=sys.stderr)
    return samples


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Measures, prints the table and returns the exit status."""
    options = _parse(arguments)
    try:
        samples = _run_rounds(options)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return _USAGE
    results = [x for x in make_results(samples) if x["figure"] in options.figures]
    print_table(results)
    if options.json:
        try:
            write_json(options.json, {key: value for key, value in vars(options).items() if key != "json"}, results)
        except OSError as failure:
            print(f"{options.json}: {failure.strerror}", file=sys.stderr)
            return _USAGE
    ours = [x for x in results if x["who"] == LIBRARIES[0].name]
    return 0 if all(x["status"] == "measured" and not x["dropped"] + x["reordered"] for x in ours) else _LOSS


if __name__ == "__main__":
    sys.exit(main())
