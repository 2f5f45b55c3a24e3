# SPDX-License-Identifier: BSD-3-Clause
"""Options of an endpoint, and what they mean for its connections.

Broker encrypts unless told otherwise, and so does this: anonymously, or with certificates where any are given.
"""

from __future__ import annotations

import logging
from typing import Any, Dict, Optional

log = logging.getLogger("libpubsub.broker")

_CERTIFICATES = {"certificate": "openssl_certificate", "key": "openssl_key", "passphrase": "openssl_passphrase",
                 "ca_file": "openssl_cafile", "ca_path": "openssl_capath"}


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

    ``openssl_*``: files in PEM format, a folder, a passphrase; empty for none. With any of them both ends of a
    connection must present a certificate that the other trusts. ``max_threads``: threads that serve connections, 0
    for one.
    """

    __slots__ = ("options", "max_threads", *_CERTIFICATES.values())

    def __init__(self, options: Optional[BrokerOptions] = None) -> None:
        self.options = BrokerOptions() if options is None else options
        self.openssl_cafile = ""
        self.openssl_capath = ""
        self.openssl_certificate = ""
        self.openssl_key = ""
        self.openssl_passphrase = ""
        self.max_threads = 0


def certificates(configuration: Configuration) -> Dict[str, Any]:
    """The options of ``libpubsub.Endpoint`` for encryption; none where that is switched off."""
    if configuration.options.disable_ssl:
        return {}
    return {ours: getattr(configuration, brokers) for ours, brokers in _CERTIFICATES.items()}


def address_uri(configuration: Configuration, host: str, port: int) -> str:
    """The address as the library writes it: ``tls://127.0.0.1:9999``, ``tcp://[::1]:9999``."""
    scheme = "tcp" if configuration.options.disable_ssl else "tls"
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"
