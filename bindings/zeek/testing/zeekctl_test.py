#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A cluster of a manager, a logger, a proxy and two workers on this machine, started and watched by ZeekControl.

Run with zeekctl, openssl and pubsub in PATH, and the plugin in ../build or in ZEEK_PLUGIN_PATH. Nothing in the installation of
ZeekControl changes: each test has one of its own, made of links.
"""
import os
import random
import re
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ZEEKCTL = shutil.which("zeekctl")
PUBSUB = shutil.which("pubsub")
NODES = ["logger-1", "manager", "proxy-1", "worker-1", "worker-2"]
LAYOUT = "".join(f"[{name}]\ntype={name.partition('-')[0]}\nhost=127.0.0.1\n" + ("interface=lo\n" if "worker" in name else "")
                 for name in NODES)
STANDALONE = "[zeek]\ntype=standalone\nhost=127.0.0.1\ninterface=lo\n"
# Each node tells each other one that it is up, by an event; who gets it writes so into cluster.log.
SITE = """
@load base/frameworks/cluster

global here_is: event(name: string);

event here_is(name: string) &is_used
	{
	Cluster::log(fmt("event from %s", name));
	}

event Cluster::node_up(name: string, id: string)
	{
	Cluster::publish(Cluster::node_topic(name), here_is, Cluster::node);
	}
"""
ALL_HEARD = {(node, f"event from {other}") for node in NODES for other in NODES if node != other}


def why_not():
    if not ZEEKCTL:
        return "no zeekctl was found"
    if os.geteuid() != 0:
        return "workers that read from the loopback interface need root"
    return None


def free_ports(count):
    """The first of so many ports in a row to which nobody is bound."""
    for _ in range(100):
        first = random.randrange(20000, 30000)
        try:
            for port in range(first, first + count):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
        except OSError:
            continue
        return first
    raise AssertionError(f"no {count} free ports in a row")


def cluster_log(log):
    """cluster.log: (node, message) of each record."""
    lines = log.read_text().splitlines() if log.exists() else []
    return [tuple(line.split("\t")[1:3]) for line in lines if not line.startswith("#")]


class Site:
    """An installation of ZeekControl in a folder."""

    def __init__(self, folder, nodes, settings):
        self.folder = folder
        self.first_port = free_ports(len(NODES) + 3)
        self._link_installation(Path(ZEEKCTL).absolute().parents[1])
        plugin = os.environ.get("ZEEK_PLUGIN_PATH", str(HERE.parent / "build"))
        self.environment = {**os.environ, "ZEEK_PLUGIN_PATH": plugin, "ZEEK_DEFAULT_LISTEN_ADDRESS": "127.0.0.1",
                            "ZEEK_ALLOW_INIT_ERRORS": "1"}
        (folder / "etc").mkdir()
        (folder / "etc/node.cfg").write_text(nodes)
        (folder / "etc/networks.cfg").write_text("127.0.0.0/8 here\n")
        (folder / "local.zeek").write_text(SITE)
        every = {"ClusterBackend": "pubsub", "UseWebSocket": 1, "WebSocketPort": self.first_port, "ZeekPort": self.first_port + 1,
                 "MetricsPort": 0, "SendMail": "", "StopWait": 1, "SitePluginPath": HERE.parent / "zeekctl",
                 "SitePolicyPath": folder, "SpoolDir": folder / "spool", "LogDir": folder / "logs", "CfgDir": folder / "etc",
                 "FileExtractDir": folder / "files", "BrokerDBDir": folder / "stores", "StatusCmdShowAll": 0, **settings}
        (folder / "etc/zeekctl.cfg").write_text("".join(f"{name} = {value}\n" for name, value in every.items()))

    def _link_installation(self, prefix):
        program = Path(ZEEKCTL).read_text()
        (self.folder / "bin").mkdir()
        for each in (prefix / "bin").iterdir():
            if each.name != "zeekctl":
                (self.folder / "bin" / each.name).symlink_to(each)
        (self.folder / "bin/zeekctl").write_text(program.replace(str(prefix), str(self.folder)))
        (self.folder / "bin/zeekctl").chmod(0o755)
        version = next(prefix.glob("lib*/**/ZeekControl/version.py"))
        package = self.folder / version.relative_to(prefix).parent
        shutil.copytree(version.parents[1], package.parent, ignore=shutil.ignore_patterns("__pycache__"))
        text = version.read_text().replace(str(prefix), str(self.folder))
        text = re.sub("CFGFILE = .*", f'CFGFILE = "{self.folder}/etc/zeekctl.cfg"', text)
        (package / "version.py").write_text(text)
        (self.folder / "share").mkdir()
        (self.folder / "share/zeek").symlink_to(prefix / "share/zeek")
        shutil.copytree(prefix / "share/zeekctl", self.folder / "share/zeekctl", symlinks=True)
        for each in ("spool/tmp", "logs", "files", "stores"):
            (self.folder / each).mkdir(parents=True)

    def run(self, *command, fails=False):
        done = subprocess.run([self.folder / "bin/zeekctl", *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env=self.environment, timeout=120, check=False)
        if (done.returncode != 0) != fails:
            raise AssertionError(f"zeekctl {' '.join(command)} ended with {done.returncode}:\n{done.stdout}\n{self.stderr()}")
        return done.stdout

    def stderr(self):
        return "".join(f"{log}:\n{log.read_text()}" for log in self.folder.glob("spool/*/stderr.log"))

    def states(self):
        """What ``status`` says: name to state."""
        done = subprocess.run([self.folder / "bin/zeekctl", "status"], stdout=subprocess.PIPE, text=True, env=self.environment,
                              timeout=60, check=False)
        lines = [line.split() for line in done.stdout.splitlines()[1:]]
        return {line[0]: line[3] for line in lines if len(line) > 3}

    def said(self):
        return cluster_log(self.folder / "spool/logger-1/cluster.log")

    def kill(self, name):
        os.kill(int((self.folder / f"spool/{name}/.pid").read_text()), signal.SIGKILL)

    def end(self):
        subprocess.run([self.folder / "bin/zeekctl", "stop"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       env=self.environment, timeout=120, check=False)
        for pid in self.folder.glob("spool/*/.pid"):
            try:
                os.kill(int(pid.read_text()), signal.SIGKILL)
            except (ValueError, ProcessLookupError):
                pass


@unittest.skipIf(why_not(), why_not())
class ZeekControl(unittest.TestCase):
    def site(self, nodes=LAYOUT, **settings):
        folder = tempfile.TemporaryDirectory(prefix="pubsub-zeekctl-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        site = Site(self.folder, nodes, {name.replace("__", "."): value for name, value in settings.items()})
        self.addCleanup(site.end)
        return site

    def until(self, what, condition, seconds=30):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, f"not within {seconds} s: {what}")
            time.sleep(0.05)

    def until_linked(self, site):
        """All nodes have had an event of all others, and the logger has written it."""
        self.until("all nodes hear all others", lambda: ALL_HEARD <= set(site.said()))

    def until_running(self, site, name):
        self.until(f"{name} runs", lambda: site.states().get(name) == "running")

    def test_a_cluster_comes_up_answers_commands_gets_a_killed_worker_back_and_stops(self):
        site = self.site()
        site.run("deploy")
        self.assertEqual(site.states(), {name: "running" for name in NODES})
        self.until_linked(site)

        with self.subTest("commands"):
            shown = site.run("print", "Cluster::node")
            self.assertEqual(re.findall(r"Cluster::node = (\S+)", shown), NODES, shown)
            self.assertEqual(len(re.findall(r"worker-\d: [\d.]+ recvd=\d+ dropped=\d+ link=\d+", site.run("netstats"))), 2)
            self.assertIn("RUNNING [run_loop]", site.run("diag", "proxy-1"))

        with self.subTest("a killed worker"):
            before = len(site.said())
            site.kill("worker-1")
            self.until("the manager says so", lambda: ("manager", "node down: worker-1") in site.said()[before:], 5)
            self.until("zeekctl says so", lambda: site.states()["worker-1"] == "crashed")
            site.run("cron")
            self.until_running(site, "worker-1")
            back = {(name, "event from worker-1") for name in NODES if name != "worker-1"}
            self.until("the others hear it again", lambda: back <= set(site.said()[before:]))
            self.assertIn("Cluster::node = worker-1", site.run("print", "Cluster::node", "worker-1"))

        with self.subTest("restart and stop"):
            site.run("restart")
            self.until_linked(site)
            site.run("stop")
            self.assertEqual(site.states(), {name: "stopped" for name in NODES})
            self.assertTrue(list(self.folder.glob("logs/20*/cluster.*")), "logs are archived")
            site.run("cleanup", "--all")

    def test_links_are_encrypted_with_the_certificates_of_its_options(self):
        certificates = tempfile.TemporaryDirectory(prefix="pubsub-zeekctl-")
        self.addCleanup(certificates.cleanup)
        subprocess.run([HERE / "Scripts/make-certificates", "site"], cwd=certificates.name, check=True)
        pem = {name: f"{certificates.name}/site/{name}.pem" for name in ("cert", "key", "ca")}
        site = self.site(**{f"cluster_backend_pubsub__tls_{name}file": file for name, file in pem.items()})
        site.run("deploy")
        self.until_linked(site)
        shown = ssl.get_server_certificate(("127.0.0.1", site.first_port + 2), timeout=10)
        self.assertIn(shown.strip(), Path(pem["cert"]).read_text())

    def deploy_with_sockets(self, **options):
        """(the site, how many TCP connections its manager and logger have accepted)"""
        site = self.site(**options)
        site.run("deploy")
        self.until_linked(site)
        return site, connections_to(site.first_port + 2, site.first_port + 3)

    def test_nodes_of_a_host_use_sockets_in_the_spool(self):
        site, connections = self.deploy_with_sockets()
        self.assertEqual(sorted(each.name for each in site.folder.glob("spool/sockets/*")), ["logger-1.sock", "manager.sock"])
        self.assertEqual(connections, 0)

    def test_nodes_of_a_host_use_the_sockets_of_its_options(self):
        sockets = tempfile.TemporaryDirectory(prefix="pubsub-zeekctl-")
        self.addCleanup(sockets.cleanup)
        folder = Path(sockets.name, "made")
        _, connections = self.deploy_with_sockets(cluster_backend_pubsub__unix_directory=folder)
        self.assertEqual(sorted(each.name for each in folder.iterdir()), ["logger-1.sock", "manager.sock"])
        self.assertEqual(connections, 0)

    def test_nodes_of_a_host_use_tcp_if_told_so(self):
        site, connections = self.deploy_with_sockets(cluster_backend_pubsub__unix_directory="")
        self.assertGreater(connections, 0)
        self.assertEqual(list(site.folder.glob("spool/sockets/*")), [])

    @unittest.skipUnless(PUBSUB, "no pubsub was found")
    def test_live_logs_go_to_who_subscribes(self):
        site = self.site(cluster_backend_pubsub__live_logs=1)
        site.run("deploy")
        seen = subprocess.run([PUBSUB, "sub", "--peer", f"tcp://127.0.0.1:{site.first_port + 2}", "--topic", "zeek/logs/conn",
                               "--count", "3"], stdout=subprocess.PIPE, text=True, timeout=60, check=True)
        self.assertIn("zeek/logs/conn", seen.stdout)
        self.assertEqual(list(self.folder.glob("spool/*/conn.log")), [])

    def test_a_node_on_its_own_answers_commands(self):
        site = self.site(STANDALONE)
        site.run("deploy")
        self.until_running(site, "zeek")
        self.assertIn("recvd=", site.run("netstats"))
        self.assertIn("Cluster::node = ", site.run("print", "Cluster::node"))


def connections_to(*ports):
    """How many TCP connections these ports have accepted."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(int(local.rpartition(":")[2], 16) in ports for _, local, _, state, *_ in lines if state == "01")


if __name__ == "__main__":
    unittest.main()
