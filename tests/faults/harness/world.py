# SPDX-License-Identifier: BSD-3-Clause
"""The vocabulary of the scenarios: nodes, links, publishers, subscriptions, faults, and the final check."""

import collections
import contextlib
import os
import random
import resource
import signal
import tempfile
import time

from . import checker
from .certificates import Certificates
from .parts import Node, Publisher, Subscription
from .program import PATIENCE_S, Program, Stuck, wait_until, wait_while_growing

CLOSE_TIMEOUT_MS = 3_000
# Peak RSS of a node with the queues these scenarios use.
MEMORY_BOUND_MIB = 192
# What a link and its sockets can hold when publishers do not limit themselves.
SOCKET_BYTES = 8 * 1024 * 1024
ENVELOPE_BYTES = 48
LINK_CAPACITY = 4_096
# What is published in this time is in flight as well when something is cut: until publishers notice it.
REACTION_S = 0.005
# How often each publisher publishes once more where the last message was lost.
LAST_TRIES = 15


class World:
    """Everything one run of a scenario has started, and the books of what it did to it."""

    def __init__(self, settings, seed):
        self.settings = settings
        self.seed = seed
        self.random = random.Random(seed)
        self.nodes = {}
        self.publishers = []
        self.subscriptions = []
        self.windows = []  # of faults that may lose messages, see checker.check_windows
        self.cuts = 0
        self.at_risk = {}  # of each subscription, by name: messages in flight when something was cut
        self.vanished_bytes = 0
        self.faults = 0
        self.violations = []
        self.figures = {}
        self.peak_kb = 0
        self.last_words = []  # of the programs, where something went wrong
        self.memory_bound_mib = MEMORY_BOUND_MIB
        self._errors = tempfile.TemporaryFile()  # of all programs
        self._folder = tempfile.TemporaryDirectory(prefix="faults-")
        self.certificates = Certificates(self._folder.name)
        self._shim = None
        self._dialled = []  # (one, other, address), in order
        self._extra_messages = 0
        self._dropped_before = 0  # at links of nodes that have ended since

    # -- nodes and links ---------------------------------------------------------------------------

    def log(self, text):
        self.settings.log(f"  {text}")

    def start(self, *names, scheme="tcp", listens=True, **options):
        """Starts nodes that listen, or clients; a name known before gets its old address again. Returns the last.
        `scheme`: `tcp`, `tls` or `unix`."""
        options = {"capacity": LINK_CAPACITY, **self.certificates.options(), **options}
        for name in names:
            before = self.nodes.get(name)
            node = Node(self._program("fault_node", name), before.scheme if before else scheme,
                        before.options if before else options, before.listens if before else listens)
            self.nodes[name] = node
            node.id = node.ask("open", **node.options)["id"]
            if not node.listens:
                continue
            node.address = before.address if before else self._fresh_address(node)
            node.port = node.ask("listen", uri=node.address)["port"]
            if node.scheme != "unix":
                node.address = f"{node.scheme}://127.0.0.1:{node.port}"
        return node

    def _fresh_address(self, node):
        return f"unix://{self._folder.name}/{node.name}.sock" if node.scheme == "unix" else f"{node.scheme}://127.0.0.1:0"

    def _program(self, program, name):
        return Program(os.path.join(self.settings.programs, program), name, self._errors)

    def connect(self, one, other, shim=False):
        """`one` peers with `other` and keeps trying; through the shim, the link is called one-other."""
        address = self.nodes[other].address
        if shim:
            name = f"{one}-{other}"
            port = self._network("link", name=name, to=self.nodes[other].port, seed=self.random.getrandbits(32))["port"]
            address = f"{self.nodes[other].scheme}://127.0.0.1:{port}"
        self._dialled.append((one, other, address))
        self.nodes[one].ask("peer", uri=address)

    def await_peers(self, name, n, at="main"):
        self._await(self.nodes[name], PATIENCE_S, f"{n} peers", verb="wait", at=at, n=n)

    def _neighbours(self, name):
        """Of an endpoint called main; others have one."""
        return {one if other == name else other for one, other, _ in self._dialled if name in (one, other)} or {None}

    def await_links(self):
        """Until every link there should be is up, at both of its ends."""
        for name in self.nodes:
            neighbours = self._neighbours(name) - {None}
            if neighbours and self.nodes[name].lives():
                self.await_peers(name, len(neighbours))

    def ring(self, names, shim=False, **options):
        """Nodes in a circle, all of whose links are up on return."""
        self.start(*names, **options)
        for one, other in zip(names, names[1:] + names[:1]):
            self.connect(one, other, shim)
        self.await_links()

    def await_loss(self, name):
        """Until `name` has noticed that another peer than before is gone."""
        before = self._report(name)["peers_lost"]
        if not wait_until(lambda: self._report(name)["peers_lost"] > before):
            raise Stuck(f"{name} does not notice that a peer is gone")

    def _report(self, name):
        return self.nodes[name].ask("report")

    def add_link(self, one, other):
        """A new link under traffic, which costs nothing: ways that become shorter overtake nothing."""
        self.fault(f"connect {one} to {other}")
        self.connect(one, other)
        self.await_links()

    def cut_link(self, one, other):
        """Ends a peering in good order. A thread that was about to hand on a message finds the link gone."""
        self.fault(f"part {one} from {other}")
        with self.cut():
            self.nodes[one].ask("unpeer", uri=self.nodes[other].address)
        self._dialled = [each for each in self._dialled if each[:2] != (one, other)]

    def reconnect(self, name):
        """What `name` had connected to before it was started again."""
        for one, _, address in self._dialled:
            if one == name:
                self.nodes[name].ask("peer", uri=address)

    def chain(self, *names, shim=False, **options):
        """Nodes in a row, each connected to the next."""
        self.start(*names, **options)
        for one, other in zip(names, names[1:]):
            self.connect(one, other, shim)

    def _network(self, verb, **values):
        if self._shim is None:
            self._shim = self._program("fault_shim", "shim")
        return self._shim.ask(verb, **values)

    # -- messages ----------------------------------------------------------------------------------

    def subscribe(self, name, topic="/t", policy="block", capacity=LINK_CAPACITY, per_second=0, at="main", whole=True,
                  isolated=False):
        label = f"{name}:{len(self.subscriptions)}"
        sub = Subscription(self.nodes[name], label, topic, at, whole, isolated)
        sub.node.ask("subscribe", at=at, name=sub.name, topic=topic, policy=policy, capacity=capacity,
                     per_second=per_second, plant=self.settings.plant)
        self.subscriptions.append(sub)
        self.log(f"subscribe {sub.name} {topic} policy={policy} capacity={capacity}")
        return sub

    def unsubscribe(self, sub):
        self.log(f"unsubscribe {sub.name}")
        sub.ended = sub.node.ask("unsubscribe", at=sub.at, name=sub.name)

    def publish(self, name, topic="/t", messages=0, per_second=0, topics=1, min_bytes=20, max_bytes=200, at="main",
                patience_s=PATIENCE_S, to=None):
        """Publishes `messages`, or without end, once all who have subscribed are known here; `to` this node only, or to
        all."""
        node = self.nodes[name]
        pub = Publisher(node, len(self.publishers) + 1, topics, at, per_second, min_bytes, to)
        self._await_audience(node, at, topic, patience_s)
        node.ask("publish", at=at, publisher=pub.id, topic=topic, messages=messages, per_second=per_second,
                 topics=topics, min_bytes=min_bytes, max_bytes=max_bytes, to=self.nodes[to].id if to else None)
        self.publishers.append(pub)
        self.log(f"publish {name} {topic} to={to or 'all'} topics={topics} messages={messages or 'without end'} per_second={per_second or 'any'} "
                 f"bytes={min_bytes}..{max_bytes}")
        return pub

    def _await_audience(self, node, at, topic, patience_s):
        """Until `node` knows all who want the topic: by itself subscribers here and relays elsewhere; of clients, which
        it does not know, when they are told that they are known."""
        wanting = [sub for sub in self.subscriptions if topic.startswith(sub.topic) and sub.ended is None]
        here = [sub for sub in wanting if (sub.node.name, sub.at) == (node.name, at)]
        clients = [sub for sub in wanting if sub not in here and sub.is_of_client()]
        for sub in clients:
            self.await_peers(sub.node.name, len(self._neighbours(sub.node.name)), at=sub.at)
            self._await(sub.node, patience_s, f"all to know {sub.name}", verb="ready", at=sub.at, name=sub.name)
        relays = {sub.node.name for sub in wanting if sub not in here and not sub.is_of_client()}
        n = len(here) + max(len(relays), min(1, len(clients)))
        self._await(node, patience_s, f"{n} subscribers of {topic}", verb="wait", at=at, topic=topic, n=n)

    @staticmethod
    def _await(node, patience_s, what, **request):
        if not node.ask(patience_s=patience_s, timeout_ms=int(patience_s * 900), **request)["met"]:
            raise Stuck(f"{node.name} waits in vain for {what}")

    def end_publishing(self, pub):
        """Afterwards the node may go: what it has published is known."""
        pub.node.ask("stop", at=pub.at)
        pub.look()

    def await_published(self, pub, more):
        """Paces a scenario by its own traffic: waits until `pub` has published so many more."""
        self.log(f"until {pub.node.name} has published {more} more")
        goal = pub.published() + more
        if not wait_while_growing(pub.published, lambda: pub.published() >= goal):
            raise Stuck(f"{pub.node.name} published {pub.published()} messages and not {goal}")

    def await_published_or_held(self, pub, more):
        """As await_published, but content if the publisher is held up: a link that is half-open gives no room."""
        goal = pub.published() + more

        def done():
            before = pub.published()
            return before >= goal or not wait_until(lambda: pub.published() > before, 0.3)
        self.log(f"until {pub.node.name} has published {more} more or is held up")
        wait_until(done)

    def drain(self, name):
        """Messages that are left after a drain with all patience."""
        self.log(f"drain {name}")
        return self.nodes[name].ask("drain", timeout_ms=int(PATIENCE_S * 900))["left"]

    def await_received(self, sub, more):
        self.log(f"until {sub.name} has received {more} more")
        goal = sub.received() + more
        if not wait_while_growing(sub.received, lambda: sub.received() >= goal):
            raise Stuck(f"{sub.name} received {sub.received()} messages and not {goal}")

    def throughput(self, sub, seconds):
        """Messages a second that `sub` receives, measured over this time."""
        begin, before = time.monotonic(), sub.received()
        wait_until(lambda: time.monotonic() - begin >= seconds)
        return (sub.received() - before) / (time.monotonic() - begin)

    def await_end(self):
        """Waits until every publisher with a given number of messages has published them."""
        for pub in self.publishers:
            self.await_silence(pub)

    def await_silence(self, pub):
        def done():
            pub.look()
            return not pub.running
        if not wait_while_growing(pub.published, done):
            raise Stuck(f"{pub.node.name} has published {pub.published()} messages and does not get through")

    def await_standstill(self, pub, received=None):
        """Until a publisher is held up by a subscriber that has stopped. Where it is the only publisher,
        what it published beyond what had been `received` must fit into the queues and sockets on the way."""
        def still():
            before = pub.published()
            return not wait_until(lambda: pub.published() > before, 0.3)
        if not wait_until(still):
            links = {name: self._report(name)["links"] for name, node in self.nodes.items() if not node.program.stopped}
            raise Stuck(f"{pub.node.name} goes on publishing although a subscriber has stopped; links: {links}")
        if received is None:
            return
        held = pub.published() - received
        room = len(self.nodes) * self.held_by_a_link(pub.min_bytes)
        self.figures["held_messages"] = held
        self.require(held <= room, f"{pub.node.name} was held up only after {held} messages, the way has room for {room}")

    def for_duration(self, full_s, short_s):
        """Yields until the time is over: --duration, or what is usual."""
        usual_s = short_s if self.settings.short or self.settings.sanitized else full_s
        end = time.monotonic() + (self.settings.duration_s or usual_s)
        while time.monotonic() < end and not self.violations:
            yield

    # -- faults ------------------------------------------------------------------------------------

    def fault(self, text):
        self.faults += 1
        self.log(text)

    @contextlib.contextmanager
    def cut(self, most=None):
        """Around what may destroy messages under way, `most` of them: those that were published and have not come, and what
        is published until that is noticed. A machine that is slow has more under way, and answers later here as well."""
        seen = {sub.name: sub.seen() for sub in self._expecting()}
        yield
        self.cuts += 1
        for sub in self._expecting():
            if sub.name in seen:
                under_way = sum(max(0, n - seen[sub.name].get(key, 0)) for key, n in self.published_for(sub).items())
                self.at_risk[sub.name] = self.at_risk.get(sub.name, 0) + min(under_way, most or under_way)

    def kill(self, name):
        """kill -9. The publishers of the node are remembered as far as they were seen last."""
        self.fault(f"kill -9 {name}")
        for pub in self.publishers:
            pub.look()
        self._remember_drops(self.nodes[name])
        with self.cut():
            self.nodes[name].program.kill()

    def shut_down(self, name):
        """Closes a node in good order. What was under way through it may be lost."""
        self.fault(f"close {name}")
        self._remember_drops(self.nodes[name])
        with self.cut():
            self.close_node(self.nodes[name])

    def _remember_drops(self, node):
        """A node takes its counters with it: what it has dropped by now, in a fault before, stays in the books."""
        if not node.program.stopped:
            self._dropped_before += self._dropped_at_links(node.ask("report"))

    @staticmethod
    def _dropped_at_links(report):
        """Or on the way to one, where none leads there any more."""
        return report["endpoint"]["dropped_at_links"] + report["endpoint"]["unreachable"]

    def stop(self, name):
        self.fault(f"stop {name}")
        self.nodes[name].program.signal(signal.SIGSTOP)

    def go_on(self, name):
        self.log(f"continue {name}")
        self.nodes[name].program.signal(signal.SIGCONT)

    def link(self, name, verb, **values):
        """A command of the shim: shape, reset, down, stall, vanish or heal (shim_link.hpp)."""
        text = " ".join([verb, name] + [f"{key}={value}" for key, value in values.items()])
        if verb == "heal":
            self.log(text)
        else:
            self.fault(text)
        with self.cut() if verb in ("reset", "down", "vanish") else contextlib.nullcontext():
            return self._network(verb, name=name, **values)

    def await_healthy(self, name):
        """Waits until a fault that was given a time is over."""
        wait_until(lambda: self._network("status", name=name)["healthy"])

    def limit(self, name, kind, value):
        """Sets a limit of a running process, e.g. resource.RLIMIT_NOFILE; gives the old one back."""
        pid = self.nodes[name].program.pid
        before = resource.prlimit(pid, kind)
        self.fault(f"limit {name} {kind}={value}")
        resource.prlimit(pid, kind, (value, before[1]))
        return before[0]

    def shared_memories(self, name):
        """How many links of a node move bytes through memory they share with a peer (docs/wire-format.md)."""
        with open(f"/proc/{self.nodes[name].program.pid}/maps", encoding="utf-8") as maps:
            return len({line.split()[4] for line in maps if "memfd:pubsub-link" in line})

    def descriptors(self, name):
        """As many as twenty looks in a row find: memory and bell of a link are descriptors until they have been sent."""
        looks = collections.deque(maxlen=20)

        def stands_still():
            looks.append(len(os.listdir(f"/proc/{self.nodes[name].program.pid}/fd")))
            return len(looks) == looks.maxlen and len(set(looks)) == 1

        wait_until(stands_still)
        return looks[-1]

    def await_shared_memory(self, links):
        """Until each of these nodes shares memory with so many peers, and with nothing that is gone."""
        if not wait_until(lambda: all(self.shared_memories(name) == n for name, n in links.items())):
            raise Stuck(f"links that share memory: { {name: self.shared_memories(name) for name in links} } instead of {links}")

    def mapped_bytes(self, name):
        return self.nodes[name].memory_kb("VmSize") * 1024

    @contextlib.contextmanager
    def outage(self):
        """Around faults that may lose messages: afterwards every link is up and every subscription gets
        messages again, and only numbers from this time may be missing."""
        begin = {sub.name: sub.seen() for sub in self._expecting()}
        yield
        self.await_links()
        self.cuts += 1  # a way that is open again may overtake what is still on another one
        self.await_flow()
        end = self.published()
        self.windows.append({(name, key): (seen.get(key, 0), end[key]) for name, seen in begin.items() for key in end})

    def await_flow(self):
        """Until messages published from now on reach every subscription. (What a publisher tells may be behind by
        the message at hand.)"""
        goal = self.published()

        def flows():
            for sub in self._expecting():
                seen = sub.seen()
                if any(seen.get(key, 0) <= goal[key] + 1 for key in self.published_for(sub) if key in goal):
                    return False
            return True
        if not wait_until(flows):
            raise Stuck("messages do not flow again after the fault")

    # -- the end -----------------------------------------------------------------------------------

    def published(self):
        """(publisher, topic) -> messages, over the publishers that still live."""
        return {(pub.id, topic): published for pub in self.publishers for topic, (published, _) in pub.look().items()}

    def published_for(self, sub):
        """The same for what this subscription should get."""
        senders = {pub.id for pub in self.publishers if pub.to in (None, sub.node.name)}
        return {key: n for key, n in self.published().items() if key[0] in senders and key[1].startswith(sub.topic)}

    def messages(self):
        """Published over the whole run."""
        return self._extra_messages + sum(n for pub in self.publishers for n, _ in pub.last.values())

    def count_messages(self, n):
        """For those that no publisher of `publish` has published."""
        self._extra_messages += n

    def require(self, condition, otherwise):
        if not condition:
            self.violations.append(otherwise)

    def _expecting(self):
        return [sub for sub in self.subscriptions
                if sub.whole and sub.ended is None and not sub.node.program.stopped]

    def settle(self):
        """Ends publishing and waits until every subscription has seen the last message. Where it does
        not come by itself, a few more are published: the last may have been lost or dropped."""
        for pub in self.publishers:
            if pub.node.lives():
                pub.node.ask("stop", at=pub.at)
        for _ in range(LAST_TRIES):
            if self._await_arrivals():
                return
            self.log("one more message of each publisher")
            for pub in self.publishers:
                pub.node.ask("publish", at=pub.at, publisher=pub.id, messages=pub.topics)
                self.await_silence(pub)
        for sub in self._expecting():
            if not self._seen(sub):
                self.violations.append(f"{sub.name} has not seen the last messages, nor {LAST_TRIES} more of each publisher")

    def _await_arrivals(self, quiet_s=2.0):
        """True once every subscription has seen the last message; false if nothing new has come for a while.
        However long a slow link takes: what was published is finite, and so is this."""
        return wait_while_growing(self._received, self._all_seen, quiet_s)

    def _received(self):
        return sum(stream["received"] for sub in self._expecting() for stream in sub.report()["streams"])

    def _all_seen(self):
        return all(self._seen(sub) for sub in self._expecting())

    def _seen(self, sub):
        report = sub.quiet()
        if report is None:
            return False
        published = self.published_for(sub)
        if sum(checker.lost_of(report, published).values()) == report["dropped"]:
            return True  # what is not there was dropped, maybe the last of all
        last = {checker.stream_key(stream): stream["next"] for stream in report["streams"]}
        return all(last.get(key, 0) == total for key, total in published.items())

    def check(self):
        """Asserts all that must hold for what has happened to this world."""
        dropped_at_links = self._dropped_before
        for node in self.nodes.values():
            if node.lives():
                report = node.ask("report")
                dropped_at_links += self._dropped_at_links(report)
                for link in report["links"]:
                    self.violations += checker.check_link(node.name, link)
        for sub in self.subscriptions:
            if sub.lives():
                self.violations += self._judge(sub, 0 if sub.isolated else dropped_at_links)

    def check_order(self):
        """What must hold even where the rest did not come to an end."""
        for sub in self.subscriptions:
            if sub.lives() and not sub.node.program.stopped:
                self.violations += checker.check_order(sub.name, sub.report())

    def _judge(self, sub, dropped_at_links):
        report = wait_until(sub.quiet) or sub.report()
        published = self.published_for(sub)
        yield from checker.check_order(sub.name, report)
        yield from checker.check_strangers(sub.name, report, published)
        yield from checker.check_counters(sub.name, report)
        if not sub.whole:
            if self.cuts == 0:
                yield from checker.check_gapless(sub.name, report)
        elif self.cuts == 0:
            paths = sum(each.whole for each in self.subscriptions)
            yield from checker.check_complete(sub.name, report, published, dropped_at_links, paths)
        else:
            allowed = self.in_flight(sub)
            lost = max(0, sum(checker.lost_of(report, published).values()) - report["dropped"])
            self.figures["lost_in_flight"] = max(self.figures.get("lost_in_flight", 0),
                                                 lost - self.unwanted() - dropped_at_links)
            self.figures["allowed_in_flight"] = max(self.figures.get("allowed_in_flight", 0), allowed)
            if not self.settings.sanitized:
                yield from checker.check_allowance(sub.name, sum(published.values()), allowed)
            yield from checker.check_windows(sub.name, report, published, self.windows)
            yield from checker.check_explained(sub.name, report, published, self.unwanted() + dropped_at_links, allowed)

    def unwanted(self):
        return sum(unwanted for pub in self.publishers for _, unwanted in pub.look().values())

    def in_flight(self, sub):
        """How many messages for this subscription the cuts may have destroyed, at most."""
        senders = [pub for pub in self.publishers if pub.to in (None, sub.node.name)]
        reaction_s = REACTION_S * (4 if self.settings.sanitized else 1)
        unnoticed = int(self.cuts * reaction_s * sum(pub.per_second for pub in senders))
        swallowed = self.vanished_bytes // (min(pub.min_bytes for pub in senders) + ENVELOPE_BYTES)
        return self.at_risk.get(sub.name, 0) + unnoticed + swallowed

    @staticmethod
    def held_by_a_link(smallest):
        """Messages in the queues before and behind a link and in its sockets, at most."""
        return 2 * LINK_CAPACITY + SOCKET_BYTES // (smallest + ENVELOPE_BYTES)

    def close(self, timeout_ms=CLOSE_TIMEOUT_MS):
        """Closes every node: in time, and without leaving anything behind."""
        for node in self.nodes.values():
            if node.lives():
                self.close_node(node, timeout_ms)

    def close_node(self, node, timeout_ms=CLOSE_TIMEOUT_MS):
        peak_kb = node.memory_kb("VmHWM")
        self.peak_kb = max(self.peak_kb, peak_kb)
        if not self.settings.sanitized:
            self.violations += checker.check_memory(node.name, peak_kb, self.memory_bound_mib)
        after = node.ask("close", timeout_ms=timeout_ms)
        # The last handle of an endpoint may be held for a moment by a thread that is just ending.
        wait_until(lambda: self._given_back(node, after), 2.0)
        self.violations += checker.check_closed(node.name, node.baseline, after, timeout_ms)
        status = node.program.end()
        if status != 0:
            self.violations.append(f"{node.name} ended with status {status}")

    @staticmethod
    def _given_back(node, after):
        after.update(node.ask("resources"))
        return all(after[kind] <= before for kind, before in node.baseline.items())

    def abandon(self):
        """Ends what still runs, whatever happened."""
        for program in [node.program for node in self.nodes.values()] + ([self._shim] if self._shim else []):
            program.kill()
        self._folder.cleanup()
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").splitlines()
        self._errors.close()
        if self.violations:
            self.last_words = lines[-10:]
