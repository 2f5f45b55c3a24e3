# SPDX-License-Identifier: BSD-3-Clause
"""The recipe from a relay to a plot, ClickHouse's opinion of our tables, and the files of the guide to bridges."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from conftest import ROOT
from zeek_parties import documented_metrics

RECIPE = ROOT / "docs/examples/bridge_to_clickhouse/recipe.py"
CONFIGURATION = ROOT / "docs/examples/how_to/bridges/node.toml"

COLUMNS = {
    "ts": ("time", "1764291600.123456", "2025-11-28 01:00:00.123456"),
    "uid": ("string", "C1", "C1"),
    "id.orig_h": ("addr", "192.0.2.1", "::ffff:192.0.2.1"),
    "id.orig_p": ("port", "65535", 65535),
    "net": ("subnet", "2001:db8::/32", "2001:db8::/32"),
    "proto": ("enum", "udp", "udp"),
    "took": ("interval", "0.000001", 1e-06),
    "ratio": ("double", "1e300", 1e300),
    "bytes": ("count", "18446744073709551615", "18446744073709551615"),
    "delta": ("int", "-5", "-5"),
    "local": ("bool", "T", True),
    "unset": ("string", "-", None),
    "san.dns": ("vector[string]", "a,b", ["a", "b"]),
    "san.ip": ("vector[addr]", "2001:db8::1", ["2001:db8::1"]),
    "ttls": ("vector[interval]", "0.5,-", [0.5, None]),
    "tags": ("set[string]", "x", ["x"]),
    "none": ("set[count]", "-", []),
}


@pytest.fixture
def bridge_command(pubsub_command):
    """The command, if it has bridges."""
    said = subprocess.run([pubsub_command, "bridge", "ddl"], capture_output=True, text=True, check=False).stderr
    if "bridges need" in said:
        pytest.skip("the command was built without the libraries of engines")
    return pubsub_command


def log_of_all_types(folder):
    """A log with a record in which all is set, but for two columns, and one with a time only."""
    rows = [[value for _, value, _ in COLUMNS.values()], ["1764291601.000001", *["-"] * (len(COLUMNS) - 1)]]
    types = [kind for kind, _, _ in COLUMNS.values()]
    lines = ["#separator \\x09", "#set_separator\t,", "#empty_field\t(empty)", "#unset_field\t-", "#path\tconn",
             "\t".join(["#fields", *COLUMNS]), "\t".join(["#types", *types]), *("\t".join(row) for row in rows)]
    log = folder / "conn.log"
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return log


def test_clickhouse_takes_every_type_of_zeek_into_the_tables_that_the_command_prints(bridge_command, tmp_path):
    session = pytest.importorskip("chdb.session", reason="ClickHouse is the package chdb")
    log = log_of_all_types(tmp_path)
    tables = subprocess.run([bridge_command, "bridge", "ddl", "clickhouse", log], capture_output=True, text=True, check=True)
    record = {name: wanted for name, (_, _, wanted) in COLUMNS.items() if wanted is not None}
    record |= {"ts": 1764291600.123456, "id.orig_h": "192.0.2.1", "bytes": 18446744073709551615, "delta": -5}
    (tmp_path / "records.json").write_text(json.dumps(record) + '\n{"ts":1764291601.000001}\n')
    database = session.Session(str(tmp_path / "database"))
    try:
        for statement in filter(str.strip, tables.stdout.split(";\n")):
            database.query(statement)
        database.query(f"INSERT INTO zeek.conn SELECT * FROM file('{tmp_path}/records.json', JSONEachRow)")
        full, bare = map(json.loads, str(database.query("SELECT * FROM zeek.conn ORDER BY ts", "JSONEachRow")).splitlines())
    finally:
        database.close()
    assert {name: str(value) if name in ("bytes", "delta") else value for name, value in full.items()} == \
        {name: wanted for name, (_, _, wanted) in COLUMNS.items()}
    assert bare.pop("ts") == "2025-11-28 01:00:01.000001"
    assert {name: bare.pop(name) for name in ("ttls", "tags", "none")} == {"ttls": [], "tags": [], "none": []}
    assert set(bare.values()) == {None}


@pytest.mark.timeout(180)
def test_the_recipe_goes_from_a_relay_to_a_plot(bridge_command, tmp_path):
    for module in ("chdb", "matplotlib"):
        pytest.importorskip(module, reason="the recipe needs it")
    path = os.pathsep.join([str(Path(bridge_command).parent), os.environ["PATH"], "/usr/sbin"])
    if shutil.which("nats-server", path=path) is None:
        pytest.skip("no nats-server")
    done = subprocess.run([sys.executable, RECIPE, "--output", tmp_path / "plot.png"], env={**os.environ, "PATH": path},
                          capture_output=True, text=True, timeout=170, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    shown = (RECIPE.parent / "README.md").read_text(encoding="utf-8")
    for line in done.stdout.splitlines()[1:-1]:
        assert line in shown
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_the_configuration_in_the_guide_is_taken(bridge_command, tmp_path):
    text = CONFIGURATION.read_text(encoding="utf-8")
    text = re.sub(r'\n(?:  "ssl\.ca\.location=|credentials = ).*', "", text)  # files that the reader has
    (tmp_path / "node.toml").write_text(text, encoding="utf-8")
    done = subprocess.run([bridge_command, "node", "--config", tmp_path / "node.toml", "--check"], capture_output=True,
                          text=True, check=False)
    assert (done.returncode, done.stderr) in ((0, ""), (0, "all is well\n")), done.stderr
    assert [each["name"] for each in tomllib.loads(text)["bridge"]] == ["logs", "alerts", "eve"]


def test_the_docs_name_every_metric_of_bridges():
    source = (ROOT / "tools/pubsub/bridges/running_bridge.cpp").read_text(encoding="utf-8")
    told = set(re.findall(r'\{"(\w+)", "(?:counter|gauge)"|add_head\(result, "(\w+)"', source))
    names = {f"pubsub_bridge_{one or other}" for one, other in told}
    assert len(names) == 9
    assert names == documented_metrics("pubsub_bridge_")
