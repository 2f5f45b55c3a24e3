# SPDX-License-Identifier: BSD-3-Clause
"""A picture of what ``pubsub bench chain``, ``compare``, ``batch-ack``, ``versioned`` or ``remote`` measured, or
``pubsub-scale`` simulated, from its ``--json``.

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

_ROLE_COLOURS = {"limit": "#9a9a9a", "ours": "#1f6f9f", "variant": "#7fb2d0", "peer": "#c8641b"}
_COLOURS = ("#1f6f9f", "#c8641b", "#4b8b3b", "#7a4f9a")
_SCHEME_COLOURS = ("#9a9a9a", "#c8641b", "#d9a441", "#4b8b3b", "#1f6f9f", "#7a4f9a")
_MODE_COLOURS = {"sync": "#9a9a9a", "bulk": "#c8641b", "async": "#7a4f9a", "pipeline": "#4b8b3b", "hybrid": "#d9a441",
                 "auto": "#1f6f9f"}
_SWEEPS = {"operations": ("operations", "operations of {size_bytes} bytes"),
           "size": ("size_bytes", "{operations} operations"),
           "work": ("work_us", "{operations} operations that take time"),
           "split": ("parts", "{operations} operations in parts")}
_SWEEP_LABELS = {"operations": "operations", "size": "bytes of a result", "work": "microseconds of work",
                 "split": "parts, one after the other"}
_SCALE_CHANGES = {"start": "all connect", "relay_comes": "a relay comes", "halves_meet": "halves meet",
                  "fresh_topic": "a new topic"}
_SCALE_PANELS = {"frames": "frames over all wires", "bytes": "bytes over all wires",
                 "worst_node_bytes": "bytes sent by the busiest relay", "cpu_ms": "processor ms, all relays",
                 "hops_p99": "hop times until 99 % know"}
_SCALE_PANELS_OF_ONE = {"frames": "frames that a relay receives", "bytes": "bytes that it receives",
                        "cpu_ms": "its processor ms", "hops_p99": "hop times until 99 % know"}
_LOSSES = ("dropped", "duplicated", "reordered")


def draw(results: dict[str, Any], target: str) -> None:
    """Draws the results of any of these benchmarks to a file.

    Raises as `draw_chain`, `draw_compare`, `draw_batch_ack`, `draw_versioned`, `draw_remote` and `draw_scale` do.
    """
    benchmark = results.get("benchmark") if isinstance(results, dict) else None
    kinds = {"compare": draw_compare, "batch-ack": draw_batch_ack, "versioned": draw_versioned,
             "remote": draw_remote, "scale": draw_scale}
    kinds.get(str(benchmark), draw_chain)(results, target)


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


def draw_compare(results: dict[str, Any], target: str) -> None:
    """Draws a panel a setup, in it a bar a contestant with its ratio to the limit, to a file.

    ``results``: the benchmark's JSON. Raises ValueError if it is no result of the comparison,
    ImportError without matplotlib, OSError if ``target`` cannot be written.
    """
    panels = _panels(results)
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    heights = [len(rows) + 1.5 for rows in panels.values()]
    figure, grid = pyplot.subplots(len(panels), figsize=(8.4, 0.27 * sum(heights) + 0.4), squeeze=False,
                                   layout="constrained", height_ratios=heights)
    for axes, (title, rows) in zip(grid[:, 0], panels.items()):
        _draw_panel(axes, title, rows)
    grid[-1, 0].set_xlabel("million messages per second (ratio to the bare limit of the same round)")
    figure.savefig(target, dpi=150)
    pyplot.close(figure)


def draw_batch_ack(results: dict[str, Any], target: str) -> None:
    """Draws rates, tasks in flight and memory by the size of batches, a line an implementation, to a file.

    ``results``: the benchmark's JSON. Raises ValueError if it is no result of that benchmark,
    ImportError without matplotlib, OSError if ``target`` cannot be written.
    """
    lines = _batch_lines(results)
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, grid = pyplot.subplot_mosaic([["rate", "flight"], ["rate", "memory"]], figsize=(10.4, 5.6),
                                         layout="constrained", width_ratios=(3, 2))
    colours = {who: _COLOURS[i % len(_COLOURS)] for i, who in enumerate(dict.fromkeys(who for who, _ in lines))}
    for (who, windowed), rows in lines.items():
        _draw_batches(grid, rows, who + (", window" if windowed else ""), colours[who], "--" if windowed else "-")
    for name, title in (("rate", "messages per second"), ("flight", "tasks in flight, at most"),
                        ("memory", "memory of all processes, MiB")):
        axes = grid[name]
        axes.set_title(title, loc="left", fontsize=10)
        axes.set_xscale("log")
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color="#dddddd", linewidth=0.8)
        axes.set_axisbelow(True)
    for name in ("rate", "flight"):
        grid[name].set_yscale("log")
    grid["memory"].set_ylim(bottom=0)
    grid["rate"].set_xlabel("tasks acknowledged together (solid: one batch in flight; dashed: a window of tasks)")
    grid["memory"].set_xlabel("tasks acknowledged together")
    grid["rate"].legend(frameon=False, fontsize=9)
    figure.savefig(target, dpi=150)
    pyplot.close(figure)


def _batch_lines(results: dict[str, Any]) -> dict[tuple[str, bool], list[dict[str, Any]]]:
    """The rows that have figures by who and whether there is a window, each line by rising batches."""
    rows = results.get("results", []) if isinstance(results, dict) else []
    wanted = {"who", "mode", "batch", "msgs_per_s", "in_flight_max", "rss_bytes"}
    lines: dict[tuple[str, bool], list[dict[str, Any]]] = {}
    for row in rows:
        if not isinstance(row, dict) or not wanted <= row.keys():
            raise ValueError("no results of `pubsub bench batch-ack --json`")
        if row["msgs_per_s"]["median"] > 0:
            lines.setdefault((row["who"], row["mode"] == "window"), []).append(row)
    if not lines:
        raise ValueError("no results of `pubsub bench batch-ack --json`")
    return {key: sorted(rows, key=lambda row: int(row["batch"])) for key, rows in lines.items()}


def _draw_batches(grid: dict[str, Axes], rows: list[dict[str, Any]], label: str, colour: str, style: str) -> None:
    batches = [row["batch"] for row in rows]
    middles = [row["msgs_per_s"]["median"] for row in rows]
    spread = [[middle - row["msgs_per_s"]["min"] for middle, row in zip(middles, rows)],
              [row["msgs_per_s"]["max"] - middle for middle, row in zip(middles, rows)]]
    grid["rate"].errorbar(batches, middles, yerr=spread, color=colour, linestyle=style, marker="o", markersize=4,
                          capsize=3, linewidth=1.4, label=label)
    grid["flight"].plot(batches, [row["in_flight_max"] for row in rows], color=colour, linestyle=style, marker="o",
                        markersize=4)
    memory = [(row["rss_bytes"]["ventilator"] + row["rss_bytes"]["sink"] + sum(row["rss_bytes"]["workers"])) / 2**20
              for row in rows]
    grid["memory"].plot(batches, memory, color=colour, linestyle=style, marker="o", markersize=4)


def draw_versioned(results: dict[str, Any], target: str) -> None:
    """Draws seconds for a million messages by payload, a line a scheme, one by one and pipelined, to a file.

    ``results``: the benchmark's JSON. Raises ValueError if it is no result of that benchmark,
    ImportError without matplotlib, OSError if ``target`` cannot be written.
    """
    lines = _version_lines(results)
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    panels = [(pipelined, title) for pipelined, title in ((False, "one message outstanding"), (True, "pipelined"))
              if any(key[1] == pipelined for key in lines)]
    figure, grid = pyplot.subplots(1, len(panels), figsize=(1.2 + 4.8 * len(panels), 4.6), squeeze=False,
                                   layout="constrained")
    colours = {scheme: _SCHEME_COLOURS[i % len(_SCHEME_COLOURS)]
               for i, scheme in enumerate(dict.fromkeys(scheme for scheme, _ in lines))}
    for axes, (pipelined, title) in zip(grid[0], panels):
        for (scheme, how), rows in lines.items():
            if how == pipelined:
                axes.plot([row["payload_bytes"] for row in rows], [row["seconds_per_million"] for row in rows],
                          color=colours[scheme], linestyle="--" if scheme == "none" else "-", marker="o",
                          markersize=4, linewidth=1.4, label=scheme)
        axes.set_title(title, loc="left", fontsize=10)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("bytes of a message")
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color="#dddddd", linewidth=0.8)
        axes.set_axisbelow(True)
    grid[0, 0].set_ylabel("seconds for a million messages")
    grid[0, 0].legend(frameon=False, fontsize=9)
    figure.savefig(target, dpi=150)
    pyplot.close(figure)


def _version_lines(results: dict[str, Any]) -> dict[tuple[str, bool], list[dict[str, Any]]]:
    """The rows that have figures by scheme and whether they are pipelined, each line by rising payloads."""
    rows = results.get("results", []) if isinstance(results, dict) else []
    wanted = {"scheme", "payload_bytes", "pipelined", "seconds_per_million"}
    lines: dict[tuple[str, bool], list[dict[str, Any]]] = {}
    for row in rows:
        if not isinstance(row, dict) or not wanted <= row.keys():
            raise ValueError("no results of `pubsub bench versioned --json`")
        if row["seconds_per_million"]:
            lines.setdefault((row["scheme"], bool(row["pipelined"])), []).append(row)
    if not lines:
        raise ValueError("no results of `pubsub bench versioned --json`")
    return {key: sorted(rows, key=lambda row: int(row["payload_bytes"])) for key, rows in lines.items()}


def draw_remote(results: dict[str, Any], target: str) -> None:
    """Draws seconds by what is varied, a panel a series, to a file: points were measured, lines are the models'.

    ``results``: the benchmark's JSON. Raises ValueError if it is no result of that benchmark or without a grid,
    ImportError without matplotlib, OSError if ``target`` cannot be written.
    """
    panels = _remote_panels(results)
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    columns = min(3, len(panels))
    lines = -(-len(panels) // columns)
    figure, grid = pyplot.subplots(lines, columns, figsize=(1 + 4.2 * columns, 3.4 * lines + 0.4), squeeze=False,
                                   layout="constrained")
    for axes in grid.flat[len(panels):]:
        axes.set_visible(False)
    for axes, ((sweep, title), rows) in zip(grid.flat, panels.items()):
        _draw_remote_panel(axes, sweep, title, rows)
    for line in grid:
        line[0].set_ylabel("seconds (lines: models)")
    grid[0, 0].legend(frameon=False, fontsize=8)
    figure.savefig(target, dpi=150)
    pyplot.close(figure)


def _remote_panels(results: dict[str, Any]) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """The rows of the grid by sweep and title."""
    rows = results.get("results", []) if isinstance(results, dict) else []
    wanted = {"section", "network", "operation", "operations", "size_bytes", "mode", "seconds", "modelled_seconds"}
    panels: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        if not isinstance(row, dict) or not wanted <= row.keys():
            raise ValueError("no results of `pubsub bench remote-study --json`")
        if row["section"] == "grid":
            what = _SWEEPS[row["sweep"]][1].format(**row)
            panels.setdefault((row["sweep"], f"{row['network']} {row['operation']}: {what}"), []).append(row)
    if not panels:
        raise ValueError("no grid in results of `pubsub bench remote-study --json`")
    return panels


def _draw_remote_panel(axes: Axes, sweep: str, title: str, rows: list[dict[str, Any]]) -> None:
    key = _SWEEPS[sweep][0]
    for mode, colour in _MODE_COLOURS.items():
        own = [row for row in rows if row["mode"] == mode]
        if mode != "auto":
            axes.plot([row[key] for row in own], [row["modelled_seconds"] for row in own], color=colour, linewidth=1)
        seen = [row for row in own if row["seconds"] is not None]
        axes.plot([row[key] for row in seen], [row["seconds"] for row in seen], color=colour, linestyle="", marker="o",
                  markersize=4, label=mode)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_title(title, loc="left", fontsize=9)
    axes.set_xlabel(_SWEEP_LABELS[sweep], fontsize=8)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#dddddd", linewidth=0.8)
    axes.set_axisbelow(True)


def draw_scale(results: dict[str, Any], target: str) -> None:
    """Draws what changes cost by the number of relays, a panel a figure and a column a family, to a file.

    ``results``: the simulator's JSON. Raises ValueError if it is none, ImportError without matplotlib, OSError if
    ``target`` cannot be written.
    """
    families = _scale_families(results)
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    panels = _SCALE_PANELS_OF_ONE if results.get("params", {}).get("one") else _SCALE_PANELS
    figure, grid = pyplot.subplots(len(panels) + 1, len(families), squeeze=False, layout="constrained",
                                   figsize=(1 + 3.6 * len(families), 2.6 * (len(panels) + 1)), sharey="row")
    for column, (family, rows) in enumerate(families.items()):
        relays = [row["relays"] for row in rows]
        for axes, figure_name in zip(grid[:, column], panels):
            for (change, label), colour in zip(_SCALE_CHANGES.items(), _COLOURS):
                if all(change in row for row in rows):
                    axes.plot(relays, [row[change][figure_name] for row in rows], color=colour, marker="o",
                              markersize=4, label=label)
        grid[-1, column].plot(relays, [row["worst_node_heap_bytes"] for row in rows], color=_COLOURS[0], marker="o",
                              markersize=4)
        grid[0, column].set_title(family, loc="left", fontsize=11)
        grid[-1, column].set_xlabel("relays")
    for line, label in zip(grid, [*panels.values(), "heap bytes of the largest relay"]):
        line[0].set_ylabel(label, fontsize=8)
    for axes in grid.flat:
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color="#dddddd", linewidth=0.8)
        axes.set_axisbelow(True)
    grid[0, 0].legend(frameon=False, fontsize=8)
    figure.savefig(target, dpi=150)
    pyplot.close(figure)


def _scale_families(results: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The rows by family of networks and number of subscriptions."""
    rows = results.get("results", []) if isinstance(results, dict) else []
    families: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if not isinstance(row, dict) or not {"family", "relays", "subscriptions", "worst_node_heap_bytes", "start"} <= row.keys():
            raise ValueError("no results of `pubsub-scale --json`")
        families.setdefault(f"{row['family']}, {row['subscriptions']} subscriptions each", []).append(row)
    if not families:
        raise ValueError("no results of `pubsub-scale --json`")
    return families


def _panels(results: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    panels: dict[str, list[dict[str, Any]]] = {}
    rows = results.get("results", []) if isinstance(results, dict) else []
    wanted = {"setup", "messages", "relays", "who", "usage", "role", "status", "ratio_to_limit", "msgs_per_s"}
    for row in rows:
        if not isinstance(row, dict) or not wanted <= row.keys():
            raise ValueError("no results of `pubsub bench compare --json`")
        plural = "" if row["relays"] == 1 else "s"
        title = {"chain": f"chain, {row['relays']} relay{plural}" + (", values" if row["messages"] == "tree" else ""),
                 "host": "two processes of one host",
                 "actors": "from actor to actor, 1 relay"}.get(row["setup"], f"local stream, {row['messages']}")
        panels.setdefault(title, []).append(row)
    if not panels:
        raise ValueError("no results of `pubsub bench compare --json`")
    return panels


def _draw_panel(axes: Axes, title: str, rows: list[dict[str, Any]]) -> None:
    top = max(row["msgs_per_s"]["max"] for row in rows) / 1e6 or 1.0
    for y, row in enumerate(rows):
        rate = row["msgs_per_s"]
        middle, low, high = (rate[key] / 1e6 for key in ("median", "min", "max"))
        if row["status"] == "measured" or middle > 0:
            axes.barh(y, middle, 0.7, color=_ROLE_COLOURS.get(row["role"], "#000000"),
                      xerr=[[max(middle - low, 0.0)], [max(high - middle, 0.0)]], ecolor="#333333", capsize=3)
            ratio = row["ratio_to_limit"]
            text = f"{middle:.2f}" + ("" if ratio is None else f"  ({ratio:.2f})")
        else:
            text = row["status"]
        axes.annotate(text, (max(high, middle), y), (6, 0), textcoords="offset points", va="center", fontsize=8)
    axes.set_yticks(range(len(rows)), [f"{row['who']} {row['usage']}".strip() for row in rows], fontsize=8)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(0, top * 1.25)
    axes.tick_params(axis="x", labelsize=8)
    axes.set_title(title, loc="left", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="x", color="#dddddd", linewidth=0.8)
    axes.set_axisbelow(True)


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
    parser.add_argument("results", help="what one of these benchmarks wrote with --json FILE")
    parser.add_argument("picture", help="file to write, for instance chain.png")
    options = parser.parse_args(arguments)
    try:
        with open(options.results, encoding="utf-8") as file:
            draw(json.load(file), options.picture)
    except ImportError:
        print("matplotlib is missing: pip install 'libpubsub[plot]'", file=sys.stderr)
        return 1
    except (OSError, ValueError) as failure:
        print(f"{options.results}: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
