#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A bridge to Kafka beside kcat and Kafka's own kafka-producer-perf-test, in turns, to the same brokers and with the same
settings: records a second that the brokers have confirmed, the processor time that the process which hands them to the
brokers has needed for a record, and the time until a reader has a message.

    bench/engines/beside_kafka.py --brokers 127.0.0.1:9092 --libs DIRECTORY --rounds 5

Needs brokers, and the libraries of Kafka's tools (tests/engines/pom.xml names them); kcat is left out where it is not
installed. The bare bridge writes values alone, as the tools do; the other one has a key, and headers that say where a record
comes from. Each writes records of 100 bytes to a topic of its own with one partition; acks=all, idempotent, linger.ms=5,
batches of 1,000,000 bytes, no compression.

What is measured: of a bridge, from the first message that another process publishes (over TCP) until the brokers have all
records; the bridge runs before, so its start does not count. Of kcat, the whole process, which reads a file of lines that the
system has in memory: start, reading, and waiting for all confirmations. Of the perf tool, what it says itself; it makes its
records up, and its start does not count. Publisher, bridge and brokers share the machine's processors, as do kcat and brokers.
The processor time is that of the whole process of the bridge, of kcat, or of the perf tool with its start.
"""
import argparse
import json
import re
import resource
import shutil
import socket
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BYTES = 100


def unused_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def used_by_children():
    """Seconds of processor time of all child processes that have ended and were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def make_topic(options, name):
    subprocess.run(["java", "-cp", f"{options.libs}/*", "org.apache.kafka.tools.TopicCommand", "--bootstrap-server", options.brokers,
                    "--create", "--if-not-exists", "--topic", name, "--partitions", "1"], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


class Bridge:
    """`pubsub bridge`, at an address where those who publish connect."""

    def __init__(self, options, topic, headers):
        self.peer = f"127.0.0.1:{unused_port()}"
        more = [] if headers else ["--no-headers", "--key-by", "none"]
        self.process = subprocess.Popen(
            [options.pubsub, "bridge", "kafka", "--listen", self.peer, "--brokers", options.brokers, "--topic", topic, "--format",
             "binary", "--json", "--set", "linger.ms=5", "--set", "batch.size=1000000", *more], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        host, port = self.peer.split(":")
        until = time.monotonic() + 30
        while time.monotonic() < until:
            with socket.socket() as probe:
                if probe.connect_ex((host, int(port))) == 0:
                    return
            time.sleep(0.05)
        raise SystemExit("beside_kafka: the bridge does not listen")

    def end(self):
        self.process.terminate()
        totals = json.loads(self.process.communicate(timeout=60)[0])
        if totals["consumed"] != totals["delivered"]:
            raise SystemExit(f"beside_kafka: not all was delivered: {totals}")


def ours(options, topic, headers):
    bridge = Bridge(options, topic, headers)
    done = subprocess.run([options.ends, "flood", f"tcp://{bridge.peer}", options.brokers, topic, str(options.records), str(BYTES)],
                          check=True, capture_output=True, text=True)
    before = used_by_children()
    bridge.end()
    return json.loads(done.stdout)["records_per_s"], used_by_children() - before


def perf_tool(options, topic):
    before = used_by_children()
    done = subprocess.run(
        ["java", "-Xmx1g", "-cp", f"{options.libs}/*", "org.apache.kafka.tools.ProducerPerformance", "--topic", topic,
         "--num-records", str(options.records), "--record-size", str(BYTES), "--throughput", "-1", "--producer-props",
         f"bootstrap.servers={options.brokers}", "acks=all", "enable.idempotence=true", "linger.ms=5", "batch.size=1000000",
         "buffer.memory=268435456"], check=True, capture_output=True, text=True)
    return float(re.findall(r"([0-9.]+) records/sec", done.stdout)[-1]), used_by_children() - before


def kcat(options, topic, lines):
    before = used_by_children()
    begin = time.monotonic()
    subprocess.run(["kcat", "-P", "-b", options.brokers, "-t", topic, "-X", "enable.idempotence=true", "-X", "linger.ms=5", "-X",
                    "batch.size=1000000", "-l", str(lines)], check=True, stdout=subprocess.DEVNULL)
    return options.records / (time.monotonic() - begin), used_by_children() - before


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--brokers", required=True, help="HOST:PORT of the brokers")
    parser.add_argument("--libs", type=Path, required=True, help="folder with the libraries of Kafka's tools")
    parser.add_argument("--records", type=int, default=2_000_000, help="records a round (default: 2,000,000)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds (default: 5)")
    parser.add_argument("--build-dir", type=Path, default=ROOT / "build/release")
    options = parser.parse_args()
    options.pubsub = options.build_dir / "tools/pubsub/pubsub"
    options.ends = options.build_dir / "tests/engines/kafka_ends"
    run = str(time.time_ns())
    ways = {"bridge": lambda topic: ours(options, topic, True), "bridge, bare": lambda topic: ours(options, topic, False),
            "perf tool": lambda topic: perf_tool(options, topic)}
    rates = {}
    processor_us = {}
    with tempfile.NamedTemporaryFile("w") as lines:
        if shutil.which("kcat"):
            lines.writelines(["x" * BYTES + "\n"] * options.records)
            lines.flush()
            ways["kcat"] = lambda topic: kcat(options, topic, lines.name)
        for number in range(options.rounds):
            for name, way in ways.items():
                topic = f"bench-{run}-{re.sub('[^a-z]+', '-', name)}"
                make_topic(options, topic)
                rate, seconds = way(topic)
                rates.setdefault(name, []).append(rate)
                processor_us.setdefault(name, []).append(seconds / options.records * 1e6)
                print(f"round {number + 1}: {name}: {rate:,.0f} records/s", flush=True)
    medians = {name: statistics.median(all_rates) for name, all_rates in rates.items()}
    for name, rate in medians.items():
        print(f"{name:20} {rate:12,.0f} records/s   {medians['bridge, bare'] / rate:.2f} x (the bare bridge beside it)   "
              f"{statistics.median(processor_us[name]):.2f} us of a processor for a record")
    topic = f"bench-{run}-latency"
    make_topic(options, topic)
    bridge = Bridge(options, topic, True)
    done = subprocess.run([options.ends, "latency", f"tcp://{bridge.peer}", options.brokers, topic, "10000"], check=True,
                          capture_output=True, text=True)
    bridge.process.terminate()
    print("from publishing to a reader of the topic, 1,000 messages/s:", done.stdout.strip())


if __name__ == "__main__":
    main()
