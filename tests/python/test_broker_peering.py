# SPDX-License-Identifier: BSD-3-Clause
"""libpubsub.broker: peers, what is reported of them, forwarding, and options."""

import logging
import re
import select
import socket

import pytest
from conftest import DEADLINE, ROOT, wait_until

import libpubsub
import libpubsub.broker as broker
from libpubsub.broker import EC, SC, PeerFlags, PeerStatus, Topic

HERE = "127.0.0.1"
NOBODY = "00000000-0000-0000-0000-000000000000"


@pytest.fixture
def endpoints():
    """A function that makes endpoints, which are shut down at the end."""
    made = []

    def make(disable_forwarding=False, disable_ssl=False):
        options = broker.BrokerOptions()
        options.disable_ssl = disable_ssl
        options.disable_forwarding = disable_forwarding
        made.append(broker.Endpoint(broker.Configuration(options)))
        return made[-1]

    yield make
    for endpoint in made:
        endpoint.shutdown()


@pytest.fixture
def free_port():
    with socket.create_server((HERE, 0)) as probe:
        return probe.getsockname()[1]


def connect(*line):
    """Peers each endpoint with the next."""
    for left, right in zip(line, line[1:]):
        assert left.peer(HERE, right.listen(HERE, 0), 1.0)


def test_both_sides_see_the_peer_discovered_then_added(endpoints):
    one, other = endpoints(), endpoints()
    with one.make_status_subscriber(True) as here, other.make_status_subscriber(True) as there:
        port = one.listen(HERE, 0)
        assert other.peer(HERE, port, 1.0)
        for status, peer in ((here, other), (there, one)):
            discovered, added = status.get(2, DEADLINE)
            assert (discovered.code(), added.code()) == (SC.EndpointDiscovered, SC.PeerAdded)
            assert discovered.context().node_id() == added.context().node_id() == peer.node_id()
            assert not discovered.context().network.is_set()
            assert added.context().network.get().address == HERE
        assert added.context().network.get().port == port
        assert repr(added) == f'peer_added({one.node_id()}, {HERE}:{port}, "handshake successful")'
        assert repr(discovered) == f'endpoint_discovered({one.node_id()}, "found a new peer in the network")'
        assert added == SC.PeerAdded and added != discovered and added == broker.Status(SC.PeerAdded)


def test_unpeering_is_removal_here_and_loss_there(endpoints):
    one, other = endpoints(), endpoints()
    port = one.listen(HERE, 0)
    assert other.peer(HERE, port, 0)
    assert one.await_peer(other.node_id())
    with one.make_status_subscriber(True) as there, other.make_status_subscriber(True) as here:
        assert other.unpeer(HERE, port)
        assert [each.code() for each in here.get(2, DEADLINE)] == [SC.PeerRemoved, SC.EndpointUnreachable]
        lost, unreachable = there.get(2, DEADLINE)
        assert (lost.code(), unreachable.code()) == (SC.PeerLost, SC.EndpointUnreachable)
        assert lost.message() == "lost connection to remote peer" and unreachable.message() == "lost the last path"
    assert other.peers() == [] and not other.await_peer(one.node_id(), 0.05)


def test_unpeering_strangers_is_reported(endpoints, free_port):
    endpoint = endpoints()
    with endpoint.make_status_subscriber() as errors:
        assert not endpoint.unpeer(HERE, free_port)
        endpoint.unpeer_nosync(HERE, free_port)
        for _ in range(2):
            error = errors.get(DEADLINE)
            assert error.code() == EC.PeerInvalid
            assert repr(error) == (f'peer_invalid(endpoint_info({NOBODY}, *{HERE}:{free_port}), '
                                   '"cannot unpeer from unknown peer")')


def test_unpeer_nosync_returns_before_the_end(endpoints):
    one, other = endpoints(), endpoints()
    port = one.listen(HERE, 0)
    assert other.peer(HERE, port, 0)
    other.unpeer_nosync(HERE, port)
    wait_until(lambda: other.peers() == [])


def test_a_single_attempt_fails_and_is_reported(endpoints, free_port):
    endpoint = endpoints()
    with endpoint.make_status_subscriber() as errors:
        assert endpoint.peer(HERE, free_port, 0.0) is False
        error = errors.get(DEADLINE)
        assert isinstance(error, broker.Error)
        assert error.code() == EC.PeerUnavailable == 4 and error == EC.PeerUnavailable and error != EC.PeerInvalid
        assert error.context().network.get() == broker.NetworkInfo(HERE, free_port)
        assert repr(error).startswith(f"peer_unavailable(endpoint_info({NOBODY}, *{HERE}:{free_port}), ")
        assert errors.get(0.01) is None


@pytest.mark.parametrize(("disable_ssl", "cause"), [(True, "wrong magic number"), (False, "does not use TLS")])
def test_who_answers_but_is_no_peer_is_unavailable_as_in_broker(endpoints, disable_ssl, cause):
    endpoint = endpoints(disable_ssl=disable_ssl)
    with socket.create_server((HERE, 0)) as stranger, endpoint.make_status_subscriber() as errors:
        port = stranger.getsockname()[1]
        endpoint.peer_nosync(HERE, port, 0.0)
        stranger.settimeout(DEADLINE)
        with stranger.accept()[0] as connection:
            connection.sendall(b"\0\0\0\5\7XEEK")
            error = errors.get(DEADLINE)
        assert error.code() == EC.PeerUnavailable and error.context().node_id() == NOBODY
        assert error.message().startswith("unable to connect to remote peer (")
        assert cause in error.message()


def test_peer_nosync_tries_until_the_peer_is_there(endpoints, free_port):
    early, late = endpoints(), endpoints()
    with early.make_status_subscriber() as errors:
        early.peer_nosync(HERE, free_port, 1.0)
        assert [each.code() for each in errors.get(2, DEADLINE)] == [EC.PeerUnavailable] * 2
        assert late.listen(HERE, free_port) == free_port
        assert early.await_peer(late.node_id(), DEADLINE)


def test_status_subscribers_see_errors_only_unless_asked(endpoints, free_port):
    one, other = endpoints(), endpoints()
    with one.make_status_subscriber() as errors, one.make_status_subscriber(True) as both:
        connect(one, other)
        assert both.get(2, DEADLINE)[1].code() == SC.PeerAdded
        assert errors.available() == 0 and errors.poll() == [] and not select.select([errors.fd()], [], [], 0)[0]
        one.peer(HERE, free_port, 0)
        assert select.select([errors.fd()], [], [], DEADLINE)[0] and errors.available() == 1
        wait_until(lambda: both.available() == 1)
        assert [each.code() for each in errors.poll() + both.poll()] == [EC.PeerUnavailable] * 2
        assert not select.select([errors.fd()], [], [], 0)[0]


def test_a_port_in_use_gives_0_and_a_reason(endpoints, caplog):
    endpoint = endpoints()
    with socket.create_server((HERE, 0)) as taken, caplog.at_level(logging.WARNING, "libpubsub.broker"):
        port = taken.getsockname()[1]
        assert endpoint.listen(HERE, port) == 0
    assert str(port) in caplog.text
    assert endpoint.listen(HERE, 0) > 0
    assert endpoint.listen("", 0) > 0


def has_ipv6_loopback():
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


@pytest.mark.skipif(not has_ipv6_loopback(), reason="a plain socket cannot listen at ::1 on this machine either")
def test_addresses_of_version_6_are_written_in_brackets(endpoints):
    one, other = endpoints(), endpoints()
    port = one.listen("::1", 0)
    assert port > 0
    assert other.peer("::1", port, 0) and other.unpeer("::1", port)


def test_peers_and_what_they_want_are_listed(endpoints):
    one, other = endpoints(), endpoints()
    with one.make_subscriber(["/b", "/a"]):
        connect(other, one)
        (peer,) = other.peers()
        assert peer.peer.node_id() == repr(peer.peer) == one.node_id() and peer.peer.network.get().address == HERE
        assert (peer.flags, peer.status) == (PeerFlags.Remote, PeerStatus.Peered)
        assert other.peer_subscriptions() == [Topic("/a"), Topic("/b")] and one.peer_subscriptions() == []


def test_peering_twice_with_one_endpoint_is_one_peering(endpoints):
    one, other = endpoints(), endpoints()
    port = one.listen(HERE, 0)
    assert other.peer(HERE, port, 0) and other.peer(HERE, port, 0)
    assert len(other.peers()) == 1


def test_await_peer_gives_up_and_refuses_what_is_no_id(endpoints):
    endpoint = endpoints()
    assert not endpoint.await_peer("11111111-2222-3333-4444-555555555555", 0.05)
    with pytest.raises(ValueError):
        endpoint.await_peer("nobody", 0.05)


@pytest.mark.parametrize("nodes", [2, 3, 4])
def test_messages_cross_a_line_of_subscribed_endpoints_both_ways(endpoints, nodes):
    line = [endpoints() for _ in range(nodes)]
    subscribers = [endpoint.make_subscriber("/test/") for endpoint in line]
    connect(*line)
    assert line[0].await_peer(line[-1].node_id()) and line[-1].await_peer(line[0].node_id())
    line[0].publish("/test/foo", "Foo!")
    line[-1].publish("/test/bar", "Bar!")
    assert subscribers[-1].get(DEADLINE) == ("/test/foo", "Foo!")
    assert subscribers[0].get(DEADLINE) == ("/test/bar", "Bar!")
    for between in subscribers[1:-1]:
        assert {topic for topic, _ in between.get(2, DEADLINE)} == {"/test/foo", "/test/bar"}
    assert [each.get(0.02) for each in subscribers] == [None] * nodes  # nothing came twice


def test_a_distant_endpoint_that_wants_nothing_is_found_too(endpoints):
    line = [endpoints() for _ in range(3)]
    connect(*line)
    assert line[0].await_peer(line[2].node_id())


def test_endpoints_between_need_not_subscribe(endpoints):
    line = [endpoints() for _ in range(4)]
    connect(*line)
    with line[3].make_subscriber("/test") as subscriber:
        wait_until(lambda: Topic("/test") in line[0].peer_subscriptions())
        line[0].publish("/test/foo", 1)
        assert subscriber.get(DEADLINE) == ("/test/foo", 1)


def test_a_ring_delivers_each_message_once(endpoints):
    ring = [endpoints() for _ in range(3)]
    subscribers = [endpoint.make_subscriber("/t") for endpoint in ring]
    connect(*ring, ring[0])
    wait_until(lambda: all(len(endpoint.peers()) == 2 for endpoint in ring))
    ring[0].publish("/t", 1)
    assert [each.get(DEADLINE) for each in subscribers[1:]] == [("/t", 1)] * 2
    assert [each.get(0.02) for each in subscribers] == [None] * 3


def test_without_forwarding_messages_go_one_hop(endpoints):
    left, middle, right = endpoints(), endpoints(disable_forwarding=True), endpoints()
    near, far = middle.make_subscriber("/t"), right.make_subscriber("/t")
    connect(left, middle, right)
    left.publish("/t", "one hop")
    assert near.get(DEADLINE) == ("/t", "one hop")
    middle.publish("/t", "from the middle")
    assert far.get(DEADLINE) == ("/t", "from the middle")
    assert not left.await_peer(right.node_id(), 0.05)


def test_forwarded_topics_are_announced_without_a_subscriber(endpoints):
    one, other = endpoints(), endpoints()
    one.forward(["/a", Topic("/b")])
    connect(other, one)
    assert other.peer_subscriptions() == [Topic("/a"), Topic("/b")]
    for number in range(100):
        other.publish("/a", number)
    with one.make_subscriber("/a") as subscriber:
        other.publish("/a/last", 1)
        wait_until(lambda: ("/a/last", 1) in subscriber.poll())


# -- options --------------------------------------------------------------------------------------


def test_options_have_brokers_defaults_and_no_other_names():
    options, configuration = broker.BrokerOptions(), broker.Configuration()
    assert not options.disable_ssl and not options.disable_forwarding
    assert configuration.openssl_cafile == configuration.openssl_passphrase == "" and configuration.max_threads == 0
    for target in (options, configuration):
        with pytest.raises(AttributeError):
            target.no_such_option = True
    configuration.max_threads = 2
    with broker.Endpoint(configuration) as endpoint:
        assert endpoint.listen(HERE, 0) > 0


def test_data_stores_are_refused_with_the_reason():
    with broker.Endpoint() as endpoint:
        for attach in (lambda: endpoint.attach_master("s", broker.Backend.Memory, {}), lambda: endpoint.attach_clone("s"),
                       broker.Store):
            with pytest.raises(NotImplementedError, match="data store.*messages only") as info:
                attach()
            assert isinstance(info.value, libpubsub.NotSupported)


# -- codes and texts ------------------------------------------------------------------------------


def test_error_codes_are_those_on_the_wire():
    assert [code.value for code in EC] == list(range(1, 42)) and [code.value for code in SC] == list(range(6))
    assert (EC.RequestTimeOut, EC.ShuttingDown, EC.RedundantConnection) == (10, 28, 39)
    assert str(EC.PeerUnavailable) == "EC.PeerUnavailable" and str(SC.PeerLost) == "SC.PeerLost"
    assert EC(4) is EC.PeerUnavailable and 4 == EC.PeerUnavailable


def test_errors_and_statuses_read_as_in_broker():
    assert repr(broker.Error()) == "none" and broker.Error().code() == 0
    assert repr(broker.Error(EC.RequestTimeOut, None, 'a "quote"')) == 'request_timeout("a \\"quote\\"")'
    where = broker.EndpointInfo(NOBODY[:-1] + "1")
    assert repr(broker.Error(EC.PeerInvalid, where, "x")) == f'peer_invalid(endpoint_info({where!r}, none), "x")'
    assert broker.Error(EC.PeerInvalid) == broker.Error(EC.PeerInvalid, where) != broker.Error(EC.PeerTimeout)
    assert len({broker.Error(EC.PeerInvalid), broker.Error(EC.PeerInvalid, where)}) == 1
    assert repr(broker.Status()) == 'unspecified("")' and broker.Status().context() is None
    assert repr(where.network) == "nil" and repr(broker.OptionalNetworkInfo(broker.NetworkInfo("h", 1))) == "h:1"
    with pytest.raises(ValueError, match="not known"):
        where.network.get()


def test_the_version_is_that_of_brokers_module():
    assert broker.Version.string() == "2.8.0" and broker.Version.compatible(broker.Version.PROTOCOL)
    assert not broker.Version.compatible(1)


def test_every_exported_name_exists():
    assert [name for name in broker.__all__ if not hasattr(broker, name)] == []


def test_every_name_in_the_migration_page_exists():
    page = (ROOT / "docs/migrating-from-broker.md").read_text(encoding="utf-8")
    names = set(re.findall(r"\bbroker((?:\.[A-Za-z]\w*)+)\(", page)) | set(re.findall(r"`broker((?:\.[A-Z]\w*)+)`", page))
    assert ".Endpoint" in names and ".zeek.Event" in names and ".Count" in names
    for name in sorted(names):
        found = broker
        for part in name[1:].split("."):
            found = getattr(found, part)
    for program in re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S):
        compile(program, "docs/migrating-from-broker.md", "exec")
