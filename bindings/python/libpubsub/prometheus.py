# SPDX-License-Identifier: BSD-3-Clause
"""Metrics of endpoints in programs that use the package ``prometheus_client``, which brings the HTTP server::

    import prometheus_client
    from libpubsub.prometheus import Collector

    prometheus_client.REGISTRY.register(Collector(endpoint))
    prometheus_client.start_http_server(9464, addr="127.0.0.1")

Without that package serve ``Endpoint.metrics_text()`` itself.
"""

from __future__ import annotations

from typing import Any, Iterator

from prometheus_client.parser import text_string_to_metric_families

from libpubsub.endpoint import Endpoint

__all__ = ["Collector"]


class Collector:
    """Tells a registry of ``prometheus_client`` all metrics of an endpoint, but those of the process, which the
    registry has itself. A registry takes one endpoint."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def collect(self) -> Iterator[Any]:
        """The families of metrics as they are now."""
        for family in text_string_to_metric_families(self._endpoint.metrics_text()):
            if not family.name.startswith("process_"):
                yield family
