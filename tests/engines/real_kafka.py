#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Kills bridge, broker and relay again and again while tasks go to a real broker of Kafka, and looks
which records it keeps: none may be missing, and what is there twice must be marked; with transactions
nothing is there twice.

    tests/engines/real_kafka.py --tasks 10000000 [--transactions] [--libs DIRECTORY]

The broker is made of what tests/engines/pom.xml names, which Maven fetches, and needs Java 17. Exit
status: 0 all is well, 1 something was lost, 77 there is no Java or no Maven.
"""
import argparse
import itertools
import json
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={folder}/logs
num.partitions=4
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
"""


def unused_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Part:
    """A process that can be killed, and started again as it was."""

    def __init__(self, name, folder, *command):
        self.name, self.command = name, command
        self.log = (folder / f"{name}.log").open("ab")
        self.kills = 0
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.kills += 1

    def restart_if_ended(self):
        if self.process.poll() is not None:
            self.start()


def fetch_broker():
    """The folder of the broker's libraries; None where there is no Java or no Maven."""
    libs = ROOT / "build" / "kafka"
    if any(libs.glob("kafka_*.jar")):
        return libs
    if not shutil.which("mvn"):
        return None
    subprocess.run(["mvn", "-q", "-B", "-f", str(ROOT / "tests/engines/pom.xml"), "dependency:copy-dependencies",
                    f"-DoutputDirectory={libs}"], check=True, stdout=subprocess.DEVNULL)
    return libs


def start_broker(libs, folder, port, more_settings="", users=()):
    """`more_settings` take precedence; `users` are those of SCRAM, as the broker's tool wants them."""
    settings = folder / "server.properties"
    settings.write_text(SETTINGS.format(port=port, controller=unused_port(), folder=folder) + more_settings)
    java = ["java", "-Xmx1g", "-cp", f"{libs}/*", f"-Dorg.slf4j.simpleLogger.logFile={folder}/kafka-server.log"]
    subprocess.run([*java, "kafka.tools.StorageTool", "format", "-t", "cHVic3ViLXRlc3RzLTAwMQ", "-c", settings,
                    *(word for user in users for word in ("--add-scram", user))],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return Part("kafka", folder, *java, "kafka.Kafka", settings)


def wait_for(port, limit=60):
    until = time.monotonic() + limit
    while time.monotonic() < until:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    sys.exit(f"real_kafka: nothing listens at port {port} after {limit} s")


def run(options, libs, folder):
    kafka_port, relay_port = unused_port(), unused_port()
    kafka = start_broker(libs, folder, kafka_port)
    wait_for(kafka_port)
    brokers, peer = f"127.0.0.1:{kafka_port}", f"127.0.0.1:{relay_port}"
    relay = Part("relay", folder, options.pubsub, "node", "--listen", peer)
    wait_for(relay_port)
    transactions = ["--transactional-id", "real-kafka"] if options.transactions else []
    bridge = Part("bridge", folder, options.pubsub, "bridge", "kafka", "--peer", peer, "--brokers", brokers, "--pipeline",
                  "jobs", "--format", "binary", "--retry", "0.1", "--json", *transactions)
    begun = time.monotonic()
    sender = subprocess.Popen([options.ends, "send", f"tcp://{peer}", str(options.tasks)], stdout=subprocess.PIPE, text=True)
    try:
        for victim in itertools.cycle([bridge, kafka, relay]):
            if wait_while_sending(sender, bridge, options.interval):
                break
            victim.kill()
            print(f"{time.monotonic() - begun:6.1f} s: killed {victim.name}", flush=True)
            if wait_while_sending(sender, None, 1):
                break
            victim.start()
            if victim is kafka:
                wait_for(kafka_port)
        last = sender.stdout.read().strip().splitlines()[-1]
        print(f"{time.monotonic() - begun:6.1f} s: {last}", flush=True)
        for part in (relay, kafka):
            part.restart_if_ended()
        wait_for(kafka_port)
        bridge.process.terminate()
        bridge.process.wait(60)
        found = subprocess.run([options.ends, "check", brokers, "jobs", str(options.tasks)], capture_output=True, text=True,
                               timeout=1800)
        print(found.stdout, found.stderr, flush=True)
        found = json.loads(found.stdout)
        found["kills"] = {part.name: part.kills for part in (bridge, kafka, relay)}
        return found, sender.returncode
    finally:
        sender.kill()
        for part in (bridge, relay, kafka):
            part.process.kill()


def wait_while_sending(sender, bridge, seconds):
    """True once everything is acknowledged."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if sender.poll() is not None:
            return True
        if bridge:
            bridge.restart_if_ended()  # as a service manager does
        time.sleep(0.1)
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=10_000_000, help="tasks to send (default: 10,000,000)")
    parser.add_argument("--transactions", action="store_true", help="write in transactions: nothing may be there twice")
    parser.add_argument("--interval", type=float, default=5, help="seconds from one kill to the next (default: 5)")
    parser.add_argument("--libs", type=Path, help="the broker's libraries, if they were fetched before")
    parser.add_argument("--build-dir", type=Path, default=ROOT / "build/release", help="where pubsub was built")
    parser.add_argument("--keep", action="store_true", help="keep the folder with the logs of all processes")
    options = parser.parse_args()
    options.pubsub = options.build_dir / "tools/pubsub/pubsub"
    options.ends = options.build_dir / "tests/engines/kafka_ends"
    libs = options.libs or (fetch_broker() if shutil.which("java") else None)
    if libs is None:
        print("real_kafka: skipped: Java and Maven are needed (Debian: openjdk-17-jre-headless maven)")
        sys.exit(77)
    folder = Path(tempfile.mkdtemp(prefix="real-kafka-"))
    try:
        found, sent = run(options, libs, folder)
    finally:
        print(f"logs: {folder}") if options.keep else shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps(found))
    twice = found["duplicates"] if options.transactions else found["unmarked"]
    sys.exit(1 if sent != 0 or found["missing"] or found["strange"] or twice else 0)


if __name__ == "__main__":
    main()
