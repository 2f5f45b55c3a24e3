#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Looks at what only a real broker of Kafka shows: a source begins at a time; bridges log in with SCRAM and PLAIN over TLS,
and come to their end where a password is wrong or a certificate is not trusted.

    tests/engines/kafka_options.py [--libs DIRECTORY] [--build-dir DIRECTORY]

The broker is that of real_kafka.py. Exit status: 0 all is well, 1 something is not, 77 there is no Java or no Maven.
"""
import argparse
import ctypes
import datetime
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import real_kafka

sys.path.insert(0, str(real_kafka.ROOT / "tests" / "tools"))
OK, CONNECT = 0, 2
SASL_SETTINGS = """
listeners=PLAINTEXT://127.0.0.1:{plain},SASL_SSL://127.0.0.1:{sasl},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{plain},SASL_SSL://127.0.0.1:{sasl}
controller.quorum.voters=1@127.0.0.1:{controller}
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL
sasl.enabled.mechanisms=SCRAM-SHA-512,PLAIN
listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.sasl_ssl.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_sensor="secret";
ssl.keystore.type=PEM
ssl.keystore.location={folder}/broker.pem
"""
# Earlier ones repeat the client's nonce where the server's alone belongs, which brokers before 4.0 let pass.
FIRST_SCRAM = 0x02060100
broker = argparse.Namespace()  # the one that all tests share: folder, process, ports


def librdkafka_version():
    """Of the library that the command is linked with, as long as that is the system's."""
    return ctypes.CDLL("librdkafka.so.1").rd_kafka_version()


def make_certificate(folder, name):
    """A certificate for 127.0.0.1 that is its own authority, and a file with its key in front, as Java wants it."""
    key, certificate = folder / f"{name}-key.pem", folder / f"{name}-ca.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}", "-addext",
                    "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate], check=True, capture_output=True)
    (folder / f"{name}.pem").write_text(key.read_text() + certificate.read_text())
    return certificate


def start_broker(libs, folder):
    broker.folder = folder
    broker.plain, broker.sasl = real_kafka.unused_port(), real_kafka.unused_port()
    broker.ca = make_certificate(folder, "broker")
    broker.other_ca = make_certificate(folder, "other")
    settings = SASL_SETTINGS.format(plain=broker.plain, sasl=broker.sasl, controller=real_kafka.unused_port(), folder=folder)
    broker.process = real_kafka.start_broker(libs, folder, broker.plain, settings,
                                             ["SCRAM-SHA-512=[name=sensor,password=secret]"])
    real_kafka.wait_for(broker.plain)
    real_kafka.wait_for(broker.sasl)


def login(mechanism="SCRAM-SHA-512", password="secret", ca=None):
    """The options of a bridge to the port that wants a password."""
    settings = {"security.protocol": "SASL_SSL", "sasl.mechanism": mechanism, "sasl.username": "sensor",
                "sasl.password": password, "ssl.ca.location": ca or broker.ca}
    return ["--brokers", f"127.0.0.1:{broker.sasl}", *(x for name, value in settings.items() for x in ("--set", f"{name}={value}"))]


def make_tests():
    """Once the command is known: `command` reads where it is when it is imported."""
    from command import CommandTest

    class KafkaOptions(CommandTest):
        def write(self, topic, numbers, options):
            out = self.start("bridge", "kafka", "--listen", "127.0.0.1:0", "--topic", topic, "--format", "json", "--json", *options)
            code, _, err = self.run_command("pub", "--peer", f"127.0.0.1:{out.port()}", "--topic", topic, "--text",
                                            stdin="".join(f"{n}\n" for n in numbers))
            self.assertEqual(code, OK, err)
            out.child.send_signal(signal.SIGTERM)
            self.assertEqual(out.finish(), OK, out.err)
            self.assertEqual(json.loads(out.out[-1])["delivered"], len(numbers))

        def read(self, topic, count, options):
            """What a bridge brings back, and its totals."""
            node = self.start("node", "--listen", "127.0.0.1:0")
            peer = f"127.0.0.1:{node.port()}"
            sub = self.start("sub", "--peer", peer, "--topic", "back", "--count", count, "--text")
            until = time.monotonic() + 60
            while '"back"' not in self.run_command("status", "--json", peer)[1]:
                self.assertLess(time.monotonic(), until)
            code, out, err = self.run_command("bridge", "kafka", "--peer", peer, "--from", topic, "--publish", "back",
                                              "--returned", "--until-end", "--json", *options)
            self.assertEqual(code, OK, err)
            self.assertEqual(sub.finish(), OK, sub.err)
            return sorted(int(line.split()[-1]) for line in sub.out), json.loads(out)

        def test_a_source_begins_at_a_time(self):
            brokers = ["--brokers", f"127.0.0.1:{broker.plain}"]
            self.write("times", range(5), brokers)
            between = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(milliseconds=5)
            while datetime.datetime.now(datetime.timezone.utc) < between:
                pass
            self.write("times", range(5, 9), brokers)
            for start, expected in (("beginning", range(9)), (f"time:{between.timestamp():.3f}", range(5, 9)),
                                    ("time:2001-01-01T00:00:00Z", range(9))):
                got, totals = self.read("times", len(expected), [*brokers, "--start", start])
                self.assertEqual((got, totals["consumed"]), (list(expected), len(expected)), start)
            # Nothing is as late as this: the end.
            code, out, err = self.run_command("bridge", "kafka", "--listen", "127.0.0.1:0", *brokers, "--from", "times", "--until-end",
                                              "--start", f"time:{time.time() + 1000:.0f}", "--json")
            self.assertEqual((code, json.loads(out)["consumed"]), (OK, 0), err)

        def test_bridges_log_in_over_tls(self):
            for mechanism in ("SCRAM-SHA-512", "PLAIN"):
                if mechanism != "PLAIN" and librdkafka_version() < FIRST_SCRAM:
                    print("without SCRAM: Kafka 4 does not take what this librdkafka says", flush=True)
                    continue
                topic = f"secure-{mechanism}"
                self.write(topic, range(100), login(mechanism))
                got, totals = self.read(topic, 100, [*login(mechanism), "--group", mechanism])
                self.assertEqual((got, totals["delivered"]), (list(range(100)), 100))

        def test_who_is_not_let_in_is_told_so_and_ends(self):
            kinds = {"to": ["--topic", "t"], "from": ["--from", "secure", "--group", "g"],
                     "transactions": ["--pipeline", "p", "--transactional-id", "i"]}
            for kind, direction in kinds.items():
                for options, complaint in ((login(password="wrong"), "invalid credentials"),
                                           (login("PLAIN", password="wrong"), "Invalid username or password"),
                                           (login("SCRAM-SHA-256"), "SCRAM-SHA-256"),
                                           (login(ca=broker.other_ca), "certificate verify failed")):
                    with self.subTest(kind=kind, complaint=complaint):
                        code, _, err = self.run_command("bridge", "kafka", "--listen", "127.0.0.1:0", *direction, *options)
                        self.assertEqual(code, CONNECT, err)
                        self.assertIn(complaint, err.splitlines()[-1])
                        self.assertNotIn("wrong", err)

        def test_a_broker_that_is_away_or_speaks_no_tls_is_waited_for(self):
            for options, complaint in ((["--brokers", f"127.0.0.1:{real_kafka.unused_port()}"], "refused"),
                                       (["--brokers", f"127.0.0.1:{broker.plain}", "--set", "security.protocol=SSL"], "SSL")):
                out = self.start("bridge", "kafka", "--listen", "127.0.0.1:0", "--topic", "t", *options)
                out.wait_for_line(complaint)
                self.assertIsNone(out.child.poll())
                out.child.send_signal(signal.SIGTERM)
                self.assertEqual(out.finish(), OK)

    return unittest.defaultTestLoader.loadTestsFromTestCase(KafkaOptions)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--libs", type=Path, help="the broker's libraries, if they were fetched before")
    parser.add_argument("--build-dir", type=Path, default=real_kafka.ROOT / "build/release", help="where pubsub was built")
    options = parser.parse_args()
    libs = options.libs or (real_kafka.fetch_broker() if shutil.which("java") else None)
    if libs is None:
        print("kafka_options: skipped: Java and Maven are needed (Debian: openjdk-17-jre-headless maven)")
        sys.exit(77)
    os.environ["PUBSUB_COMMAND"] = str(options.build_dir.resolve() / "tools/pubsub/pubsub")
    with tempfile.TemporaryDirectory(prefix="kafka-options-", ignore_cleanup_errors=True) as folder:
        start_broker(libs, Path(folder))
        try:
            done = unittest.TextTestRunner(verbosity=2).run(make_tests())
        finally:
            broker.process.process.kill()
            broker.process.process.wait()
    sys.exit(0 if done.wasSuccessful() else 1)


if __name__ == "__main__":
    main()
