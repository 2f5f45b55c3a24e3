"""`pubsub node` as a member of a Zeek cluster, of whatever kind."""
# SPDX-License-Identifier: BSD-3-Clause

import json
import queue
import re
import subprocess
import threading

from conftest import DEADLINE


class Member:
    """A running `pubsub node`: its address, and the events of its log."""

    def __init__(self, command, *uris, options=()):
        peers = [option for uri in uris for option in ("--peer", uri)]
        self._process = subprocess.Popen([command, "node", "--listen", "127.0.0.1:0", "--json", *peers, *options],
                                         stdout=subprocess.PIPE, text=True)
        self.address = json.loads(self._process.stdout.readline())["address"]
        self._events = queue.Queue()
        self._seen = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self):
        for line in self._process.stdout:
            self._events.put(json.loads(line))

    def wait_for(self, event, text=""):
        """The next event of that kind with this text in its message."""
        while True:
            found = self._events.get(timeout=DEADLINE)
            self._seen.append(found)
            if found["event"] == event and text in found.get("message", ""):
                return found

    def page(self):
        """Where its metrics are."""
        told = (each["address"] for each in self._seen if each["event"] == "metrics")
        return next(told, None) or self.wait_for("metrics")["address"]

    def end(self):
        """Lets it end, and returns what it says about the cluster."""
        self._process.terminate()
        assert self._process.wait(DEADLINE) == 0
        return self.wait_for("gateway")["message"]

    def malformed(self):
        """How many messages it has called that until its end."""
        said = "".join(each["message"] for each in self._seen if each["event"] == "gateway_dropped")
        return sum(map(int, re.findall(r"(\d+) malformed", said)))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        self._reader.join()
