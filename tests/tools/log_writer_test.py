# SPDX-License-Identifier: BSD-3-Clause
"""`pubsub log-writer`: records of logs into files, as a Zeek logger writes them."""

import json
import os
import pathlib
import re
import signal
import tempfile
import time
import unittest

from command import LIMIT_S, NO_JSON, CommandTest

OK, USAGE, LOSS = 0, 1, 3

HEADER = "\n".join([
    "#separator \\x09", "#set_separator\t,", "#empty_field\t(empty)", "#unset_field\t-", "#path\tconn",
    "#open\t2026-11-27-21-00-00",
    "#fields\tts\tuid\tid.orig_h\tid.orig_p\tproto\tduration\tshare\ttags",
    "#types\ttime\tstring\taddr\tport\tenum\tinterval\tdouble\tset[string]",
]) + "\n"
RECORDS = [
    "1700000000.000001\tC1\t192.0.2.1\t53\tudp\t0.250000\t0.5\ta,b",
    "1700000000.000002\tC\\x092 \\\\ ®\t2001:db8::1\t80\ttcp\t-\t100000.0\t(empty)",
    "1700000000.000003\t\\x2d\t192.0.2.3\t443\ttcp\t1.500000\t-\t-,\\x2c",
]
STAMP = r"\d{4}-\d\d-\d\d-\d\d-\d\d-\d\d"


def log_text(records):
    return HEADER + "".join(f"{x}\n" for x in records) + "#close\t2026-11-27-22-00-00\n"


def without_times(text):
    return re.sub(r"^#(open|close)\t.*\n", "", text, flags=re.M)


def event(topic, name, *args):
    """A line for `pub`: an event of Zeek."""
    def data(x):
        kind, content = ("count", x) if isinstance(x, int) else ("string", x) if isinstance(x, str) else x
        return {"@data-type": kind, "data": [data(y) for y in content] if kind == "vector" else content}
    return json.dumps({"type": "data-message", "topic": topic,
                       **data(("vector", [1, 1, ("vector", [name, ("vector", args)])]))})


class LogWriterTest(CommandTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.logs = self.folder / "logs"
        self.logs.mkdir()

    def writer(self, *options, **how):
        """One that listens; its address."""
        writer = self.start("log-writer", "--listen", "127.0.0.1:0", "--directory", self.logs, *options, **how)
        address = f"127.0.0.1:{writer.port()}"
        writer.wait_for_line("^writing logs to ")
        return writer, address

    def publish(self, address, records):
        log = self.folder / "conn.log"
        log.write_text(log_text(records), encoding="utf-8")
        code, _, err = self.run_command("pub", "--peer", address, "--zeek-log", log)
        self.assertEqual(code, OK, err)
        self.assertIn(f"sent {len(records)}, ", err)

    def stop(self, writer, status=OK):
        writer.child.send_signal(signal.SIGTERM)
        self.assertEqual(writer.finish(), status, writer.err)

    def names(self):
        return sorted(path.name for path in self.logs.iterdir())

    def text(self, name="conn.log"):
        return (self.logs / name).read_text(encoding="utf-8")

    def wait_until(self, holds):
        end = time.monotonic() + LIMIT_S
        while not holds():
            self.assertLess(time.monotonic(), end, f"it did not happen in time; there are {self.names()}")

    def test_a_file_is_the_one_that_its_records_were_read_from(self):
        writer, address = self.writer()
        self.publish(address, RECORDS * 1000)
        self.stop(writer)  # what is queued is written first
        self.assertEqual(self.names(), ["conn.log"])
        self.assertEqual(without_times(self.text()), without_times(log_text(RECORDS * 1000)))
        self.assertRegex(self.text(), rf"#path\tconn\n#open\t{STAMP}\n#fields\t")
        self.assertRegex(self.text(), rf"\n#close\t{STAMP}\n$")
        self.assertRegex(writer.err[-1], "^wrote 3,000 records to 1 file in ")

    def test_a_real_log_is_written_as_zeek_has_written_it(self):
        log = pathlib.Path(__file__).parents[2] / "bench/data/conn.log"
        writer, address = self.writer()
        code, _, err = self.run_command("pub", "--peer", address, "--zeek-log", log)
        self.assertEqual(code, OK, err)
        self.stop(writer)
        self.assertEqual(without_times(self.text()), without_times(log.read_text(encoding="utf-8")))

    def test_json_has_the_same_records(self):
        for times, first in (("epoch", 1700000000.000001), ("millis", 1700000000000), ("iso8601", "2023-11-14T22:13:20.000001Z")):
            writer, address = self.writer("--format", "json", "--json-timestamps", times, "--json")
            self.publish(address, RECORDS)
            self.stop(writer)
            records = [json.loads(line) for line in self.text().splitlines()]
            self.assertEqual(records[0], {"ts": first, "uid": "C1", "id.orig_h": "192.0.2.1", "id.orig_p": 53, "proto": "udp",
                                          "duration": 0.25, "share": 0.5, "tags": ["a", "b"]})
            self.assertEqual(records[1]["uid"], "C\t2 \\ ®")
            self.assertNotIn("duration", records[1])
            self.assertEqual(records[2]["tags"], [None, ","])
            totals = json.loads(writer.out[-1])
            self.assertEqual({key: totals[key] for key in ("records", "files", "lost", "unknown", "others", "misfits", "beyond_limits")},
                             {"records": 3, "files": 1, "lost": 0, "unknown": 0, "others": 0, "misfits": 0, "beyond_limits": 0})

    def test_unset_columns_are_null_where_that_is_asked_for(self):
        writer, address = self.writer("--format", "json", "--json-unset")
        self.publish(address, RECORDS)
        self.stop(writer)
        self.assertIn('"duration":null', self.text().splitlines()[1])

    def test_files_are_rotated_by_the_clock(self):
        writer, address = self.writer("--rotate", "1s")
        self.publish(address, RECORDS)
        self.wait_until(lambda: self.names() and "conn.log" not in self.names())
        self.publish(address, RECORDS)
        self.stop(writer)
        names = self.names()
        self.assertEqual(len(names), 2)
        for name in names:
            self.assertRegex(name, rf"^conn\.{STAMP}(\.2)?\.log$")
            self.assertEqual(without_times(self.text(name)), without_times(log_text(RECORDS)))
            self.assertIn("#close", self.text(name))

    def test_sighup_rotates_at_once(self):
        writer, address = self.writer()
        self.publish(address, RECORDS)
        self.wait_until(lambda: self.names() == ["conn.log"])
        writer.child.send_signal(signal.SIGHUP)
        self.wait_until(lambda: self.names() and "conn.log" not in self.names())
        rotated = self.names()[0]
        self.assertEqual(without_times(self.text(rotated)), without_times(log_text(RECORDS)))
        self.publish(address, RECORDS[:1])
        self.stop(writer)
        self.assertEqual(self.names(), [rotated, "conn.log"])
        self.assertEqual(without_times(self.text()), without_times(log_text(RECORDS[:1])))

    def test_a_file_that_is_there_is_kept(self):
        (self.logs / "conn.log").write_text("earlier", encoding="utf-8")
        writer, address = self.writer()
        self.publish(address, RECORDS)
        self.stop(writer)
        other, last = self.names()
        self.assertRegex(other, rf"^conn\.{STAMP}\.log$")
        self.assertEqual((self.text(other), last), ("earlier", "conn.log"))

    @unittest.skipIf(NO_JSON, "this build reads no JSON")
    def test_records_on_the_topics_of_zeeks_logs_are_written_and_chosen_by_their_columns(self):
        writer, address = self.writer("--where", "n > 5", "--json")
        topic = "zeek/logs/http"
        lines = [event(topic, "log_http", ("vector", [6])),  # its columns are not known yet
                 event(topic, "log_fields", "http", ("vector", [("vector", ["n", "count"])])),
                 *(event(topic, "log_http", ("vector", [n])) for n in (4, 5, 6, 7)),
                 event(topic, "log_fields", "../../outside", ("vector", [("vector", ["n", "count"])])),
                 event(topic, "log_../../outside", ("vector", [8])),
                 event(topic, "log_http", ("vector", [9]))]
        code, _, err = self.run_command("pub", "--peer", address, stdin="".join(f"{x}\n" for x in lines))
        self.assertEqual(code, OK, err)
        self.stop(writer)
        self.assertEqual(self.names(), ["%2e.%2f..%2foutside.log", "http.log"])
        self.assertRegex(self.text("http.log"), r"#types\tcount\n6\n7\n9\n#close")
        self.assertEqual(json.loads(writer.out[-1])["records"], 4)

    @unittest.skipIf(NO_JSON, "this build reads no JSON")
    def test_what_cannot_be_written_is_counted(self):
        writer, address = self.writer()
        topic = "zeek/logs/http"
        lines = [event(topic, "log_http", ("vector", [6])), event(topic, "other", 1),
                 event(topic, "log_fields", "http", ("vector", [("vector", ["n", "count"])])),
                 event(topic, "log_http", ("vector", ["text"])), event(topic, "log_http", ("vector", [1]))]
        code, _, err = self.run_command("pub", "--peer", address, stdin="".join(f"{x}\n" for x in lines))
        self.assertEqual(code, OK, err)
        self.stop(writer)
        said = "\n".join(writer.err)
        for sentence in ("1 records came before the columns of their log", "1 messages were no records of logs",
                         "1 records have a value that is not of its column's type; of the first, column 'n' of 'http' is 'count'",
                         "wrote 1 records to 1 file"):
            self.assertIn(sentence, said)

    def test_a_full_disk_ends_it_with_whole_lines(self):
        writer, address = self.writer(under=("sh", "-c", 'ulimit -f 16; exec "$@"', "sh"))
        log = self.folder / "conn.log"
        log.write_text(log_text(RECORDS * 1000), encoding="utf-8")
        self.start("pub", "--peer", address, "--zeek-log", log)
        self.assertEqual(writer.finish(), LOSS, writer.err)
        said = "\n".join(writer.err)
        self.assertIn(f"{self.logs}/conn.log: File too large", said)
        written = self.text().splitlines(keepends=True)
        self.assertEqual("".join(written[8:]), "".join(f"{x}\n" for x in RECORDS * 1000)[:len("".join(written[8:]))])
        self.assertTrue(written[-1].endswith("\n"))
        self.assertRegex(said, r"pubsub: [\d,]+ records could not be written\n")
        self.assertRegex(said, rf"wrote {len(written) - 8:,} records to 1 file")

    def test_what_cannot_work_is_refused_at_once(self):
        listen = ("log-writer", "--listen", "127.0.0.1:0")

        def refused(sentence, *arguments):
            code, _, err = self.run_command(*arguments)
            self.assertEqual(code, USAGE, err)
            self.assertIn(sentence, err)

        refused("log-writer needs at least one --listen or --peer", "log-writer")
        refused(f"{self.logs}/none: No such file or directory", *listen, "--directory", self.logs / "none")
        refused("--json-timestamps and --json-unset are for --format json", *listen, "--json-timestamps", "millis")
        refused("--rotate: a length of time is expected", *listen, "--rotate", "often")
        refused("--where: ", *listen, "--where", "n >")
        self.writer()
        refused(f"{self.logs}: another process writes logs there", *listen, "--directory", self.logs)


if __name__ == "__main__":
    unittest.main()
