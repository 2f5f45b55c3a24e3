# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark of the package: it loses nothing, names what is not installed, and its ratios are right."""

import json
import subprocess
import sys

import pytest

from libpubsub.bench import __main__ as bench
from libpubsub.bench import records, report
from libpubsub.bench.libraries import LIBRARIES

MEMBERS = ["figure", "who", "version", "status", "ours_to_it", "msgs_per_s", "published", "delivered", "dropped", "reordered"]
SHORT = ["--short", "--messages", "2000", "--duration", "0.2"]


def run(*command):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=100)


def sample(rate, **figures):
    return {"rates": {"iterate": rate}, "published": 10, "delivered": 10, "dropped": 0, "reordered": 0, **figures}


def test_every_figure_of_ours_is_measured_without_loss(python, tmp_path):
    target = tmp_path / "bench.json"
    done = run(python, "-m", "libpubsub.bench", *SHORT, "--only", "", "--json", target)
    assert done.returncode == 0, done.stdout + done.stderr
    written = json.loads(target.read_text())
    assert [written[key] for key in ("schema", "benchmark")] == [1, "python"]
    assert list(written) == ["schema", "benchmark", "machine", "params", "results"]
    assert [x["figure"] for x in written["results"]] == ["publish", "iterate", "records", "stream"]
    for result in written["results"]:
        assert list(result) == MEMBERS
        assert (result["who"], result["status"], result["ours_to_it"]) == ("libpubsub", "measured", 1)
        assert result["published"] == result["delivered"] > 0 and result["dropped"] == result["reordered"] == 0
        assert result["msgs_per_s"]["samples"] == [result["msgs_per_s"]["median"]] and result["msgs_per_s"]["min"] > 0


@pytest.mark.parametrize("library", LIBRARIES[1:], ids=lambda x: x.name)
def test_other_libraries_lose_nothing_or_are_said_to_be_missing(library, tmp_path):
    target = tmp_path / "bench.json"
    assert bench.main([*SHORT, "--only", library.name, "--json", str(target)]) == 0
    mine = [x for x in json.loads(target.read_text())["results"] if x["who"] == library.name]
    assert [x["figure"] for x in mine] == list(library.figures)
    for result in mine:
        assert result["status"] == (library.missing() or "measured")
        assert (result["published"], result["dropped"], result["reordered"]) == (result["delivered"], 0, 0)
        assert (result["msgs_per_s"] is None) == (library.missing() is not None)


def test_what_is_not_installed_is_named(python):
    code = "import sys; sys.modules['zmq'] = None\nfrom libpubsub.bench.__main__ import main\nsys.exit(main(sys.argv[1:]))"
    done = run(python, "-c", code, *SHORT, "--figures", "iterate", "--only", "pyzmq")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "  pyzmq                      not installed: pyzmq\n" in done.stdout


def test_ratios_are_medians_of_the_rounds():
    ours, zmq = LIBRARIES[0].name, LIBRARIES[1].name
    results = report.make_results({ours: [sample(10), sample(10), sample(90)], zmq: [sample(5), sample(10), sample(10)]})
    found = {(x["figure"], x["who"]): x for x in results}
    assert found["iterate", ours]["ours_to_it"] == 1
    assert found["iterate", zmq]["ours_to_it"] == 2
    assert found["iterate", ours]["msgs_per_s"] == {"median": 10, "min": 10, "max": 90, "samples": [10, 10, 90]}
    assert found["publish", zmq]["msgs_per_s"] is None


@pytest.mark.parametrize("outcome, status", [
    (sample(1), 0), (sample(1, dropped=2), 3), (sample(1, reordered=1), 3), ({"failed": "did not come to its end"}, 3)])
def test_losing_a_message_or_failing_is_status_3(monkeypatch, outcome, status):
    monkeypatch.setattr(bench, "measure", lambda *_: outcome)
    assert bench.main(["--rounds", "1", "--figures", "iterate", "--only", ""]) == status


@pytest.mark.parametrize("arguments", [["--figures", "beauty"], ["--only", "carrier pigeons"], ["--payload", "7"],
                                       ["--rounds", "0"], ["--duration", "0"], ["--frobnicate"]])
def test_wrong_options_are_status_1(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        bench.main(arguments)
    assert ended.value.code == 1
    assert "libpubsub.bench: " in capsys.readouterr().err


def test_a_file_that_cannot_be_written_is_named(monkeypatch, capsys):
    monkeypatch.setattr(bench, "measure", lambda *_: sample(1))
    assert bench.main(["--rounds", "1", "--only", "", "--figures", "iterate", "--json", "/no/such/x.json"]) == 1
    assert "/no/such/x.json: No such file" in capsys.readouterr().err


@pytest.mark.parametrize("module, codec", [("msgspec", records.with_msgspec), ("msgpack", records.with_msgpack)])
def test_typed_peers_get_the_same_fields_back(module, codec):
    pytest.importorskip(module, reason=f"{module} is optional: its row of the benchmark then says so")
    encode, decode = codec()
    plain = records.to_plain(records.make_record(12345))
    back = decode(encode(plain))
    fields = list(back) if isinstance(back, tuple) else [getattr(back, name) for name in back.__struct_fields__]
    assert fields[:19] == plain[:19] and not fields[19]
    assert records.number_of(fields) == 12345


def test_the_parts_by_themselves_are_measured(python):
    done = run(python, "-m", "libpubsub.bench.alone", "--messages", "500", "--runs", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("msgs/s") == 9


def test_the_command_runs_the_benchmark_of_the_python_it_is_given(pubsub_command, python, tmp_path):
    target = tmp_path / "bench.json"
    done = run(pubsub_command, "bench", "python", "--python", python, "--short", "--duration", "0.2", "--figures", "iterate",
               "--only", "pyzmq", "--json", target)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "iterate small messages" in done.stdout
    assert json.loads(target.read_text())["params"]["duration"] == 0.2
