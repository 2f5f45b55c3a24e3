#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A cluster as zeek.conf describes it: the units that zeek-systemd-generator writes are started by hand, as systemd would.

Run with Zeek's programs in PATH, and the plugin in ../build or in ZEEK_PLUGIN_PATH.
"""
import os
import shutil
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from zeekctl_test import ALL_HEARD, HERE, NODES, SITE, cluster_log, free_ports

GENERATOR = shutil.which("zeek-systemd-generator")


class Unit:
    """What a unit's section Service says, with what stands beside it in a drop-in."""

    def __init__(self, folder, name):
        template, _, instance = name.partition("@")
        files = [folder / f"{template}@.service", *sorted((folder / f"{name}.service.d").glob("*.conf"))] if instance else [
            folder / f"{name}.service"]
        lines = [line for file in files for line in file.read_text().replace("%i", instance).splitlines()]
        self.settings = [tuple(line.split("=", 1)) for line in lines if "=" in line]

    def all(self, key):
        return [value for name, value in self.settings if name == key and value]

    def environment(self):
        return dict(value.split("=", 1) for value in self.all("Environment"))

    def commands(self, environment):
        return [line.replace("${INTERFACE}", environment.get("INTERFACE", "")).split() for line in self.all("ExecStart")]


@unittest.skipUnless(GENERATOR, "no zeek-systemd-generator was found")
@unittest.skipUnless(os.geteuid() == 0, "workers that read from the loopback interface need root")
class ZeekConf(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="pubsub-zeek-conf-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.running = {}
        for name in ("base", "units"):
            (self.folder / name).mkdir()
        prefix = Path(GENERATOR).absolute().parents[1]
        for name in ("bin", "share"):
            (self.folder / "base" / name).symlink_to(prefix / name)
        (self.folder / "here.zeek").write_text(SITE)

    def write_units(self):
        first = free_ports(16)
        (self.folder / "zeek.conf").write_text(
            f"interface = lo\nworkers = 2\nuser = root\ngroup = root\narchiver = 0\nbase_dir = {self.folder}/base\n"
            f"port = {first}\nmetrics_port = {first + 8}\nargs = local {self.folder}/here.zeek\n"
            "cluster_backend_args = frameworks/cluster/backend/pubsub\n")
        subprocess.run([GENERATOR, "--config", self.folder / "zeek.conf", self.folder / "units"], check=True)

    def start(self, name):
        unit = Unit(self.folder / "units", "zeek-" + name.replace("-", "@"))
        plugin = os.environ.get("ZEEK_PLUGIN_PATH", str(HERE.parent / "build"))
        environment = {**unit.environment(), "ZEEK_PLUGIN_PATH": plugin, "ZEEK_ALLOW_INIT_ERRORS": "1"}
        with open(self.folder / f"{name}.err", "w") as err:
            self.running[name] = subprocess.Popen(unit.commands(environment)[0], cwd=unit.all("WorkingDirectory")[0],
                                                  stdout=err, stderr=err, env=environment)
        self.addCleanup(self.end, self.running[name])

    def end(self, process):
        if process.poll() is None:
            process.kill()
        process.wait()

    def test_the_nodes_of_zeek_conf_make_a_cluster_and_its_logger_writes_the_logs(self):
        self.write_units()
        for command in Unit(self.folder / "units", "zeek-setup").commands({}):
            subprocess.run(command, check=True)
        for name in NODES:
            self.start(name)
        spool = self.folder / "base/var/spool/zeek"
        end = time.monotonic() + 60
        while not ALL_HEARD <= set(cluster_log(spool / "logger-1/cluster.log")):
            stopped = [name for name, process in self.running.items() if process.poll() is not None]
            self.assertEqual(stopped, [], "".join((self.folder / f"{name}.err").read_text() for name in stopped))
            self.assertLess(time.monotonic(), end, "not all nodes have heard all others")
            time.sleep(0.05)

        for name in reversed(NODES):
            self.running[name].terminate()
            self.assertEqual(self.running[name].wait(30), 0, name)
        self.assertTrue(list((spool / "log-queue").glob("cluster__*")), "the logger hands on its logs")


if __name__ == "__main__":
    unittest.main()
