# SPDX-License-Identifier: BSD-3-Clause
"""Access rules: who may do what, from Python."""

import os
import pwd

import pytest

import libpubsub
from libpubsub import AccessRule

PATIENCE = 30.0

GUESTS = AccessRule("guests", anonymous=True, publish=["/in/"], subscribe=["/out/"])


@pytest.fixture
def node():
    with libpubsub.Endpoint(access=[GUESTS]) as endpoint:
        yield endpoint


@pytest.fixture
def peer(node):
    with libpubsub.Endpoint() as endpoint:
        endpoint.peer(f"tcp://127.0.0.1:{node.listen('tcp://127.0.0.1:0')}", retry=None)
        yield endpoint


def test_a_peer_may_publish_what_its_rule_says(node, peer):
    received = node.make_subscriber("/")
    peer.wait_for_subscribers("/in/x", 1, PATIENCE)
    peer.publish("/other/x", 1)
    peer.publish("/in/x", 2)
    assert received.get(PATIENCE).topic == "/in/x"
    assert node.counters().denied == 1


def test_a_peer_receives_what_its_rule_says_and_learns_what_is_refused(node, peer):
    told = peer.make_status_subscriber(errors_only=True)
    received = peer.make_subscriber(["/out/", "/secret/"])
    node.wait_for_subscribers("/secret/x", 1, PATIENCE)
    node.publish("/secret/x", 1)
    node.publish("/out/x", 2)
    assert received.get(PATIENCE).topic == "/out/x"
    assert "no subscription to '/secret/'" in told.get(PATIENCE).message
    assert node.peers()[0].access == "guests"
    assert node.status()["peers"][0]["access"] == "guests"
    assert node.status()["counters"]["denied"] == 2


def test_rules_change_while_peers_are_connected(node, peer):
    received = node.make_subscriber("/")
    peer.wait_for_subscribers("/in/x", 1, PATIENCE)
    node.set_access([AccessRule("guests", anonymous=True, publish=["/other/"])])
    peer.publish("/in/x", 1)
    peer.publish("/other/x", 2)
    assert received.get(PATIENCE).topic == "/other/x"


def test_who_no_rule_is_for_is_refused():
    with libpubsub.Endpoint(access=[AccessRule("root", users=["no-such-user"])]) as node, libpubsub.Endpoint() as peer:
        port = node.listen("tcp://127.0.0.1:0")
        with pytest.raises(libpubsub.PeerError, match="no access rule is for this peer"):
            peer.peer(f"tcp://127.0.0.1:{port}", retry=None)


def test_a_user_of_the_host_is_known_by_name_and_by_number(tmp_path):
    for user in (str(os.getuid()), pwd.getpwuid(os.getuid()).pw_name):
        where = f"unix://{tmp_path}/{user}.sock"
        with libpubsub.Endpoint(access=[AccessRule("me", users=[user])]) as node, libpubsub.Endpoint() as peer:
            node.listen(where)
            peer.peer(where, retry=None)
            assert node.wait_for_peer(peer.id, PATIENCE)


def test_rules_come_from_a_file(tmp_path):
    file = tmp_path / "access.toml"
    file.write_text("""
[[rule]]
name = "sensors"
certificates = ["*.sensors.example.org"]
publish = ["/zeek/"]
subscribe = []

[[rule]]
name = "pages"
tokens = ["sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]

[[rule]]
name = "guests"
anonymous = true
role = "relay"
limits = { messages_per_second = 1000, connections = 2 }
""")
    try:
        rules = libpubsub.read_access_rules(file)
    except libpubsub.NotSupported:
        pytest.skip("toml++, an optional library, was not found when the package was built")
    assert rules == [
        AccessRule("sensors", certificates=["*.sensors.example.org"], publish=["/zeek/"], subscribe=[]),
        AccessRule("pages", tokens=["sha256:" + 64 * "a"]),
        AccessRule("guests", anonymous=True, relay=True, messages_per_second=1000, connections=2)]
    with libpubsub.Endpoint(access=file) as node:
        file.write_text("[[rule]]\nname = 'guests'\nanonymus = true\n")
        with pytest.raises(libpubsub.InvalidArgument, match="access.toml: line 3, column .*'anonymus'"):
            node.set_access(file)
        file.unlink()
        with pytest.raises(libpubsub.FileError, match="access.toml"):
            node.set_access(file)


def test_what_is_no_rule_is_refused():
    with libpubsub.Endpoint() as node:
        with pytest.raises(libpubsub.InvalidArgument, match="is for nobody"):
            node.set_access([AccessRule("nobody")])
        with pytest.raises(libpubsub.InvalidArgument, match="a name of its own"):
            node.set_access([GUESTS, GUESTS])
    with pytest.raises(TypeError, match="publish is a list"):
        AccessRule("guests", anonymous=True, publish="/in/")
