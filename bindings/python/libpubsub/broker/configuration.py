"""Options of an endpoint, and what they mean for its connections.

Broker encrypts unless told otherwise. This version of the library has no TLS: an endpoint without certificates
connects in the clear, and one with certificates is refused, so that nobody believes in a protection that is
not there. ``address_uri`` and ``check_transport`` are the two places that will know of TLS.
"""

from __future__ import annotations

import functools
import logging
from typing import Optional

from ..errors import NotSupported

log = logging.getLogger("libpubsub.broker")

_CERTIFICATES = ("openssl_cafile", "openssl_capath", "openssl_certificate", "openssl_key", "openssl_passphrase")


class BrokerOptions:
    """``disable_ssl``: connect without TLS. ``disable_forwarding``: pass nothing on from peer to peer.

    ``ignore_broker_conf`` (there is no configuration file here) and ``use_real_time`` (always so) have no effect.
    """

    __slots__ = ("disable_ssl", "disable_forwarding", "ignore_broker_conf", "use_real_time")

    def __init__(self) -> None:
        self.disable_ssl = False
        self.disable_forwarding = False
        self.ignore_broker_conf = False
        self.use_real_time = True


class Configuration:
    """What an Endpoint is made from.

    ``openssl_*``: files in PEM format, a folder, a passphrase; empty for none. ``max_threads``: threads that serve
    connections, 0 for one.
    """

    __slots__ = ("options", "max_threads", *_CERTIFICATES)

    def __init__(self, options: Optional[BrokerOptions] = None) -> None:
        self.options = BrokerOptions() if options is None else options
        self.openssl_cafile = ""
        self.openssl_capath = ""
        self.openssl_certificate = ""
        self.openssl_key = ""
        self.openssl_passphrase = ""
        self.max_threads = 0


def check_transport(configuration: Configuration) -> None:
    """Raises NotSupported where the configuration asks for certificates to be checked."""
    wanted = [name for name in _CERTIFICATES if getattr(configuration, name)]
    if wanted and not configuration.options.disable_ssl:
        raise NotSupported(f"this build of libpubsub has no TLS, which {wanted[0]} asks for; set "
                           "BrokerOptions.disable_ssl on both sides to connect without", "not_supported")


def address_uri(host: str, port: int) -> str:
    """The address as the library writes it: ``tcp://127.0.0.1:9999``, ``tcp://[::1]:9999``."""
    return f"tcp://[{host}]:{port}" if ":" in host else f"tcp://{host}:{port}"


def warn_of_clear_text(configuration: Configuration) -> None:
    """Says once a process, in the log ``libpubsub.broker``, that connections are not encrypted."""
    if not configuration.options.disable_ssl:
        _say_clear_text()


@functools.lru_cache(maxsize=None)
def _say_clear_text() -> None:
    log.warning("connections are not encrypted: this build of libpubsub has no TLS; "
                "set BrokerOptions.disable_ssl to say that this is meant")
