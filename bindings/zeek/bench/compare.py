#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares this cluster backend with ZeroMQ's in the same Zeek, on this machine: same scripts, same nodes, taking turns.

Prints for each test the median over the rounds: events a second, processor time of all nodes for an event, and what got lost;
and each as a ratio to ZeroMQ's. Clients of the WebSocket API are Python programs; their own processor time is not counted.

With --floor, for ping-pong and logging also what one process needs that is all nodes and has no network (the plugin in floor/,
built before): the work of Zeek's scripts, serializers and writers, below which no backend gets. Its events a second are those of
one process alone; of logging, while it sends.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
# name: what nodes do, how many events, how many at once, seconds between, how many under way
TESTS = {
    "round trip": dict(TEST="ping-pong", TOTAL=5000, UNDER_WAY=1),
    "ping-pong, 300 under way": dict(TEST="ping-pong", TOTAL=200000, UNDER_WAY=300),
    "ping-pong, 3000 under way": dict(TEST="ping-pong", TOTAL=200000, UNDER_WAY=3000),
    "broadcast, low rate": dict(TEST="broadcast", TOTAL=20000, BURST=3, PAUSE=0.002),
    "broadcast, high rate": dict(TEST="broadcast", TOTAL=100000, BURST=30, PAUSE=0.002),
    "broadcast, as fast as it goes": dict(TEST="broadcast", TOTAL=100000, BURST=500, PAUSE=0.0),
    "logging, low rate": dict(TEST="logging", TOTAL=20000, BURST=3, PAUSE=0.002),
    "logging, high rate": dict(TEST="logging", TOTAL=100000, BURST=30, PAUSE=0.002),
    "logging, as fast as it goes": dict(TEST="logging", TOTAL=200000, BURST=500, PAUSE=0.0),
    "websocket, round trip": dict(TEST="websocket", TOTAL=5000),
    "websocket, client to node": dict(TEST="websocket-in", TOTAL=200000),
    "websocket, node to client, 300": dict(TEST="websocket-out", TOTAL=100000, UNDER_WAY=300),
}
DEFAULTS = dict(BURST=1, PAUSE=0.0, UNDER_WAY=1)


def nodes_of(test, backend):
    if backend == "floor":
        return ["manager"]
    workers = ["worker-1", "worker-2"] if test in ("broadcast", "logging") else ["worker-1"]
    return ["manager", *(["logger"] if test == "logging" else []), *workers]


def command_of(name):
    return [sys.executable, str(HERE / "websocket_client.py")] if name == "client" else ["zeek", "-b", str(HERE / "nodes.zeek")]


def run(backend, settings, timeout, tcp=False):
    """What each node reports of a run: {node: (events, seconds, processor seconds, refused)}, and lines of logs written."""
    nodes = nodes_of(settings["TEST"], backend)
    names = nodes + ["client"] if settings["TEST"].startswith("websocket") else nodes
    folder = Path(tempfile.mkdtemp(prefix="zeek-compare-"))
    environment = {**os.environ, **{k: str(v) for k, v in {**DEFAULTS, **settings}.items()}, "BACKEND": backend, "NODES": str(len(nodes)),
                   "SOCKETS": "" if tcp else str(folder / "sockets"),
                   "ZEEKPATH": subprocess.check_output(["zeek-config", "--zeekpath"], text=True).strip() + f":{HERE}/layout",
                   "ZEEK_PLUGIN_ACTIVATE": f"Pubsub::Cluster_Backend_{'Floor' if backend == 'floor' else 'Pubsub'}"}
    plugin = os.environ.get("ZEEK_PLUGIN_PATH", str(HERE.parent / "build"))
    environment["ZEEK_PLUGIN_PATH"] = f"{plugin}:{HERE}/floor/build"
    running = []
    try:
        for name in names:
            (folder / name).mkdir()
            with open(folder / name / "out", "w") as out:
                running.append(subprocess.Popen(command_of(name), cwd=folder / name, stdout=out, stderr=out,
                                                env={**environment, "CLUSTER_NODE": name}))
        for each in running:
            each.wait(timeout)
        reports = {}
        for name in names:
            for line in (folder / name / "out").read_text().splitlines():
                if line.startswith("RESULT "):
                    _, node, events, seconds, processor, refused = line.split()
                    reports[node] = (int(events), float(seconds), float(processor), int(refused))
        lines = 0
        for name in names:
            log = folder / name / "perf.log"
            if log.exists():
                lines += sum(1 for line in log.open() if not line.startswith("#"))
        silent = {"manager"} if settings["TEST"] == "logging" and backend != "floor" else set()
        if not reports.keys() >= set(names) - silent:
            raise RuntimeError("\n".join((folder / name / "out").read_text() for name in names))
        return reports, lines
    finally:
        for each in running:
            if each.poll() is None:
                each.kill()
                each.wait()
        shutil.rmtree(folder)


def figures(settings, reports, lines):
    total = settings["TOTAL"]
    processor = sum(each[2] for node, each in reports.items() if node != "client")
    workers = [each for node, each in reports.items() if node.startswith("worker")] or [reports["manager"]]
    if settings["TEST"] == "ping-pong":
        seconds = reports["manager"][1]
        return dict(rate=total / seconds, processor=processor / total, lost=0, trip=seconds / total)
    if settings["TEST"].startswith("websocket"):
        got, seconds = reports["worker-1" if settings["TEST"] == "websocket-in" else "client"][:2]
        return dict(rate=got / seconds, processor=processor / max(got, 1), lost=total - got, client=reports["client"][2] / total)
    if settings["TEST"] == "broadcast":
        wanted, got = total * len(workers), sum(each[0] for each in workers)
        seconds = reports["manager"][1]
        return dict(rate=got / seconds, processor=processor / max(got, 1), lost=wanted - got)
    wanted = total * len(workers)
    return dict(rate=lines / max(each[1] for each in workers), processor=processor / max(lines, 1), lost=wanted - lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="runs of each backend, taking turns (default %(default)s)")
    parser.add_argument("--only", nargs="+", metavar="TEXT", help="tests whose name has one of these in it")
    parser.add_argument("--floor", action="store_true", help="also without a network, in one process")
    parser.add_argument("--tcp", action="store_true", help="this backend over TCP, not over sockets of the host, as under zeekctl")
    parser.add_argument("--json", metavar="FILE", help="all figures, for other programs")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for a run (default %(default)s)")
    options = parser.parse_args()
    everything = {}
    print(f"{'test':32} {'backend':8} {'events/s':>10} {'µs of processor':>16} {'lost':>8}")
    for name, settings in TESTS.items():
        if options.only and not any(text in name for text in options.only):
            continue
        results = {"zeromq": [], "pubsub": []}
        if options.floor and settings["TEST"] in ("ping-pong", "logging"):
            results["floor"] = []
        for _ in range(options.rounds):
            for backend, so_far in results.items():
                try:
                    so_far.append(figures(settings, *run(backend, settings, options.timeout, options.tcp)))
                except subprocess.TimeoutExpired:
                    print(f"{name:32} {backend:8} did not end within {options.timeout:g} s", file=sys.stderr)
        medians = {}
        for backend, all_of_it in results.items():
            if not all_of_it:
                print(f"{name:32} {backend:8} {'stopped':>10}")
                continue
            medians[backend] = {key: statistics.median(each[key] for each in all_of_it) for key in all_of_it[0]}
            of = medians[backend]
            print(f"{name:32} {backend:8} {of['rate']:10.0f} {of['processor'] * 1e6:16.1f} {of['lost']:8.0f}", flush=True)
        if {"pubsub", "zeromq"} <= medians.keys():
            print(f"{'':32} {'ratio':8} {medians['pubsub']['rate'] / medians['zeromq']['rate']:10.2f} "
                  f"{medians['pubsub']['processor'] / medians['zeromq']['processor']:16.2f}", flush=True)
        everything[name] = results
    if options.json:
        Path(options.json).write_text(json.dumps(everything, indent=1))


if __name__ == "__main__":
    main()
