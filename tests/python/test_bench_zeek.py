# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark of Zeek clusters, its rows in Python above all: they lose nothing, do what they say, and name what is missing."""

import ipaddress
import json
import re
import subprocess
import sys

import pytest
from conftest import ROOT

import libpubsub
from libpubsub import Count, EnumValue, Port, Timespan, Timestamp, zeek
from libpubsub.bench import zeek as bench

EVENTS = 3000
ROWS = {
    "python": ["libpubsub, undecoded", "libpubsub, decoded", "libpubsub, Events", "libpubsub, Events, async for", "pyzmq, decoded"],
    "zmq": ["bare libzmq", "libpubsub"],
    "zmq-send": ["bare libzmq", "libpubsub"],
}
OURS = {"python": "libpubsub, Events"}
MEMBERS = ["group", "who", "status", "ours_to_it", "msgs_per_s", "cpu_us", "published", "delivered", "dropped"]


@pytest.fixture
def run(pubsub_command, python, tmp_path):
    """Runs a group of the benchmark; what it printed and what it wrote."""
    def start(group, rounds, **options):
        target = tmp_path / "zeek.json"
        done = subprocess.run(
            [pubsub_command, "bench", "zeek", "--only", group, "--events", str(EVENTS), "--rounds", str(rounds), "--python", python,
             "--input", ROOT / "bench/data/conn.log", "--json", target], capture_output=True, text=True, timeout=110, **options)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout, json.loads(target.read_text())
    return start


@pytest.mark.parametrize("group", ROWS)
def test_every_row_is_measured_without_loss_and_written_as_it_is_shown(run, group):
    shown, written = run(group, 2)
    assert list(written) == ["schema", "benchmark", "machine", "params", "results"]
    assert (written["schema"], written["benchmark"]) == (1, "zeek")
    assert (written["params"]["events"], written["params"]["rounds"], written["params"]["load"] >= 0) == (EVENTS, 2, True)
    results = {each["who"]: each for each in written["results"]}
    assert [*results] == ROWS[group]
    ours = results[OURS.get(group, "libpubsub")]
    for who, result in results.items():
        assert list(result) == MEMBERS
        assert (result["group"], result["status"]) == (group, "measured")
        assert (result["published"], result["delivered"], result["dropped"]) == (2 * EVENTS, 2 * EVENTS, 0)
        for figure, least in ((result["msgs_per_s"], 1), (result["cpu_us"], 0)):  # which the system counts in steps of 10 ms
            low, high = sorted(figure["samples"])
            assert least <= figure["min"] == low <= figure["median"] <= figure["max"] == high
        ratios = [a / b for a, b in zip(ours["msgs_per_s"]["samples"], result["msgs_per_s"]["samples"])]
        assert result["ours_to_it"] == pytest.approx(sum(ratios) / 2, rel=1e-4)
        line, = re.findall(rf"^  {re.escape(who)} {{2,}}(\d.*)$", shown, re.M)
        rate, _, _, _, ratio, lost = line.split()
        assert (float(rate), lost) == (pytest.approx(result["msgs_per_s"]["median"], abs=1), "0")
        assert float(ratio) == pytest.approx(result["ours_to_it"], abs=0.006)


def test_a_row_says_what_is_not_installed(run, tmp_path, monkeypatch):
    (tmp_path / "zmq.py").write_text("raise ModuleNotFoundError(name='zmq')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    shown, written = run("python", 1)
    row = written["results"][-1]
    assert (row["who"], row["status"], row["ours_to_it"]) == ("pyzmq, decoded", "not installed: pyzmq", None)
    assert row["msgs_per_s"]["samples"] == []
    assert re.search(r"^  pyzmq, decoded +not installed: pyzmq$", shown, re.M)
    assert {each["status"] for each in written["results"][:-1]} == {"measured"}


def test_the_decoder_beside_us_reads_every_kind_of_value():
    address, network = ipaddress.ip_address("192.0.2.1"), ipaddress.ip_network("2001:db8::/32")
    value = (None, True, Count(2**63), -5, 2.5, "text", address, ipaddress.ip_address("::1"), network,
             ipaddress.ip_network("10.0.0.0/8"), EnumValue("E"), frozenset({1, 2}), ("x" * 200, ()))
    encoded = libpubsub.encode(value)
    assert bench.decode(encoded) == ([*value[:-1], ["x" * 200, []]], len(encoded))
    table = libpubsub.encode([{1: "a"}, Port(80, "tcp"), Timestamp(1_500_000_000), Timespan(-1_500_000_000)])
    assert bench.decode(table)[0] == [{1: "a"}, (80, 1), 1.5, -1.5]


def test_what_is_sent_to_a_server_is_an_event_with_the_columns_of_a_connection():
    event = zeek.Event.from_data(libpubsub.from_json(json.dumps(bench.EVENT)))
    assert event.name == "log_conn"
    record, = event.args
    fields, = re.findall(r"^#fields\t(.*)$", (ROOT / "bench/data/conn.log").read_text(), re.M)
    assert len(record) == len(fields.split("\t"))


@pytest.mark.parametrize("role", ["source", "sink"])
def test_a_client_with_websockets_receives_and_sends_all_events(pubsub_command, role):
    pytest.importorskip("websockets", reason="websockets is optional: its rows of the benchmark then say so")
    part = [pubsub_command, "bench", "zeek-part", "--role", role, "--way", "websocket", "--events", str(EVENTS), "--input",
            ROOT / "bench/data/conn.log"]
    with subprocess.Popen(part, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        port, = re.findall(r"port=(\d+)", server.stdout.readline())
        client = [sys.executable, "-m", "libpubsub.bench.zeek", "websockets", f"ws://127.0.0.1:{port}", "--events", str(EVENTS)]
        done = subprocess.run([*client, *["--send"] * (role == "sink")], capture_output=True, text=True, timeout=60,
                              stdin=subprocess.DEVNULL)
        assert re.fullmatch(rf"done events={EVENTS} seconds=\S+ cpu=\S+\n", done.stdout), done.stdout + done.stderr
        assert f"done events={EVENTS} " in server.stdout.readline()
        server.stdin.close()


@pytest.mark.parametrize("arguments", [["somebody", "ws://a", "--events", "1"], ["events", "zeek+zmq://a"], []])
def test_wrong_options_are_explained(arguments, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["zeek", *arguments])
    with pytest.raises(SystemExit) as ended:
        bench.main()
    assert ended.value.code == 2
    assert "python -m libpubsub.bench.zeek: error: " in capsys.readouterr().err
