# SPDX-License-Identifier: BSD-3-Clause
"""Results as a table and as a file; members and form are those of ``pubsub bench``."""

from __future__ import annotations

import json
import os
import platform
import statistics
from typing import Any

from .. import __version__
from .libraries import LIBRARIES, Library
from .run import FIGURES

Samples = dict[str, list[dict[str, Any]]]
"""By name of the library, a sample for each round and case, in order; see ``Run.results``."""

_OURS = LIBRARIES[0].name


def _rates(samples: list[dict[str, Any]], figure: str) -> list[float]:
    return [x["rates"][figure] for x in samples if figure in x.get("rates", ())]


def _ratio(samples: Samples, name: str, figure: str) -> float | None:
    """The median of our rate over that of ``name``, round by round."""
    ours, theirs = _rates(samples.get(_OURS, []), figure), _rates(samples[name], figure)
    return statistics.median(a / b for a, b in zip(ours, theirs)) if ours and len(ours) == len(theirs) else None


def _status(library: Library, samples: Samples) -> str:
    failures = [x["failed"] for x in samples.get(library.name, []) if "failed" in x]
    return f"failed: {failures[0]}" if failures else library.missing() or "measured"


def make_results(samples: Samples) -> list[dict[str, Any]]:
    """A result for each figure and library."""
    return [_make_result(figure, library, samples)
            for figure in FIGURES for library in LIBRARIES
            if figure in library.figures and library.name in samples]


def _make_result(figure: str, library: Library, samples: Samples) -> dict[str, Any]:
    mine = samples[library.name]
    rates = _rates(mine, figure)
    sums = {key: sum(x[key] for x in mine if figure in x.get("rates", ()))
            for key in ("published", "delivered", "dropped", "reordered")}
    status = _status(library, samples)
    return {"figure": figure, "who": library.name, "version": library.version() if rates else "", "status": status,
            "ours_to_it": _ratio(samples, library.name, figure),
            "msgs_per_s": {"median": statistics.median(rates), "min": min(rates), "max": max(rates), "samples": rates}
            if rates else None, **sums}


def print_table(results: list[dict[str, Any]]) -> None:
    titles = {"publish": "publish a batch", "iterate": "iterate small messages", "records": "decode records of 20 fields",
              "stream": "publish, iterate, check"}
    for figure in FIGURES:
        rows = [x for x in results if x["figure"] == figure]
        if rows:
            print(f"{titles[figure]:28} {'msgs/s':>12} {'min':>12} {'max':>12} {'ours / it':>9} {'lost':>6}")
            for row in rows:
                print(_row_text(row))
            print(flush=True)


def _row_text(row: dict[str, Any]) -> str:
    rates, ratio = row["msgs_per_s"], row["ours_to_it"]
    if rates is None:
        return f"  {row['who']:26} {row['status']}"
    note = "" if row["status"] == "measured" else f"  {row['status']}"
    return (f"  {row['who']:26} {rates['median']:12.0f} {rates['min']:12.0f} {rates['max']:12.0f} "
            f"{'-' if ratio is None else format(ratio, '.2f'):>9} {row['dropped'] + row['reordered']:6}{note}")


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.split(": ", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def write_json(path: str, parameters: dict[str, Any], results: list[dict[str, Any]]) -> None:
    """Raises OSError."""
    machine = {"cpu": _processor(), "cores": os.cpu_count(), "system": platform.platform(),
               "python": platform.python_version(), "version": __version__}
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"schema": 1, "benchmark": "python", "machine": machine, "params": parameters, "results": results}, file)
        file.write("\n")
