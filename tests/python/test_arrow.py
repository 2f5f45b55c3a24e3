# SPDX-License-Identifier: BSD-3-Clause
"""Log records as Arrow tables, and as what `pubsub sub --format` writes."""

import csv
import ipaddress
import os
import re
import subprocess
import sys
import threading

import pytest
from conftest import DEADLINE

import libpubsub
from libpubsub import Count, EnumValue, Port, Timespan, Timestamp
from libpubsub.zeek import Event, Records

pyarrow = pytest.importorskip("pyarrow", reason="tables of Arrow need pyarrow")
pytest.importorskip("pyarrow.parquet")

FIELDS = [("ts", "time"), ("uid", "string"), ("id.orig_h", "addr"), ("id.orig_p", "port"), ("proto", "enum"),
          ("duration", "interval"), ("orig_bytes", "count"), ("delta", "int"), ("share", "double"), ("local", "bool"),
          ("net", "subnet"), ("tags", "set[string]"), ("ports", "vector[port]")]
VALUES = (Timestamp(1_700_000_000_123_456_789), "C1", ipaddress.ip_address("192.0.2.1"), Port(53, "udp"), EnumValue("udp"),
          Timespan(1_500_000_001), Count(2**64 - 1), -5, 0.25, True, ipaddress.ip_network("192.0.2.0/24"),
          frozenset({"a"}), (Port(1, "tcp"), None))
NOTHING = (None,) * len(FIELDS)
TOPIC = "zeek/records/"


def announce(endpoint, path, fields=FIELDS):
    endpoint.publish(TOPIC + path, Event("log_fields", path, [list(each) for each in fields]))


def send(endpoint, path, *records):
    for values in records:
        endpoint.publish(TOPIC + path, Event("log_" + path, values))


@pytest.fixture
def subscriber(endpoint):
    with endpoint.make_subscriber(TOPIC) as result:
        yield result


def test_records_on_the_topics_of_zeeks_logs_make_the_same_table(endpoint):
    def table_of(topic):
        with endpoint.make_subscriber(topic) as subscriber:
            endpoint.publish(topic, Event("log_fields", "conn", [list(each) for each in FIELDS]))
            endpoint.publish(topic, Event("log_conn", VALUES))
            return libpubsub.to_arrow(subscriber, max_rows=1, timeout=DEADLINE)

    table = table_of("zeek/logs/conn")
    assert table.num_rows == 1
    assert table.equals(table_of("zeek/records/conn"), check_metadata=True)


def test_a_table_has_the_types_of_the_log(endpoint, subscriber):
    announce(endpoint, "conn")
    send(endpoint, "conn", VALUES, NOTHING)
    table = libpubsub.to_arrow(subscriber, max_rows=2, timeout=DEADLINE)
    assert [str(each) for each in table.schema.types] == [
        "timestamp[ns, tz=UTC]", "string", "string", "uint16", "string", "duration[ns]", "uint64", "int64", "double", "bool",
        "string", "list<item: string>", "list<item: uint16>"]
    assert table.column_names == [name for name, _ in FIELDS]
    assert table.schema.field("id.orig_h").metadata == {b"zeek.type": b"addr"}
    assert table.schema.metadata == {b"zeek.path": b"conn", b"pubsub.skipped": b"0"}
    first = {name: column[0] for name, column in zip(table.column_names, table.columns)}
    assert first["ts"].value == 1_700_000_000_123_456_789
    assert first["duration"].value == 1_500_000_001
    assert {name: first[name].as_py() for name in table.column_names if name not in ("ts", "duration")} == {
        "uid": "C1", "id.orig_h": "192.0.2.1", "id.orig_p": 53, "proto": "udp", "orig_bytes": 2**64 - 1, "delta": -5,
        "share": 0.25, "local": True, "net": "192.0.2.0/24", "tags": ["a"], "ports": [1, None]}
    assert all(column[1].as_py() is None for column in table.columns)
    assert table.schema.field("ts").type.tz == "UTC"


def test_a_table_is_a_data_frame_in_one_line(endpoint, subscriber):
    pandas = pytest.importorskip("pandas")
    announce(endpoint, "conn")
    send(endpoint, "conn", VALUES)
    frame = libpubsub.to_arrow(subscriber, max_rows=1).to_pandas()
    assert frame["ts"][0] == pandas.Timestamp("2023-11-14T22:13:20.123456789Z")
    assert frame["duration"][0] == pandas.Timedelta(1_500_000_001, "ns")


def test_it_ends_at_the_timeout_with_what_has_come_or_where_the_endpoint_is_closed(endpoint, subscriber):
    announce(endpoint, "conn")
    send(endpoint, "conn", VALUES, VALUES)
    assert libpubsub.to_arrow(subscriber, timeout=0.05).num_rows == 2
    assert libpubsub.to_arrow(subscriber, timeout=0.05).num_columns == 0
    announce(endpoint, "conn")
    send(endpoint, "conn", VALUES)
    endpoint.close()
    assert libpubsub.to_arrow(subscriber, max_rows=100).num_rows == 1


def test_what_never_ends_is_refused(subscriber):
    with pytest.raises(libpubsub.InvalidArgument, match="max_rows or timeout"):
        libpubsub.to_arrow(subscriber)
    with pytest.raises(libpubsub.InvalidArgument, match="at least one row"):
        libpubsub.to_arrow(subscriber, max_rows=0)


def test_records_of_several_logs_need_a_path(endpoint, subscriber):
    for path, n in (("conn", 3), ("dns", 2)):
        announce(endpoint, path, [("n", "count")])
        send(endpoint, path, *[(Count(each),) for each in range(n)])
    messages = subscriber.get_batch(100, DEADLINE)
    with pytest.raises(libpubsub.InvalidArgument, match="'dns' among those of 'conn': path= says"):
        libpubsub.to_arrow(messages)
    assert libpubsub.to_arrow(messages, path="dns").column("n").to_pylist() == [0, 1]
    assert libpubsub.to_arrow(messages, path="conn", max_rows=2).column("n").to_pylist() == [0, 1]


def test_columns_that_come_and_go_are_null_elsewhere(endpoint, subscriber):
    announce(endpoint, "conn", [("a", "count"), ("b", "count")])
    send(endpoint, "conn", (Count(1), Count(2)))
    announce(endpoint, "conn", [("b", "count"), ("c", "string")])
    send(endpoint, "conn", (Count(3), "x"))
    table = libpubsub.to_arrow(subscriber, max_rows=2, timeout=DEADLINE)
    assert table.to_pylist() == [{"a": 1, "b": 2, "c": None}, {"a": None, "b": 3, "c": "x"}]
    assert [each.num_rows for each in libpubsub.record_batches([])] == []


def test_records_before_their_columns_are_counted(endpoint, subscriber):
    send(endpoint, "conn", VALUES)
    announce(endpoint, "conn")
    send(endpoint, "conn", VALUES)
    table = libpubsub.to_arrow(subscriber, max_rows=1, timeout=DEADLINE)
    assert table.num_rows == 1
    assert table.schema.metadata[b"pubsub.skipped"] == b"1"


def test_batches_come_as_they_are_full(endpoint, subscriber):
    announce(endpoint, "conn", [("n", "count")])
    send(endpoint, "conn", *[(Count(each),) for each in range(10)])
    with Records(subscriber) as records:
        batches = libpubsub.record_batches(records, rows=4, timeout=0.05)
        assert [each.column(0).to_pylist() for each in batches] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


@pytest.mark.parametrize("kind, value", [
    ("count", "text"), ("count", -1), ("count", True), ("int", 2**63), ("bool", Count(1)), ("time", 5), ("interval", "1s"),
    ("port", 80), ("set[addr]", 5), ("vector[count]", ("x",)), ("double", EnumValue("x"))])
def test_a_value_that_is_not_of_its_type_is_an_error_with_its_column(endpoint, subscriber, kind, value):
    announce(endpoint, "conn", [("c", kind)])
    send(endpoint, "conn", (Count(value) if kind == "int" else value,))
    with pytest.raises(libpubsub.DecodeError, match=f"column 'c' of 'conn' is {re.escape(kind)}"):
        libpubsub.to_arrow(subscriber, max_rows=1, timeout=DEADLINE)


def test_bytes_that_are_no_text_are_readable(endpoint, subscriber):
    announce(endpoint, "conn", [("s", "string"), ("x", "any")])
    send(endpoint, "conn", (b"a\xff", (1, 2)))
    row, = libpubsub.to_arrow(subscriber, max_rows=1, timeout=DEADLINE).to_pylist()
    assert row["s"] == "a\\xff"


def test_without_pyarrow_it_says_how_to_get_it(endpoint, subscriber, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(libpubsub.NotSupported, match=r"pip install 'libpubsub\[arrow\]'"):
        libpubsub.to_arrow(subscriber, max_rows=1)


# -- pubsub sub --format ---------------------------------------------------------------------------

@pytest.fixture
def run_sub(endpoint, pubsub_command):
    """Runs `pubsub sub`; returns status, stdout and stderr after what `publish` has published."""
    port = endpoint.listen("tcp://127.0.0.1:0")

    def run(publish, *options, env=None):
        child = subprocess.Popen(
            [pubsub_command, "sub", "--peer", f"127.0.0.1:{port}", "--topic", TOPIC, "--timeout", str(DEADLINE), *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
        try:
            assert endpoint.wait_for_subscribers(TOPIC + "conn", 1, timeout=DEADLINE)
            publish()
            out, err = child.communicate(timeout=2 * DEADLINE)
            return child.returncode, out, err.decode()
        finally:
            child.kill()
            child.wait()
    return run


def publish_some(endpoint, n):
    def publish():
        endpoint.publish(TOPIC + "conn", "no record")
        announce(endpoint, "conn")
        send(endpoint, "conn", *[VALUES] * n)
    return publish


def test_sub_writes_csv(endpoint, run_sub):
    status, out, err = run_sub(publish_some(endpoint, 2), "--format", "csv", "--count", "2")
    assert (status, err) == (0, "pubsub: 1 messages were no records of logs\n")
    rows = list(csv.DictReader(out.decode().splitlines()))
    assert len(rows) == 2
    assert rows[1]["ts"] == "2023-11-14T22:13:20.123456789Z"
    assert rows[1]["ports"] == "1,"


def test_sub_ends_where_a_record_does_not_fit_into_the_table(endpoint, run_sub):
    def publish():
        publish_some(endpoint, 1)()
        announce(endpoint, "dns", [("n", "count")])
        send(endpoint, "dns", (Count(1),))
    status, out, err = run_sub(publish, "--format", "csv")
    assert status == 3
    assert "records of conn and of dns do not fit into one table" in err
    assert len(out.splitlines()) == 2


def test_a_file_is_complete_where_sub_ends_so(endpoint, run_sub, tmp_path):
    def publish():
        publish_some(endpoint, 3)()
        announce(endpoint, "conn", FIELDS[:1])
        send(endpoint, "conn", VALUES[:1])
    file = tmp_path / "conn.parquet"
    status, _, err = run_sub(publish, "--format", "parquet", "--output", str(file))
    assert status == 3
    assert "the columns of conn have changed" in err
    assert pyarrow.parquet.read_table(file).num_rows == 3


def test_sub_writes_parquet(endpoint, run_sub, tmp_path):
    file = tmp_path / "it's a file.parquet"
    status, out, err = run_sub(publish_some(endpoint, 5), "--format", "parquet", "--output", str(file), "--count", "5")
    assert (status, out, err) == (0, b"", "pubsub: 1 messages were no records of logs\n")
    table = pyarrow.parquet.read_table(file)
    assert table.num_rows == 5
    assert table.column("ts")[4].value == 1_700_000_000_123_456_789


def test_sub_writes_a_stream_of_arrow(endpoint, run_sub):
    status, out, err = run_sub(publish_some(endpoint, 5), "--format", "arrow", "--count", "5")
    assert (status, err) == (0, "pubsub: 1 messages were no records of logs\n")
    assert pyarrow.ipc.open_stream(out).read_all().num_rows == 5


def test_sub_needs_a_file_for_parquet(pubsub_command):
    done = subprocess.run([pubsub_command, "sub", "--listen", "127.0.0.1:0", "--format", "parquet"], capture_output=True,
                          text=True, timeout=DEADLINE, check=False)
    assert done.returncode == 1
    assert "--format parquet needs --output FILE" in done.stderr


def test_sub_ends_where_no_python_can_write_the_file(endpoint, run_sub, tmp_path):
    ended = threading.Event()

    def publish():
        def go_on():
            while not ended.wait(0.01):
                publish_some(endpoint, 1)()
        threading.Thread(target=go_on).start()
    try:
        status, _, err = run_sub(publish, "--format", "parquet", "--output", str(tmp_path / "x"),
                                 env={**os.environ, "PUBSUB_PYTHON": "/nonexistent/python"})
    finally:
        ended.set()
    assert status == 1
    assert "/nonexistent/python" in err
