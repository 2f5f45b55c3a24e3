# SPDX-License-Identifier: BSD-3-Clause
"""The package itself: version, stubs, types, the example of the README, the plot."""

import importlib.util
import json
import re
import shutil
import subprocess
import sys

import pytest
from conftest import DEADLINE, ROOT

import libpubsub


def run(*command, cwd=None):
    result = subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True, timeout=100, cwd=cwd)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def needs(module):
    return pytest.mark.skipif(importlib.util.find_spec(module) is None, reason=f"{module} is not installed")


def test_the_version_is_that_of_the_project():
    text = (ROOT / "CMakeLists.txt").read_text()
    assert libpubsub.__version__ == re.search(r"VERSION (\S+) LANGUAGES", text)[1]


def test_every_exported_name_exists_and_has_a_docstring():
    for name in libpubsub.__all__:
        assert getattr(libpubsub, name).__doc__, name


@needs("pybind11_stubgen")
def test_the_stubs_are_up_to_date():
    run(ROOT / "bindings/python/generate_stubs", "--check")


@needs("mypy")
def test_the_package_and_a_program_using_it_pass_mypy_strict(tmp_path):
    shutil.copytree(ROOT / "bindings/python/libpubsub", tmp_path / "libpubsub")
    program = tmp_path / "program.py"
    program.write_text("import libpubsub\n"
                       "with libpubsub.Endpoint() as e, e.make_subscriber('t') as s:\n"
                       "    reveal_type(e.publish('t', 1))\n"
                       "    for m in s:\n"
                       "        reveal_type(m.topic)\n"
                       "        memoryview(m)\n"
                       "    reveal_type(s.get(1.0))\n")
    out = run("-m", "mypy", "--strict", "--config-file=", "libpubsub", "program.py", cwd=tmp_path)
    revealed = re.findall(r'Revealed type is "(.*?)"', out)
    assert [text.replace("builtins.", "") for text in revealed] == [
        "libpubsub.values.PublishResult", "str", "libpubsub._core.Message | None"]


def test_the_example_of_the_readme_runs_and_ends():
    assert "zeek/conn (Timestamp(" in run(ROOT / "docs/examples/quick/quick.py")


@needs("matplotlib")
def test_the_plot_of_a_chain_result_is_a_picture(tmp_path):
    results = [{"relays": n, "payload_bytes": 100, "published": 1, "delivered": 1, "dropped": 0,
                "duplicated": 0, "reordered": 0,
                "msgs_per_s": {"median": m, "min": m * 0.9, "max": m * 1.1, "samples": [m]}}
               for n, m in ((0, 2.1e6), (1, 1.6e6), (2, 1.3e6), (4, 0.8e6))]
    source, target = tmp_path / "r.json", tmp_path / "r.png"
    source.write_text(json.dumps({"schema": 1, "benchmark": "chain", "machine": {}, "params": {},
                                  "results": results}))
    run("-m", "libpubsub.plot", source, target)
    assert target.read_bytes().startswith(b"\x89PNG")
    failed = subprocess.run([sys.executable, "-m", "libpubsub.plot", tmp_path / "no.json", target],
                            capture_output=True, text=True, timeout=DEADLINE)
    assert failed.returncode == 1 and "no.json" in failed.stderr and "Traceback" not in failed.stderr


@needs("matplotlib")
def test_the_plot_of_a_comparison_is_a_picture(tmp_path):
    def row(setup, relays, who, role, median, status="measured"):
        return {"setup": setup, "messages": "fresh", "relays": relays, "who": who, "usage": "", "role": role,
                "version": "", "status": status, "ratio_to_limit": median / 4e6 if median else None, "ours_to_it": None,
                "payload_bytes": 100, "msgs_per_s": {"median": median, "min": median * 0.9, "max": median * 1.1}}
    results = [row("local", 0, "bare ring", "limit", 4e6), row("local", 0, "libpubsub", "ours", 5e6),
               row("chain", 1, "bare TCP copy", "limit", 4e6), row("chain", 1, "libpubsub", "ours", 3e6),
               row("chain", 1, "NATS", "peer", 0, status="not installed")]
    source, target = tmp_path / "r.json", tmp_path / "r.png"
    source.write_text(json.dumps({"schema": 1, "benchmark": "compare", "results": results}))
    run("-m", "libpubsub.plot", source, target)
    assert target.read_bytes().startswith(b"\x89PNG")
    source.write_text(json.dumps({"schema": 1, "benchmark": "compare", "results": []}))
    failed = subprocess.run([sys.executable, "-m", "libpubsub.plot", source, target],
                            capture_output=True, text=True, timeout=DEADLINE)
    assert failed.returncode == 1 and "no results of `pubsub bench compare --json`" in failed.stderr


def check_plot(folder, benchmark, results, nothing_to_show, complaint):
    """A picture of the results; an error where there is nothing to show."""
    source, target = folder / "r.json", folder / "r.png"
    source.write_text(json.dumps({"schema": 1, "benchmark": benchmark, "results": results}))
    run("-m", "libpubsub.plot", source, target)
    assert target.read_bytes().startswith(b"\x89PNG")
    source.write_text(json.dumps({"schema": 1, "benchmark": benchmark, "results": nothing_to_show}))
    failed = subprocess.run([sys.executable, "-m", "libpubsub.plot", source, target],
                            capture_output=True, text=True, timeout=DEADLINE)
    assert failed.returncode == 1 and complaint in failed.stderr


@needs("matplotlib")
def test_the_plot_of_batch_acknowledgements_is_a_picture(tmp_path):
    def row(who, mode, batch, median):
        return {"who": who, "mode": mode, "batch": batch, "in_flight_max": batch,
                "msgs_per_s": {"median": median, "min": median * 0.9, "max": median * 1.1},
                "rss_bytes": {"ventilator": 1e7, "workers": [1e7, 1e7], "sink": 1e7}}
    results = [row("libpubsub", "unacknowledged", 1000, 2e6), row("libpubsub", "one_batch", 10, 1e5),
               row("libpubsub", "window", 10, 1e6), row("libzmq", "one_batch", 10, 1e5), row("pyzmq", "window", 10, 0)]
    check_plot(tmp_path, "batch-ack", results, results[-1:], "no results of `pubsub bench batch-ack --json`")


@needs("matplotlib")
@pytest.mark.parametrize("modes", [[False, True], [True]])
def test_the_plot_of_versioned_delivery_is_a_picture(tmp_path, modes):
    results = [{"scheme": scheme, "payload_bytes": payload, "pipelined": pipelined, "seconds_per_million": payload / 100 + 50}
               for scheme in ("none", "one_hop") for payload in (1000, 10) for pipelined in modes]
    results.append({"scheme": "tagged", "payload_bytes": 10, "pipelined": True, "seconds_per_million": None})
    check_plot(tmp_path, "versioned", results, results[-1:], "no results of `pubsub bench versioned --json`")


@needs("matplotlib")
def test_the_plot_of_simulated_networks_is_a_picture(tmp_path):
    cost = {"frames": 100, "bytes": 5000, "worst_node_bytes": 900, "cpu_ms": 2.5, "hops_p50": 3, "hops_p99": 5}
    results = [{"family": family, "relays": relays, "subscriptions": 10, "worst_node_heap_bytes": 1000 * relays,
                "start": cost, "relay_comes": cost, "halves_meet": cost, "fresh_topic": cost}
               for family in ("random", "rings") for relays in (10, 100)]
    check_plot(tmp_path, "scale", results, [{"family": "random"}], "no results of `pubsub-scale --json`")


@needs("matplotlib")
def test_the_plot_of_remote_execution_is_a_picture(tmp_path):
    def row(sweep, network, mode, n, seconds):
        return {"section": "grid", "sweep": sweep, "network": network, "operation": "noop", "operations": n, "size_bytes": 24,
                "parts": 1, "work_us": 20, "mode": mode, "seconds": seconds, "modelled_seconds": n * 1e-4}

    results = [row(sweep, network, mode, n, None if mode == "sync" else n * 1.1e-4) for network in ("lan", "wan")
               for sweep in ("operations", "work") for n in (1, 100) for mode in ("sync", "bulk", "auto")]
    results.append({**row("operations", "loopback", "bulk", 1, 1e-6), "section": "speed"})
    check_plot(tmp_path, "remote", results, results[-1:], "no grid in results of `pubsub bench remote-study --json`")
