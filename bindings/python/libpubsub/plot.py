"""A picture of what ``pubsub bench chain --json`` measured.

``python -m libpubsub.plot RESULTS.json PICTURE.png``; the ending of the picture's name chooses the
format. Needs the extra ``libpubsub[plot]``.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any, Optional, Sequence

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = ("#1f6f9f", "#c8641b", "#4b8b3b", "#7a4f9a")
_LOSSES = ("dropped", "duplicated", "reordered")


def draw_chain(results: dict[str, Any], target: str) -> None:
    """Draws messages per second by number of relays, one bar a run with its least and most, to a file.

    ``results``: the benchmark's JSON. Raises ValueError if it is no result of the chain benchmark,
    ImportError without matplotlib, OSError if ``target`` cannot be written.
    """
    rows = _rows(results)
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7.2, 4.2), layout="constrained")
    _draw_bars(axes, rows)
    axes.set_xlabel("relays between publisher and subscriber")
    axes.set_ylabel("million messages per second")
    axes.set_title(_title(rows), loc="left", fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#dddddd", linewidth=0.8)
    axes.set_axisbelow(True)
    figure.savefig(target, dpi=150)
    pyplot.close(figure)


def _rows(results: dict[str, Any]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = results.get("results", []) if isinstance(results, dict) else []
    wanted = {"relays", "msgs_per_s"}
    if not rows or not all(isinstance(row, dict) and wanted <= row.keys() for row in rows):
        raise ValueError("no results of `pubsub bench chain --json`")
    return rows


def _title(rows: list[dict[str, Any]]) -> str:
    lost = sum(int(row.get(kind, 0)) for row in rows for kind in _LOSSES)
    state = "nothing lost, duplicated or reordered" if lost == 0 else f"{lost} lost, duplicated or reordered"
    return f"Relay chain, separate processes: {state}"


def _draw_bars(axes: Axes, rows: list[dict[str, Any]]) -> None:
    relays = sorted({row["relays"] for row in rows})
    payloads = sorted({row.get("payload_bytes", 0) for row in rows})
    width = 0.7 / len(payloads)
    top = 0.0
    for series, payload in enumerate(payloads):
        for row in (row for row in rows if row.get("payload_bytes", 0) == payload):
            rate = row["msgs_per_s"]
            middle, low, high = (rate[key] / 1e6 for key in ("median", "min", "max"))
            x = relays.index(row["relays"]) + (series - (len(payloads) - 1) / 2) * width
            axes.bar(x, middle, width * 0.9, color=_COLOURS[series % len(_COLOURS)],
                     yerr=[[max(middle - low, 0.0)], [max(high - middle, 0.0)]], ecolor="#333333", capsize=4)
            axes.annotate(f"{middle:.2f}", (x, max(high, middle)), (0, 4), textcoords="offset points",
                          ha="center", fontsize=9)
            top = max(top, high)
        axes.bar(0, 0, color=_COLOURS[series % len(_COLOURS)], label=f"{payload} bytes payload")
    axes.set_xticks(range(len(relays)), [str(n) for n in relays])
    axes.set_ylim(0, top * 1.15 or 1.0)
    axes.legend(frameon=False, loc="upper right")


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """The command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m libpubsub.plot", description=__doc__.split("\n")[0])
    parser.add_argument("results", help="what `pubsub bench chain --json FILE` wrote")
    parser.add_argument("picture", help="file to write, for instance chain.png")
    options = parser.parse_args(arguments)
    try:
        with open(options.results, encoding="utf-8") as file:
            draw_chain(json.load(file), options.picture)
    except ImportError:
        print("matplotlib is missing: pip install 'libpubsub[plot]'", file=sys.stderr)
        return 1
    except (OSError, ValueError) as failure:
        print(f"{options.results}: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
