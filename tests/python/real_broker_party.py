# SPDX-License-Identifier: BSD-3-Clause
"""A real Broker in a process of its own: obeys one JSON line at a time and answers with one.

``[name, arguments...]`` comes on stdin, ``["ok", result]`` or ``["error", text]`` goes to stdout. Started by
test_real_broker.py; needs the module `broker`.
"""

import collections
import collections.abc
import json
import sys
import time

collections.Iterable = collections.abc.Iterable  # which Broker's module still asks `collections` for

import broker  # noqa: E402


class Party:
    """An endpoint, its subscriber and what it has seen. Every wait has a deadline in seconds."""

    def __init__(self, encryption, files):
        options = broker.BrokerOptions()
        options.disable_ssl = encryption == "off"
        configuration = broker.Configuration(options)
        for name, path in files.items():  # openssl_certificate and so on
            setattr(configuration, name, path)
        self.endpoint = broker.Endpoint(configuration)
        self.events = self.endpoint.make_status_subscriber(True)
        self.subscriber = None
        self.seen = []

    def node_id(self):
        return self.endpoint.node_id()

    def listen(self, port=0):
        return self.endpoint.listen("127.0.0.1", port)

    def peer(self, port, retry):
        return self.endpoint.peer("127.0.0.1", port, retry)

    def peer_nosync(self, port, retry):
        self.endpoint.peer_nosync("127.0.0.1", port, retry)

    def unpeer(self, port):
        return self.endpoint.unpeer("127.0.0.1", port)

    def await_peer(self, node, timeout):
        return self.endpoint.await_peer(node, timeout)

    def peers(self):
        return [[each.peer.node_id(), str(each.status)] for each in self.endpoint.peers()]

    def subscribe(self, *topics):
        self.subscriber = self.endpoint.make_subscriber(list(topics))

    def forward(self, *topics):
        self.endpoint.forward(list(topics))

    def publish(self, topic, first, count):
        """The numbers ``[first, first + count)``."""
        self.endpoint.publish_batch(*((topic, broker.Count(number)) for number in range(first, first + count)))

    def publish_event(self, topic, name, *arguments):
        self.endpoint.publish(topic, broker.zeek.Event(name, *arguments))

    def receive(self, first, count, timeout):
        """How many of ``count`` numbers came, and whether in order from ``first`` on."""
        end = time.monotonic() + timeout
        expected = first
        in_order = True
        while expected < first + count and time.monotonic() < end:
            for _, number in self.subscriber.get(min(count, first + count - expected), 0.1) or []:
                in_order = in_order and number.value == expected
                expected += 1
        return [expected - first, in_order]

    def waiting(self):
        return self.subscriber.available()

    def next_event(self, timeout):
        """Code and text of the next status or error; nothing at the deadline."""
        if not self.seen:
            end = time.monotonic() + timeout
            while not self.events.available() and time.monotonic() < end:
                time.sleep(0.005)
            self.seen = list(self.events.poll())
        return str(self.seen.pop(0)) if self.seen else None

    def forget_events(self):
        """Broker comes to a halt when 2048 of them are not read."""
        self.seen = []
        self.events.poll()

    def shutdown(self):
        self.subscriber = self.events = None
        self.endpoint.shutdown()


def main():
    party = Party(sys.argv[1], json.loads(sys.argv[2]))
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        try:
            answer = ["ok", getattr(party, name)(*arguments)]
        except Exception as failure:  # the test sees it
            answer = ["error", repr(failure)]
        print(json.dumps(answer), flush=True)
        if name == "shutdown":
            break


if __name__ == "__main__":
    main()
