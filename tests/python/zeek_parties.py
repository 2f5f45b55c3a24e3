"""The own side of the Zeek clusters of tests: `pubsub zeek-proxy` in the middle."""
# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

import json
import queue
import re
import socket
import subprocess
import threading
import urllib.request

from conftest import DEADLINE, ROOT
from zeek_cluster import ProxyPorts


def free_port():
    """A port where nobody listens at the moment."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def metrics_at(page):
    """The metrics of clusters, by name and labels, that are served there."""
    with urllib.request.urlopen(page + "metrics", timeout=DEADLINE) as answer:
        return dict(line.rsplit(" ", 1) for line in answer.read().decode().splitlines() if line.startswith(("pubsub_gateway_", "pubsub_cluster_")))


def documented_metrics(beginning):
    """Names of metrics in docs/monitoring.md."""
    page = (ROOT / "docs/monitoring.md").read_text(encoding="utf-8")
    return {name for name in re.findall(r"^\| `(pubsub_\w+)`", page, re.M) if name.startswith(beginning)}


def key_folder(folder, keys):
    """A new folder with the keys of clients and servers, as ZeekControl keeps them."""
    folder.mkdir()
    for role in ("server", "client"):
        for part in ("public", "secret"):
            (folder / f"{role}_{part}key").write_bytes(getattr(keys, f"{role}_{part}"))
    return folder


class OwnProxy(ProxyPorts):
    """A running proxy, and the events of its log."""

    def __init__(self, command, options=(), xsub_port=0, xpub_port=0):
        self.process = subprocess.Popen([command, "zeek-proxy", "--json", "--listen-xsub", f"127.0.0.1:{xsub_port}",
                                         "--listen-xpub", f"127.0.0.1:{xpub_port}", *options], stdout=subprocess.PIPE, text=True)
        self._events = queue.Queue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        listening = self.wait_for("listening")["message"]
        self.xsub_port, self.xpub_port = map(int, re.findall(r"tcp://127\.0\.0\.1:(\d+)", listening))

    def _read(self):
        for line in self.process.stdout:
            self._events.put(json.loads(line))

    def wait_for(self, event, text=""):
        """The next event of that kind with this text in its message."""
        while True:
            found = self._events.get(timeout=DEADLINE)
            if found["event"] == event and text in found.get("message", ""):
                return found

    def end(self):
        """Lets it end, and returns what it says of all that it did."""
        self.process.terminate()
        assert self.process.wait(DEADLINE) == 0
        return self.wait_for("closed")["message"]

    def close(self):
        self.process.kill()
        self.process.wait()
        self._reader.join()
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
