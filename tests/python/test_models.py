# SPDX-License-Identifier: BSD-3-Clause
"""Models against the figures of the articles."""

import pytest

from libpubsub.models import (RemoteConditions, Stage, batch_throughput, completion_time, instances_needed,
                              measured_throughput, pipeline_latency, pipeline_throughput, t_async, t_bulk, t_pipeline,
                              t_segments, t_sync, t_windowed)

US = 1e-6


def test_the_examples_of_the_butterfly_article():
    monolith = Stage(8 * US, input=4 * US, output=4 * US)
    assert monolith.throughput == pytest.approx(62_500)
    first = Stage(6 * US, input=4 * US, output=2 * US)
    second = Stage(2 * US, input=2 * US, output=4 * US)
    assert first.throughput == pytest.approx(83_333, rel=1e-4)
    assert second.throughput == pytest.approx(125_000)
    assert pipeline_throughput([first, second]) == pytest.approx(83_333, rel=1e-4)
    assert Stage(8 * US, 3, 4 * US, 4 * US).throughput == pytest.approx(187_500)
    assert pipeline_throughput([Stage(6 * US, 2, 4 * US, 2 * US), second]) == pytest.approx(125_000)


@pytest.mark.parametrize("stage1, stage2, ms1, ms2, ideal", [
    (1, 1, 500, 500, 2.0), (2, 2, 500, 500, 4.0), (3, 3, 500, 500, 6.0), (2, 1, 500, 500, 2.0), (1, 1, 250, 750, 4 / 3)])
def test_the_ideals_of_the_butterfly_table(stage1, stage2, ms1, ms2, ideal):
    stages = [Stage(ms1 / 1000, stage1), Stage(ms2 / 1000, stage2)]
    assert pipeline_throughput(stages) == pytest.approx(ideal)
    tasks = 60
    assert measured_throughput(stages, tasks, completion_time(stages, tasks)) == pytest.approx(ideal)


def test_a_pipeline_fills_before_it_flows():
    stages = [Stage(0.25), Stage(0.75)]
    assert pipeline_latency(stages) == completion_time(stages, 1) == 1.0
    assert completion_time(stages, 3) == 2.5
    assert completion_time([Stage(0.5, 2), Stage(0.5, 2)], 4) == 1.5
    assert completion_time(stages, 0) == 0.0
    with pytest.raises(ValueError):
        measured_throughput(stages, 10, 0.1)


def test_how_many_workers_it_takes():
    assert instances_needed(Stage(0.5), 6) == 3
    assert instances_needed(Stage(0.5), 6.01) == 4
    assert instances_needed(Stage(0.5), 0.1) == 1


def test_waiting_for_each_batch_costs_less_the_longer_it_is():
    rates = [batch_throughput(n, 1 * US, 100 * US) for n in (1, 10, 100, 1_000_000)]
    assert rates == sorted(rates)
    assert rates[1] == pytest.approx(10 / 110e-6)
    assert rates[3] == pytest.approx(1e6, rel=1e-3)


@pytest.mark.parametrize("bad", [{"processing": 1, "instances": 0}, {"processing": -1}, {"processing": 0},
                                 {"processing": 1, "input": float("nan")}])
def test_impossible_stages_are_refused(bad):
    with pytest.raises(ValueError):
        Stage(**bad)
    with pytest.raises(ValueError):
        batch_throughput(0, 1, 1)


WAN = RemoteConditions(latency=0.040, bandwidth=7e6 / 8, request=24, response=24)
LAN = RemoteConditions(latency=0.000_1, bandwidth=5e9 / 8, request=24, response=24)
MODELS = [t_sync, t_async, t_bulk, t_pipeline, t_windowed]


def test_one_operation_costs_the_latency_its_bytes_and_its_work_once():
    at = RemoteConditions(latency=0.04, bandwidth=1_000, operation=0.5, request=10, response=90)
    assert t_sync(1, at) == pytest.approx(0.04 + 0.1 + 0.5)
    assert t_bulk(1, at) == t_async(1, at) == pytest.approx(t_sync(1, at))
    assert t_pipeline(1, at) == pytest.approx(0.04 + 0.2 + 0.5)  # each direction has half the bandwidth
    assert t_segments(at) == (pytest.approx(0.02 + 0.02), 0.5, pytest.approx(0.02 + 0.18))


def test_bulk_pays_the_latency_once_and_sync_for_each():
    assert t_sync(1_000, WAN) == pytest.approx(1_000 * (0.040 + 48 / (7e6 / 8)))
    assert t_bulk(1_000, WAN) == pytest.approx(0.040 + 1_000 * 48 / (7e6 / 8))
    assert t_bulk(1_000, WAN) < t_pipeline(1_000, WAN) < t_sync(1_000, WAN)
    assert t_bulk(1_000, LAN) < t_pipeline(1_000, LAN) < t_sync(1_000, LAN)


def test_threads_speed_up_the_network_and_the_server():
    at = RemoteConditions(latency=0.04, bandwidth=1_000, operation=0.5, request=10, response=90, setup=0.02,
                          thread=0.001, network_speedup=2, server_speedup=5)
    assert t_async(10, at) == pytest.approx(10 * (0.06 / 2 + 0.001 + 0.1 / 2 + 0.5 / 5))
    assert t_bulk(10, at) == pytest.approx(0.06 + 10 * 0.6)


def test_the_slowest_segment_sets_the_pace_of_a_pipeline():
    at = RemoteConditions(latency=0.01, bandwidth=1e9, operation=0.5)
    assert t_pipeline(10, at) == pytest.approx(10 * 0.5 + 0.01)


def test_a_window_of_one_is_sync_and_one_request_is_bulk():
    for at in (WAN, LAN):
        assert t_windowed(100, at, window=1, up=at.bandwidth, down=at.bandwidth) == pytest.approx(t_sync(100, at))
        assert t_windowed(100, at, bulk=100, up=at.bandwidth, down=at.bandwidth) == pytest.approx(t_bulk(100, at))


def test_a_window_covers_the_latency_or_sets_the_pace():
    assert t_windowed(1_000, WAN, window=1_000) < 0.2
    assert t_windowed(1_000, WAN, window=10) == pytest.approx(t_sync(1_000, WAN) / 10, rel=0.02)
    busy = RemoteConditions(latency=0, bandwidth=1e9, operation=0.1)
    assert t_windowed(100, busy, workers=4) == pytest.approx(0.1 + 99 * 0.1 / 4)


@pytest.mark.parametrize("model", MODELS)
def test_no_operations_take_no_time(model):
    assert model(0, WAN) == 0
    with pytest.raises(ValueError):
        model(-1, WAN)


@pytest.mark.parametrize("bad", [{"latency": -1}, {"bandwidth": 0}, {"operation": float("nan")},
                                 {"network_speedup": 0.5}])
def test_impossible_conditions_are_refused(bad):
    with pytest.raises(ValueError):
        RemoteConditions(**{"latency": 0, "bandwidth": 1, **bad})
