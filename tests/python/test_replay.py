# SPDX-License-Identifier: BSD-3-Clause
"""A Zeek log published through two relays arrives in Python equal to the log, field by field.

The log is read a second time here, by other means than the library's. PUBSUB_REPLAY_LOGS may name
further logs, separated by colons.
"""

import json
import os
import re
import subprocess
from decimal import Decimal
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest
from conftest import DEADLINE, ROOT

from libpubsub import Count, EnumValue, Port, Timespan, Timestamp
from libpubsub.zeek import RecordReader

OWN_LOG = "\n".join([
    "#separator \\x09", "#set_separator\t,", "#empty_field\t(empty)", "#unset_field\t-", "#path\tsample",
    "#fields\tts\tuid\tid.orig_h\tid.orig_p\tid.resp_h\tproto\tduration\tbytes\tdelta\tratio\tlocal\ttags\tnet\thops",
    "#types\ttime\tstring\taddr\tport\taddr\tenum\tinterval\tcount\tint\tdouble\tbool\tset[string]\tsubnet"
    "\tvector[count]",
    "1700000000.123456\tCa\t192.0.2.1\t80\t2001:db8::1\ttcp\t0.000001\t18446744073709551615\t-5\t0.1\tT\ta,b\t10.0.0.0/8\t1,2",
    "1700000000.999999\tCb\\x09x\t192.0.2.2\t53\t::1\tudp\t-1.5\t0\t5\t-2.5\tF\t(empty)\t2001:db8::/32\t(empty)",
    "0.000000\t-\t-\t-\t-\ticmp\t-\t-\t-\t-\t-\t-\t-\t-",
    "4102444800.000001\tключ\t198.51.100.7\t65535\tfe80::1\tunknown_transport\t86400.000000\t1\t0\t0.0\tT\tx\t0.0.0.0/0\t7",
    "#close\t2024-01-01-00-00-00", ""])


def nanoseconds(text):
    return int(Decimal(text) * 10**9)


def unescape(text):
    raw = re.sub(rb"\\x([0-9a-fA-F]{2})", lambda m: bytes([int(m[1], 16)]), text.encode())
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


SCALARS = {
    "time": lambda text: Timestamp(nanoseconds(text)),
    "interval": lambda text: Timespan(nanoseconds(text)),
    "string": unescape,
    "enum": EnumValue,
    "addr": ip_address,
    "subnet": ip_network,
    "count": lambda text: Count(int(text)),
    "int": int,
    "double": float,
    "bool": {"T": True, "F": False}.__getitem__,
}


def parse_value(text, kind, protocol):
    if text == "-":
        return None
    container = re.fullmatch(r"(set|vector)\[(\w+)\]", kind)
    if container:
        parts = [] if text == "(empty)" else text.split(",")
        members = [parse_value(part, container[2], protocol) for part in parts]
        return frozenset(members) if container[1] == "set" else tuple(members)
    if text == "(empty)":
        return ""
    if kind == "port":
        return Port(int(text), protocol if protocol in ("tcp", "udp", "icmp") else "unknown")
    return SCALARS[kind](text)


def read_log(path):
    """The log's path and its records as dictionaries."""
    names, kinds, name, records = [], [], "", []
    for line in path.read_text(encoding="utf-8", errors="surrogateescape").split("\n"):
        columns = line.split("\t")
        if columns[0] == "#path":
            name = columns[1]
        elif columns[0] == "#fields":
            names = columns[1:]
        elif columns[0] == "#types":
            kinds = columns[1:]
        elif line and not line.startswith("#"):
            protocol = dict(zip(names, columns)).get("proto")
            values = [parse_value(text, kind, protocol) for text, kind in zip(columns, kinds)]
            records.append(dict(zip(names, values)))
    return name, records


def logs():
    extra = filter(None, os.environ.get("PUBSUB_REPLAY_LOGS", "").split(":"))
    shipped = [ROOT / "bench/data/conn.log"]
    return [None, *[path for path in shipped if path.exists()], *map(Path, extra)]


@pytest.fixture
def relays(pubsub_command):
    """Two relays in processes of their own, the second a peer of the first: their ports."""
    processes, ports = [], []
    for _ in range(2):
        upstream = ["--peer", f"127.0.0.1:{ports[-1]}"] if ports else []
        process = subprocess.Popen([pubsub_command, "node", "--json", "--listen", "127.0.0.1:0", *upstream],
                                   text=True, stdout=subprocess.PIPE)
        processes.append(process)
        event = json.loads(process.stdout.readline())
        while event["event"] != "listening":
            event = json.loads(process.stdout.readline())
        ports.append(int(event["address"].rpartition(":")[2]))
    yield ports
    for process in processes:
        process.terminate()
    for process in processes:
        process.communicate(timeout=DEADLINE)


def type_of(value):
    return type(value), sorted(map(str, map(type, value))) if isinstance(value, (tuple, frozenset)) else None


@pytest.mark.parametrize("log", logs(), ids=lambda log: "own" if log is None else log.name)
def test_records_arrive_equal_to_the_log_field_by_field(log, endpoint, relays, pubsub_command, tmp_path):
    if log is None:
        log = tmp_path / "sample.log"
        log.write_text(OWN_LOG, encoding="utf-8")
    path, expected = read_log(log)
    subscriber = endpoint.make_subscriber("zeek/records/")
    endpoint.peer(f"tcp://127.0.0.1:{relays[0]}")
    sender = subprocess.Popen([pubsub_command, "pub", "--peer", f"127.0.0.1:{relays[1]}", "--zeek-log", str(log)],
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    reader = RecordReader()
    received = []
    while len(received) < len(expected):
        message = subscriber.get(DEADLINE)
        assert message is not None, f"only {len(received)} of {len(expected)} records came"
        assert message.topic == f"zeek/records/{path}"
        record = reader.feed(message)
        if record is not None:
            received.append(record.values)
    out, err = sender.communicate(timeout=DEADLINE)
    assert sender.returncode == 0, out + err
    assert reader.skipped == 0 and subscriber.get(0) is None
    for number, (came, wanted) in enumerate(zip(received, expected)):
        assert came == wanted, f"record {number}"
        for name, value in wanted.items():
            assert type_of(came[name]) == type_of(value), (number, name)
            if isinstance(value, (Timestamp, Timespan)):
                assert came[name].ns == value.ns
