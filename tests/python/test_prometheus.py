# SPDX-License-Identifier: BSD-3-Clause
"""Metrics as Prometheus reads them: by its own parser where that is installed."""

import pytest

import libpubsub

prometheus_client = pytest.importorskip("prometheus_client", reason="the adapter is for programs that have this package")


def test_the_collector_tells_a_registry_what_the_endpoint_counts(endpoint):
    from libpubsub.prometheus import Collector

    with endpoint.make_subscriber("/t") as sub:
        endpoint.publish("/t", 1)
        registry = prometheus_client.CollectorRegistry()
        registry.register(Collector(endpoint))
        assert registry.get_sample_value("pubsub_published_messages_total") == 1
        assert registry.get_sample_value("pubsub_subscribers_queued_messages") == 1
        sub.get()
        assert registry.get_sample_value("pubsub_subscribers_queued_messages") == 0
        assert registry.get_sample_value("pubsub_build_info", {"version": libpubsub.__version__}) == 1
        assert registry.get_sample_value("process_open_fds") is None


def test_the_registry_serves_what_it_was_told(endpoint):
    from libpubsub.prometheus import Collector

    registry = prometheus_client.CollectorRegistry()
    registry.register(Collector(endpoint))
    text = prometheus_client.generate_latest(registry).decode()
    assert f'pubsub_node_info{{id="{endpoint.id}",name="{endpoint.name}"}} 1.0' in text
    assert "# TYPE pubsub_links_dropped_messages_total counter" in text
