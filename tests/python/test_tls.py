# SPDX-License-Identifier: BSD-3-Clause
"""Encrypted connections, of libpubsub and of libpubsub.broker."""

import contextlib
import subprocess

import pytest
from certificates import Authority
from conftest import DEADLINE, wait_until

import libpubsub
import libpubsub.broker as broker

HERE = "127.0.0.1"


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("tls") / "ours")


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("tls") / "theirs")


@contextlib.contextmanager
def pair(one, other):
    with libpubsub.Endpoint(**one) as acceptor, libpubsub.Endpoint(**other) as dialer:
        yield acceptor, dialer, f"tls://{HERE}:{acceptor.listen(f'tls://{HERE}:0')}"


def crosses(publisher, subscriber):
    """Whether a message gets from one endpoint to the other."""
    with subscriber.make_subscriber("/t") as received:
        assert publisher.wait_for_subscribers("/t", 1, DEADLINE)
        publisher.publish("/t", "hello")
        return received.get(DEADLINE).data == "hello"


# -- libpubsub ------------------------------------------------------------------------------------


def test_messages_cross_an_anonymous_link():
    with pair({}, {}) as (acceptor, dialer, uri):
        dialer.peer(uri, retry=None, timeout=DEADLINE)
        assert crosses(dialer, acceptor) and crosses(acceptor, dialer)


def test_messages_cross_a_link_with_certificates(ours):
    with pair(ours.issue("a"), ours.issue("b", "a phrase")) as (acceptor, dialer, uri):
        dialer.peer(uri, retry=None, timeout=DEADLINE)
        assert crosses(dialer, acceptor) and crosses(acceptor, dialer)


def test_a_folder_of_authorities_will_do(ours, tmp_path):
    name = subprocess.run(["openssl", "x509", "-hash", "-noout", "-in", str(ours.ca_file)], check=True,
                          capture_output=True, text=True).stdout.strip()
    (tmp_path / f"{name}.0").symlink_to(ours.ca_file)
    options = {**ours.issue("folder"), "ca_file": "", "ca_path": tmp_path}
    with pair(options, options) as (acceptor, dialer, uri):
        dialer.peer(uri, retry=None, timeout=DEADLINE)
        assert crosses(dialer, acceptor)


def test_strangers_are_refused_on_both_sides(ours, theirs):
    with pair(ours.issue("a"), theirs.issue("b")) as (acceptor, dialer, uri):
        events = acceptor.make_status_subscriber(errors_only=True)
        with pytest.raises(libpubsub.TlsFailed, match="the peer's certificate is not accepted") as info:
            dialer.peer(uri, retry=None, timeout=DEADLINE)
        assert isinstance(info.value, ConnectionError) and info.value.code == "tls_failed"
        event = events.get(DEADLINE)
        assert event.code == "tls_failed" and "does not accept this side's certificate" in event.message


def test_plain_text_and_tls_do_not_mix():
    with libpubsub.Endpoint() as acceptor, libpubsub.Endpoint() as dialer:
        secret, clear = (acceptor.listen(f"{scheme}://{HERE}:0") for scheme in ("tls", "tcp"))
        with pytest.raises(libpubsub.TlsFailed, match="the peer uses TLS, and this side does not"):
            dialer.peer(f"tcp://{HERE}:{secret}", retry=None, timeout=DEADLINE)
        with pytest.raises(libpubsub.TlsFailed, match="the peer does not use TLS, and this side does"):
            dialer.peer(f"tls://{HERE}:{clear}", retry=None, timeout=DEADLINE)


def test_certificates_that_cannot_be_used_are_errors_at_once(ours, tmp_path):
    good = ours.issue("good", "right")
    with pytest.raises(libpubsub.FileError, match="missing.pem: No such file"):
        libpubsub.Endpoint(**{**good, "certificate": tmp_path / "missing.pem"})
    with pytest.raises(libpubsub.InvalidArgument, match="the passphrase does not open the private key"):
        libpubsub.Endpoint(**{**good, "passphrase": "wrong"})
    with pytest.raises(libpubsub.InvalidArgument, match="needs its private key"):
        libpubsub.Endpoint(certificate=good["certificate"], ca_file=good["ca_file"])


# -- libpubsub.broker -----------------------------------------------------------------------------


def configured(options=None, disable_ssl=False):
    configuration = broker.Configuration()
    configuration.options.disable_ssl = disable_ssl
    for ours_name, brokers_name in (("certificate", "certificate"), ("key", "key"), ("passphrase", "passphrase"),
                                    ("ca_file", "cafile"), ("ca_path", "capath")):
        setattr(configuration, f"openssl_{brokers_name}", str((options or {}).get(ours_name, "")))
    return configuration


def brokers_peer(one, other):
    """Whether an endpoint with one configuration can peer with one of the other, and get a message across."""
    with broker.Endpoint(one) as acceptor, broker.Endpoint(other) as dialer, \
            acceptor.make_subscriber("/t") as received:
        if not dialer.peer(HERE, acceptor.listen(HERE, 0), 0):
            return False
        dialer.publish("/t", "hello")
        return received.get(DEADLINE) == ("/t", "hello")


def test_broker_encrypts_unless_told_otherwise():
    with broker.Endpoint() as acceptor, libpubsub.Endpoint() as dialer:
        port = acceptor.listen(HERE, 0)
        with pytest.raises(libpubsub.TlsFailed):
            dialer.peer(f"tcp://{HERE}:{port}", retry=None, timeout=DEADLINE)
        dialer.peer(f"tls://{HERE}:{port}", retry=None, timeout=DEADLINE)
        wait_until(lambda: len(acceptor.peers()) == 1)
    with broker.Endpoint(configured(disable_ssl=True)) as acceptor, libpubsub.Endpoint() as dialer:
        dialer.peer(f"tcp://{HERE}:{acceptor.listen(HERE, 0)}", retry=None, timeout=DEADLINE)


def test_broker_peers_with_the_same_configuration(ours):
    sealed = configured(ours.issue("sealed", "12345"))
    for configuration in (configured(), configured(ours.issue("open")), sealed, configured(disable_ssl=True)):
        assert brokers_peer(configuration, configuration)
    assert brokers_peer(sealed, configured(ours.issue("another")))


def test_broker_does_not_peer_with_another_configuration(ours, theirs):
    different = [configured(), configured(ours.issue("us")), configured(theirs.issue("them")),
                 configured(disable_ssl=True)]
    for one in different:
        for other in different:
            assert one is other or not brokers_peer(one, other)


def test_broker_reports_failures_of_tls_as_unavailable_peers(ours):
    with broker.Endpoint(configured(ours.issue("strict"))) as acceptor, broker.Endpoint() as dialer, \
            acceptor.make_status_subscriber() as there, dialer.make_status_subscriber() as here:
        assert not dialer.peer(HERE, acceptor.listen(HERE, 0), 0)
        for events in (here, there):
            error = events.get(DEADLINE)
            assert error == broker.EC.PeerUnavailable
            assert error.context().network.get().address == HERE and error.message() != ""


def test_broker_ignores_certificates_where_encryption_is_off():
    configuration = configured({"certificate": "missing.pem"}, disable_ssl=True)
    assert brokers_peer(configuration, configuration)


def test_broker_refuses_certificates_that_cannot_be_used(ours):
    with pytest.raises(libpubsub.FileError, match="missing.pem"):
        broker.Endpoint(configured({**ours.issue("x"), "key": "missing.pem"}))
    with pytest.raises(libpubsub.InvalidArgument, match="passphrase"):
        broker.Endpoint(configured({**ours.issue("y", "right"), "passphrase": "wrong"}))
