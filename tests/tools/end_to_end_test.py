# SPDX-License-Identifier: BSD-3-Clause
"""Messages from pub through two relays to sub, each a process of its own."""

import json
import os
import signal
import subprocess
import tempfile
import unittest

from command import CONN_LOG, NO_JSON, CommandTest


def value(x):
    """A json::v1 value without its type names."""
    kind, content = x["@data-type"], x["data"]
    if kind in ("vector", "set"):
        return [value(y) for y in content]
    return None if kind == "none" else content


class EndToEnd(CommandTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def chain(self, *sub_arguments):
        """Starts sub and two relays; returns (sub, relays, the address to publish to)."""
        sub = self.start("sub", "--listen", "127.0.0.1:0", "--timeout", 40, *sub_arguments)
        first = self.start("node", "--listen", "127.0.0.1:0", "--peer", f"127.0.0.1:{sub.port()}")
        second = self.start("node", "--listen", "127.0.0.1:0", "--peer", f"127.0.0.1:{first.port()}", "--json")
        return sub, (first, second), f"127.0.0.1:{second.port()}"

    def test_a_log_arrives_typed_and_complete(self):
        sub, relays, address = self.chain("--topic", "zeek/records/", "--count", 4)
        log = self.write("conn.log", CONN_LOG)
        status, _, err = self.run_command("pub", "--peer", address, "--zeek-log", log)
        self.assertEqual(status, 0, err)
        self.assertIn("sent 3, column announcements 1, skipped 0", err)
        self.assertEqual(sub.finish(), 0)
        messages = [json.loads(line) for line in sub.out]
        self.assertEqual({x["topic"] for x in messages}, {"zeek/records/conn"})
        events = [value(x)[2] for x in messages]
        self.assertEqual(events[0][0], "log_fields")
        self.assertEqual(events[0][1][1][3], ["id.orig_p", "port"])
        self.assertEqual([x[0] for x in events[1:]], ["log_conn"] * 3)
        self.assertEqual(events[1][1][0], ["2023-11-14T22:13:20.000", "C1", "192.0.2.1", "53/udp", "udp", "250ms", ["a", "b"]])
        self.assertEqual(events[2][1][0], ["2023-11-14T22:13:20.000", "C2", "2001:db8::1", "80/tcp", "tcp", None, []])
        for relay in relays:
            relay.child.send_signal(signal.SIGTERM)
            self.assertEqual(relay.finish(), 0)
        closed = json.loads(relays[1].out[-1])
        self.assertEqual((closed["event"], closed["received"], closed["forwarded"]), ("closed", 4, 4))

    def test_a_condition_lets_through_what_fulfils_it_and_the_names_of_columns(self):
        sub, _, address = self.chain("--topic", "zeek/records/", "--count", 2, "--where", 'id.orig_p == 80/tcp && uid in "C"*')
        log = self.write("conn.log", CONN_LOG)
        status, _, err = self.run_command("pub", "--peer", address, "--zeek-log", log)
        self.assertEqual(status, 0, err)
        self.assertEqual(sub.finish(), 0)
        events = [value(json.loads(line))[2] for line in sub.out]
        self.assertEqual([x[0] for x in events], ["log_fields", "log_conn"])
        self.assertEqual(events[1][1][0][1:4], ["C2", "2001:db8::1", "80/tcp"])

    def test_bad_lines_are_reported_counted_and_passed_over(self):
        sub, _, address = self.chain("--topic", "zeek/", "--count", 4)
        lines = CONN_LOG.splitlines()
        lines.insert(8, "too\tshort")
        lines.insert(10, lines[7].replace("192.0.2.1", "192.0.2.999"))
        log = self.write("conn.log", "\n".join(lines))
        status, _, err = self.run_command("pub", "--peer", address, "--zeek-log", log)
        self.assertEqual(status, 0, err)
        self.assertIn(f"{log}:9: the record has 2 columns, the header 7", err)
        self.assertIn(f"{log}:11: column 'id.orig_h': '192.0.2.999' is not of type addr", err)
        self.assertIn("sent 3, column announcements 1, skipped 2 (invalid_data 2)", err)
        self.assertEqual(sub.finish(), 0)

    def test_a_followed_log_is_sent_as_it_grows(self):
        sub, _, address = self.chain("--topic", "zeek/", "--text")
        log = self.write("conn.log", CONN_LOG)
        pub = self.start("pub", "--peer", address, "--zeek-log", log, "--follow")
        sub.wait_for_line(r"\bC3\b")
        with open(log, "a", encoding="utf-8") as file:
            file.write(CONN_LOG.splitlines()[-1].replace("C3", "C4") + "\n")
        sub.wait_for_line(r"zeek/records/conn -> \(1, 1, \(log_conn, .*\bC4\b")
        pub.child.send_signal(signal.SIGINT)
        self.assertEqual(pub.finish(), 0)
        self.assertIn("sent 4", pub.err[-1])
        sub.child.send_signal(signal.SIGINT)
        self.assertEqual(sub.finish(), 0)

    def test_text_lines_travel_as_strings(self):
        sub, _, address = self.chain("--topic", "/test", "--count", 2, "--text")
        status, _, err = self.run_command("pub", "--peer", address, "--topic", "/test", "--text", stdin="one\ntwo\n")
        self.assertEqual(status, 0, err)
        self.assertEqual(sub.finish(), 0)
        self.assertEqual(sub.out, ["/test -> one", "/test -> two"])

    def test_pub_stops_while_it_waits_for_input(self):
        sub, _, address = self.chain("--topic", "/test", "--text")
        pub = self.start("pub", "--peer", address, "--topic", "/test", "--text", stdin=subprocess.PIPE)
        self.addCleanup(pub.child.stdin.close)
        pub.child.stdin.write("one\n")
        pub.child.stdin.flush()
        sub.wait_for_line("/test -> one")
        pub.child.send_signal(signal.SIGTERM)
        self.assertEqual(pub.finish(), 0)

    @unittest.skipIf(NO_JSON, "this build reads no JSON")
    def test_what_sub_prints_pub_can_send_again(self):
        messages = ['{"type":"data-message","topic":"/a/b","@data-type":"vector","data":'
                    '[{"@data-type":"count","data":1},{"@data-type":"port","data":"53/udp"}]}',
                    '{"type":"data-message","topic":"/a/c","@data-type":"timespan","data":"3ms"}']
        sub, _, address = self.chain("--topic", "/a", "--count", 2)
        status, _, err = self.run_command("pub", "--peer", address, stdin="\n".join(messages[:1] + ["nonsense"] + messages[1:]))
        self.assertEqual(status, 0, err)
        self.assertIn("standard input:2: ", err)
        self.assertIn("sent 2, skipped 1 (invalid_json 1)", err)
        self.assertEqual(sub.finish(), 0)
        self.assertEqual(sub.out, messages)

    @unittest.skipIf(NO_JSON, "this build reads no JSON")
    def test_events_of_a_dump_go_to_topics_of_their_own(self):
        sub, _, address = self.chain("--topic", "zeek/events/dns", "--count", 1, "--text")
        dump = self.write("events.jsonl", '{"ts":1.5,"event":"zeek_init"}\n'
                          '{"ts":2.5,"event":"dns_end","args":{"c":{"orig_p":{"port":53,"proto":"udp"}},"d":"1.5 secs"}}\n')
        status, _, err = self.run_command("pub", "--peer", address, "--zeek-events", dump)
        self.assertEqual(status, 0, err)
        self.assertIn("sent 1, wanted by nobody 1, skipped 0", err)
        self.assertEqual(sub.finish(), 0)
        self.assertEqual(sub.out, ["zeek/events/dns_end -> (1, 1, (dns_end, ({orig_p -> 53/udp}, 1500000000ns), ((1, 2500000000ns))))"])

    @unittest.skipIf(NO_JSON, "this build reads no JSON")
    def test_a_json_log_is_recognised(self):
        sub, _, address = self.chain("--topic", "zeek/", "--count", 2, "--text")
        log = self.write("dns.log", '{"ts":1.000000001,"id.orig_h":"::1","id.orig_p":53,"proto":"udp"}\n')
        status, _, err = self.run_command("pub", "--peer", address, "--zeek-log", log)
        self.assertEqual(status, 0, err)
        self.assertEqual(sub.finish(), 0)
        self.assertEqual(sub.out[1], "zeek/records/dns -> (1, 1, (log_dns, ((1000000001ns, ::1, 53/udp, udp))))")

    def test_ping_goes_through_relays(self):
        echo = self.start("ping", "--listen", "127.0.0.1:0", "--echo")
        relay = self.start("node", "--listen", "127.0.0.1:0", "--peer", f"127.0.0.1:{echo.port()}", "--io-threads", 2)
        status, out, err = self.run_command("ping", "--peer", f"127.0.0.1:{relay.port()}", "--count", 50)
        self.assertEqual(status, 0, err)
        self.assertRegex(out, r"^50 round trips: p50 \d+\.\d us, p90 \d+\.\d us, p99 \d+\.\d us")


if __name__ == "__main__":
    unittest.main()
