"""Models against the figures of the articles."""

import pytest

from libpubsub.models import (Stage, batch_throughput, completion_time, instances_needed, measured_throughput,
                              pipeline_latency, pipeline_throughput)

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
