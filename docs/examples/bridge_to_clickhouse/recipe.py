#!/usr/bin/env python3
"""Records of a Zeek log go over a relay to Kafka or NATS JetStream, from there into ClickHouse, and into a plot.

ClickHouse is chdb, which is ClickHouse in the process. Without --brokers a NATS server is started, and ended again.
"""
import argparse
import contextlib
import json
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import uuid
from pathlib import Path

LIMIT = 60  # seconds for each step
FLOWS = Path(__file__).resolve().parents[3] / "bench/data/conn.log"


def command(name):
    """A program beside this interpreter, or on the PATH."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"], "/usr/sbin"])
    found = shutil.which(name, path=path)
    if found is None:
        sys.exit(f"{name} is not installed: see the README beside this program")
    return found


class Program:
    """A program that runs on, and the lines that it says."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([command(arguments[0]), *arguments[1:]], stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)
        self.name, self.lines, self.said = arguments[0], queue.Queue(), []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def wait_for(self, pattern):
        """The first group of the pattern in the first line that fits."""
        end = time.monotonic() + LIMIT
        while True:
            try:
                line = self.lines.get(timeout=max(end - time.monotonic(), 0))
            except queue.Empty:
                sys.exit(f"{self.name} did not say {pattern} in time")
            if line is None:
                sys.exit(f"{self.name} has ended: {''.join(self.said)}")
            self.said.append(line)
            if found := re.search(pattern, line):
                return found[1]

    def stop(self):
        self.process.terminate()
        self.process.wait(LIMIT)


class Nats:
    """A NATS server of our own, which keeps its stream in the folder."""

    def __init__(self, stack, folder):
        server = Program("nats-server", "-js", "-a", "127.0.0.1", "-p", "-1", "-sd", str(folder / "jetstream"))
        stack.callback(server.stop)
        address = server.wait_for(r"Listening for client connections on (\S+)")
        self.name = f"NATS JetStream at {address}"
        self.where = ["jetstream", "--url", f"nats://{address}", "--stream", "ZEEK"]
        self.to = ["--subjects", "zeek.>", "--to", "zeek.{path}"]
        self.kept_as = "zeek.conn"


class Kafka:
    """Brokers that are there. The topic is one of this run."""

    def __init__(self, brokers):
        run = uuid.uuid4().hex[:8]
        self.name = f"Kafka at {brokers}"
        self.where = ["kafka", "--brokers", brokers]
        self.to = ["--to", f"zeek.{{path}}.{run}", "--key-by", "field:uid", "--set", "compression.type=lz4"]
        self.kept_as = f"zeek.conn.{run}"


def delivered(page):
    """What the bridge has handed over, and the engine confirmed, by its metrics."""
    with urllib.request.urlopen(page + "metrics", timeout=LIMIT) as answer:
        return int(re.search(r"^pubsub_bridge_delivered_total\S* (\d+)", answer.read().decode(), re.M)[1])


def ship(stack, engine, log):
    """Sends the records of the log to a relay; a bridge takes them to the engine. Returns how many there are."""
    relay = Program("pubsub", "node", "--listen", "127.0.0.1:0")
    stack.callback(relay.stop)
    address = relay.wait_for(r"listening on tcp://(\S+)")
    bridge = Program("pubsub", "bridge", *engine.where, "--peer", address, "--topic", "zeek/records/", *engine.to,
                     "--metrics", "127.0.0.1:0")
    stack.callback(bridge.stop)
    page = bridge.wait_for(r"(http://\S+)")
    sent = subprocess.run([command("pubsub"), "pub", "--peer", address, "--zeek-log", log], capture_output=True,
                          text=True, check=True, timeout=LIMIT)
    records = int(re.search(r"sent (\d+)", sent.stdout + sent.stderr)[1])
    end = time.monotonic() + LIMIT
    while delivered(page) < records:
        if time.monotonic() > end or bridge.process.poll() is not None:
            bridge.stop()
            sys.exit(f"{engine.name} has not taken all records: {bridge.process.stdout.read()}")
        time.sleep(0.05)
    return records


def read_back(stack, engine, records, into):
    """Reads what the engine keeps, by a bridge in the other direction, and writes it as it is, a record a line."""
    reader = Program("pubsub", "sub", "--listen", "127.0.0.1:0", "--topic", "shipped", "--count", str(records))
    stack.callback(reader.stop)
    address = reader.wait_for(r"listening on (?:tcp://)?(\S+)")
    subprocess.run([command("pubsub"), "bridge", *engine.where, "--peer", address, "--from", engine.kept_as,
                    "--format", "string", "--publish", "shipped", "--returned", "--until-end"],
                   check=True, timeout=LIMIT, capture_output=True)
    with into.open("w", encoding="utf-8") as file:
        for _ in range(records):
            file.write(json.loads(reader.wait_for(r"^({.*})$"))["data"] + "\n")


def load(log, file, folder):
    """A table with the columns of the log, in ClickHouse, and the records in it."""
    from chdb.session import Session

    tables = subprocess.run([command("pubsub"), "bridge", "ddl", "clickhouse", log], capture_output=True, text=True,
                            check=True).stdout
    database = Session(str(folder / "clickhouse"))
    for statement in tables.split(";\n"):
        if statement.strip():
            database.query(statement)
    database.query(f"INSERT INTO zeek.conn SELECT * FROM file('{file}', JSONEachRow)")
    return database


def ask(database, question):
    """The rows of an answer, each as a dict."""
    return [json.loads(line) for line in str(database.query(question, "JSONEachRow")).splitlines()]


OVERVIEW = """
SELECT count() AS records, toUInt32(uniqExact(`id.orig_h`)) AS clients, toInt64(sum(orig_bytes)) AS sent,
       toFloat64(min(ts)) AS first, toFloat64(max(ts)) AS last FROM zeek.conn"""
TOP_SERVICES = """
SELECT coalesce(service, 'unknown') AS name, toUInt32(count()) AS connections,
       toFloat64(sum(coalesce(orig_bytes, 0) + coalesce(resp_bytes, 0))) AS bytes
FROM zeek.conn GROUP BY name ORDER BY bytes DESC, name"""
OVER_TIME = """
SELECT toUInt32(floor((toFloat64(ts) - {first}) / {width})) AS bin, coalesce(service, 'unknown') AS name,
       toFloat64(sum(coalesce(orig_bytes, 0) + coalesce(resp_bytes, 0))) AS bytes
FROM zeek.conn GROUP BY bin, name"""


def draw(database, overview, services, output):
    """A stacked bar for each interval."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    bins = 30
    width = max((overview["last"] - overview["first"]) / bins, 1e-6)
    heights = {each["name"]: [0.0] * (bins + 1) for each in services}
    for row in ask(database, OVER_TIME.format(first=overview["first"], width=width)):
        heights[row["name"]][row["bin"]] = row["bytes"] / 1e6
    figure, axes = plt.subplots(figsize=(9, 4.2), layout="constrained")
    below = [0.0] * (bins + 1)
    for name, values in heights.items():
        axes.bar([(i + 0.5) * width for i in range(bins + 1)], values, width * 0.92, bottom=below, label=name)
        below = [a + b for a, b in zip(below, values)]
    axes.set(xlabel="seconds since the first connection", ylabel=f"MB in {width:.1f} s",
             title=f"Bytes by service: {overview['records']:,} connections of {overview['clients']} clients")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(output, dpi=120)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--brokers", help="HOST:PORT of Kafka; without it NATS JetStream is used")
    options.add_argument("--log", default=str(FLOWS), help="a conn.log in TSV (default: the one in bench/data)")
    options.add_argument("--output", default="services.png", help="the plot (default: services.png)")
    given = options.parse_args()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        engine = Kafka(given.brokers) if given.brokers else Nats(stack, folder)
        records = ship(stack, engine, given.log)
        print(f"{records:,} records are in {engine.name}")
        read_back(stack, engine, records, folder / "records.json")
        database = load(given.log, folder / "records.json", folder)
        overview, = ask(database, OVERVIEW)
        services = ask(database, TOP_SERVICES)
        print(f"{overview['records']:,} are in ClickHouse's table zeek.conn")
        for each in services:
            print(f"{each['name']:>10}  {each['connections']:>6,} connections  {each['bytes'] / 1e6:>10,.3f} MB")
        draw(database, overview, services, given.output)
        database.close()
        print(f"plot: {given.output}")
        return 0 if overview["records"] == records else 3


if __name__ == "__main__":
    sys.exit(main())
