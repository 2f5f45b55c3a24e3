#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A cluster of a manager, a logger, a proxy and two workers on this machine, with everything that Zeek loads by default.

  real_cluster.py logs TRACE TRACE   each worker reads a trace, with this backend and with ZeroMQ's: the logs have to be the same
  real_cluster.py kill               kills one node after the other (kill -9) and starts it again: how soon the others say so
"""
import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
NODES = ["manager", "logger", "proxy", "worker-1", "worker-2"]
# Of a log: what depends on the moment, or on which process has done it.
NOT_COMPARED = {"stats.log", "cluster.log", "telemetry.log", "telemetry_histogram.log", "loaded_scripts.log", "packet_filter.log",
                "analyzer.log", "reporter.log", "capture_loss.log"}


class Cluster:
    def __init__(self, backend, traces=()):
        self.folder = Path(tempfile.mkdtemp(prefix=f"zeek-{backend}-"))
        path = subprocess.check_output(["zeek-config", "--zeekpath"], text=True).strip()
        self.environment = {**os.environ, "BACKEND": backend, "NODES": str(len(NODES)), "ZEEKPATH": f"{path}:{HERE}/cluster",
                            "ZEEK_PLUGIN_ACTIVATE": "Pubsub::Cluster_Backend_Pubsub"}
        self.environment.setdefault("ZEEK_PLUGIN_PATH", str(HERE.parent / "build"))
        self.traces = dict(zip(NODES[3:], traces))
        self.running = {}
        for name in NODES:
            (self.folder / name).mkdir()
            self.start(name)

    def start(self, name):
        trace = self.traces.get(name)
        environment = {**self.environment, "CLUSTER_NODE": name, "TRACE": trace or ""}
        with open(self.folder / name / "out", "a") as out:
            self.running[name] = subprocess.Popen(
                ["zeek", "-D", *(["-r", trace] if trace else []), "local", str(HERE / "cluster/node.zeek")],
                cwd=self.folder / name, stdout=out, stderr=subprocess.STDOUT, env=environment)

    def said(self, name):
        """What a node has said about others: (seconds, "up" or "down", whom)."""
        lines = (self.folder / name / "out").read_text().splitlines()
        return [(float(at), what, whom) for at, what, whom in
                (line.split() for line in lines if " up " in line or " down " in line) if what in ("up", "down")]

    def wait_until(self, what, condition, limit=60):
        end = time.time() + limit
        while not condition():
            if time.time() > end:
                raise SystemExit(f"not within {limit} s: {what}; see {self.folder}")
            time.sleep(0.01)

    def wait_all_up(self):
        for name in NODES:
            def sees_all():
                state = {whom: what for _, what, whom in self.said(name)}
                return sum(what == "up" for what in state.values()) == len(NODES) - 1
            self.wait_until(f"{name} sees all others", sees_all)

    def stop(self):
        for each in self.running.values():
            if each.poll() is None:
                each.kill()
            each.wait()


def all_linked():
    """Nodes see each other over one link; the others are made a little later. 27955 is the manager's port, 27956 the logger's."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    accepted = [int(local.rpartition(":")[2], 16) for _, local, _, state, *_ in lines if state == "01"]
    return accepted.count(27955) == 4 and accepted.count(27956) == 3


def records(folder):
    """The records of each log, in no order; what a clock has made is left out."""
    result = {}
    for log in folder.glob("*.log"):
        if log.name not in NOT_COMPARED:
            result[log.name] = sorted(line for line in log.read_text(errors="replace").splitlines() if not line.startswith("#"))
    return result


def compare_logs(traces):
    logs = {}
    for backend in ("pubsub", "zeromq"):
        cluster = Cluster(backend, [str(Path(trace).resolve()) for trace in traces])
        try:
            for name in NODES:
                cluster.running[name].wait(120)
        except subprocess.TimeoutExpired:
            print(f"{backend}: {name} did not end; see {cluster.folder}", file=sys.stderr)
        finally:
            cluster.stop()
        logs[backend] = records(cluster.folder / "logger")
    same = True
    for name in sorted(logs["pubsub"].keys() | logs["zeromq"].keys()):
        ours, theirs = (logs[backend].get(name, []) for backend in ("pubsub", "zeromq"))
        verdict = "the same" if ours == theirs else f"DIFFERENT: {len(set(ours) ^ set(theirs))} records"
        same = same and ours == theirs
        print(f"{name:24} {len(ours):6} {len(theirs):6}  {verdict}")
    return 0 if same and logs["pubsub"] else 1


def kill_each():
    cluster = Cluster("pubsub")
    slowest = 0.0
    try:
        cluster.wait_all_up()
        for victim in NODES:
            others = [name for name in NODES if name != victim]
            before = {name: len(cluster.said(name)) for name in others}
            killed = time.time()
            cluster.running[victim].send_signal(signal.SIGKILL)
            cluster.running[victim].wait()
            took = {}
            for name in others:
                def down():
                    return [at for at, what, whom in cluster.said(name)[before[name]:] if (what, whom) == ("down", victim)]
                cluster.wait_until(f"{name} says that {victim} is down", down, 30)
                took[name] = down()[0] - killed
            slowest = max(slowest, *took.values())
            print(f"{victim:9} down after " + ", ".join(f"{name} {seconds * 1000:.0f} ms" for name, seconds in took.items()), flush=True)
            extra = {name: [x for x in cluster.said(name)[before[name]:] if x[1] == "down" and x[2] != victim] for name in others}
            if any(extra.values()):
                print(f"{'':9} others lost, too: {extra}")
            cluster.start(victim)
            cluster.wait_all_up()
            cluster.wait_until("all nodes are linked with the manager and the logger again", all_linked)
    finally:
        cluster.stop()
    print(f"slowest: {slowest * 1000:.0f} ms")
    return 0 if slowest < 1 else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("logs").add_argument("traces", nargs=2, metavar="TRACE")
    commands.add_parser("kill")
    options = parser.parse_args()
    sys.exit(compare_logs(options.traces) if options.command == "logs" else kill_each())


if __name__ == "__main__":
    main()
