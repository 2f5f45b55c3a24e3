# SPDX-License-Identifier: BSD-3-Clause
"""Whole pipelines of processes: results, failures, kills, and no process left behind."""

import os
import random
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest
from conftest import DEADLINE, ROOT, wait_until
from pipeline_stages import (Gate, Loaded, at_the_gate, deadly, double, end_while_loading, fail_to_load, increment, negate,
                             picky, same, take_folder_along)

import libpubsub
from libpubsub import Pipeline, TaskError, pipeline, stage

KILL_SECONDS = min(float(os.environ.get("PUBSUB_KILL_SECONDS", 4)), 60.0)

PROGRAM = """
import signal, threading
from libpubsub import pipeline, stage

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored, where tests run in the background

never = threading.Event()

def slowly(x):
    never.wait(60)

if __name__ == "__main__":
    p = pipeline([stage(slowly, workers=2), slowly])
    p.wait_ready(20)
    print(*[id for ids in p.process_ids().values() for id in ids], flush=True)
    {ending}
"""


def is_gone(process_id):
    try:
        state = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state == "Z"  # who should wait for it is not there any more


def all_ids(p):
    return [each for ids in p.process_ids().values() for each in ids]


def kill(process_id):
    os.kill(process_id, signal.SIGKILL)


def start_program(tmp_path, ending):
    (tmp_path / "program.py").write_text(PROGRAM.replace("{ending}", ending))
    program = subprocess.Popen([sys.executable, tmp_path / "program.py"], stdout=subprocess.PIPE, text=True,
                               stderr=subprocess.PIPE, start_new_session=True)
    ids = [int(each) for each in program.stdout.readline().split()]
    assert len(ids) == 3
    return program, ids


# -- results


def test_three_stages_give_results_in_the_order_of_their_values():
    with pipeline([stage(increment, workers=2, concurrency=2), double, stage(negate, workers=2)]) as p:
        assert list(p.map(range(1000))) == [-2 * (x + 1) for x in range(1000)]
        unordered = list(p.map(range(1000), ordered=False))
        assert len(unordered) == 1000 and set(unordered) == {-2 * (x + 1) for x in range(1000)}
        now = p.counters()
        assert (now.submitted, now.done, now.failed, now.restarts) == (2000, 2000, 0, 0)
        assert p.drain(0) == 0
        assert repr(p) == "<Pipeline increment x 2 -> double x 1 -> negate x 2>"
        ids = all_ids(p)
    assert len(ids) == 5 and all(is_gone(each) for each in ids)


def test_a_pipeline_in_an_expression_ends_with_its_results():
    before = set(threading.enumerate())
    assert list(pipeline([increment]).map("" for _ in ())) == []
    assert next(pipeline([increment]).map([1, 2, 3])) == 2
    wait_until(lambda: set(threading.enumerate()) <= before)


def test_values_are_taken_as_results_are_at_most_a_window_ahead():
    taken = 0

    def values():
        nonlocal taken
        while True:
            taken += 1
            yield taken

    with pipeline([increment], window=10) as p:
        results = p.map(values())
        assert taken == 0
        for n in range(1, 31):
            assert next(results) == n + 1
            assert taken <= n + 10
        results.close()
        assert list(results) == []


def test_futures_get_results_and_leaving_the_block_waits_for_them():
    with pipeline([double], window=5) as p:
        futures = [p.submit(x) for x in range(50)]
    assert [each.result(0) for each in futures] == [2 * x for x in range(50)]
    with pytest.raises(libpubsub.Closed):
        p.submit(1)
    with pytest.raises(libpubsub.Closed):
        next(p.map([1]))
    p.close()


def test_the_callback_of_a_future_cannot_wait_for_room(tmp_path):
    refusals = []

    def submit_again(_):
        try:
            p.submit((str(tmp_path), 2))
        except libpubsub.InvalidArgument as refusal:
            refusals.append(refusal)

    gate = Gate(tmp_path)
    with pipeline([at_the_gate]) as p:
        future = p.submit((str(tmp_path), 1))
        future.add_done_callback(submit_again)
        cancelled = p.submit((str(tmp_path), 3))
        assert cancelled.cancel()
        gate.open()
        assert future.result(DEADLINE) == 1
        wait_until(lambda: p.counters().done == 2)
    assert len(refusals) == 1 and cancelled.cancelled()


def test_a_value_that_cannot_be_sent_says_so_and_the_rest_goes_on():
    with pipeline([same]) as p:
        with pytest.raises(libpubsub.EncodeTypeError):
            p.submit(object())
        assert p.submit("next").result(DEADLINE) == "next"
        assert p.counters().submitted == 1


# -- what fails


def test_a_task_that_raises_fails_in_its_place_with_type_and_text():
    with pipeline([same, stage(picky, name="choosy"), same]) as p:
        returned = list(p.map(range(9), on_error="return"))
        assert [x for x in returned if not isinstance(x, TaskError)] == [0, 1, 2, 4, 6, 8]
        assert [(x.stage, x.type) for x in (returned[3], returned[5], returned[7])] == [
            ("choosy", "ValueError"), ("choosy", "SystemExit"), ("choosy", "EncodeTypeError")]
        assert (returned[3].text, returned[5].text) == ("three is ? odd", "five")
        assert str(returned[5]) == "stage 'choosy': SystemExit: five"
        assert list(p.map(range(9), on_error="skip")) == [0, 1, 2, 4, 6, 8]
        results = p.map(range(5))
        assert [next(results) for _ in range(3)] == [0, 1, 2]
        with pytest.raises(TaskError, match="ValueError: three"):
            next(results)
        assert list(results) == [4]
        assert (p.counters().failed, p.counters().done) == (7, 16)
        with pytest.raises(TaskError):
            p.submit(3).result(DEADLINE)


@pytest.mark.parametrize("load, says", [(fail_to_load, "cannot start: ImportError: no such thing"),
                                        (end_while_loading, "2 processes in a row.*exit code 3")])
def test_a_stage_that_cannot_start_is_an_error_for_all_who_wait(load, says):
    with pipeline([same, stage(Loaded(load), name="broken")], max_restarts=1) as p:
        with pytest.raises(libpubsub.StageError, match=f"stage 'broken'.*{says}"):
            list(p.map(range(10)))
        with pytest.raises(libpubsub.StageError):
            p.submit(1)
        with pytest.raises(libpubsub.StageError):
            p.wait_ready(DEADLINE)
        wait_until(lambda: p.process_ids() == {"same": [], "broken": []})


@pytest.mark.parametrize("stages, options, says", [
    ([], {}, "at least one stage"),
    ([same], {"window": 0}, "window"),
    ([same], {"max_losses": 0}, "max_losses"),
    ([same], {"max_restarts": -1}, "max_restarts"),
    ([same], {"liveness_timeout": 0.0}, "liveness_timeout"),
    ([same], {"listen": "nonsense"}, "nonsense"),
    ([lambda x: x], {}, "top level of a module"),
    (["same"], {}, "function"),
    ([libpubsub.pipelines.Stage(same, 0, 1, "idle")], {}, "'idle' has no workers"),
])
def test_what_cannot_be_a_pipeline_is_refused(stages, options, says):
    with pytest.raises(ValueError, match=says) as caught:
        pipeline(stages, **options)
    assert isinstance(caught.value, libpubsub.InvalidArgument)


def test_what_cannot_be_a_stage_is_refused():
    for bad in ({"workers": -1}, {"concurrency": 0}):
        with pytest.raises(ValueError, match="'same' has"):
            stage(same, **bad)
    with pipeline([same]) as p, pytest.raises(ValueError, match="on_error"):
        p.map([], on_error="ignore")


def test_a_task_that_kills_its_workers_fails_and_the_others_do_not():
    with pipeline([stage(deadly, workers=2)], max_losses=2) as p:
        results = list(p.map([0, 1, "poison", *range(3, 200)], on_error="return"))
        assert (results[2].type, results[2].stage) == ("WorkerLost", "deadly")
        assert results[:2] + results[3:] == [0, 1, *range(3, 200)]
        assert p.counters().restarts >= 2 and p.counters().failed == 1


# -- processes that are killed


def test_workers_are_killed_under_load_and_every_task_has_one_result():
    with pipeline([stage(increment, workers=2), stage(double, workers=2), negate], window=500) as p:
        assert p.wait_ready(DEADLINE)
        end = time.monotonic() + KILL_SECONDS
        next_kill = time.monotonic() + 0.3
        kills = expected = 0

        def values():
            number = 0
            while time.monotonic() < end or number < 1000 or kills < 2:
                yield number
                number += 1

        for result in p.map(values()):
            assert result == -2 * (expected + 1)
            expected += 1
            killing = time.monotonic() < end or kills < 2
            if killing and next_kill < time.monotonic() and p.counters().restarts == kills and p.wait_ready(0):
                kill(random.choice(all_ids(p)))
                kills += 1
                next_kill = time.monotonic() + 0.5 * random.random()
        now = p.counters()
        print(f"{now} with {kills} kills in {KILL_SECONDS} s")
        assert now.submitted == now.done == expected >= 1000
        assert now.failed == 0 and kills > 1 and kills - 1 <= now.restarts <= kills


def test_an_intermediate_process_is_killed_and_what_it_had_is_done_by_the_next(tmp_path):
    def begun():
        return {each.name.split("-")[1] for each in tmp_path.glob("begun-*")}

    gate = Gate(tmp_path)
    with pipeline([take_folder_along, stage(at_the_gate, concurrency=4), same]) as p:
        futures = [p.submit((str(tmp_path), number)) for number in range(40)]
        wait_until(lambda: len(begun()) == 4)
        [victim] = p.process_ids()["at_the_gate"]
        kill(victim)
        wait_until(lambda: p.counters().restarts == 1 and p.wait_ready(0))
        assert not any(each.done() for each in futures)
        gate.open()
        assert [each.result(DEADLINE) for each in futures] == list(range(40))
        now = p.counters()
        assert now.done == 40 and now.redelivered >= 4 and now.duplicates == 0


# -- processes that must not be left behind


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_processes_end_when_their_parent_is_killed(tmp_path, how):
    program, ids = start_program(tmp_path, "never.wait(60)")
    assert not any(is_gone(each) for each in ids)
    program.send_signal(how)
    program.wait(DEADLINE)
    wait_until(lambda: all(is_gone(each) for each in ids))
    program.communicate()


@pytest.mark.parametrize("ending", ["list(p.map(range(100)))", "p.submit(1).result()", "p.submit(1); p.drain()"])
def test_ctrl_c_ends_everything(tmp_path, ending):
    program, ids = start_program(tmp_path, ending)
    os.killpg(program.pid, signal.SIGINT)  # as a terminal does
    _, said = program.communicate(timeout=DEADLINE)
    assert program.returncode != 0
    wait_until(lambda: all(is_gone(each) for each in ids))
    assert said.count("KeyboardInterrupt") == said.count("Traceback") == 1, said


def test_leaving_the_program_ends_its_processes(tmp_path):
    program, ids = start_program(tmp_path, "p.submit(1)")
    _, said = program.communicate(timeout=DEADLINE)
    assert (program.returncode, said) == (0, "")
    assert all(is_gone(each) for each in ids)


def test_a_forked_child_gets_an_error_and_ends_nothing():
    with pipeline([same]) as p:
        assert p.submit(1).result(DEADLINE) == 1
        child = os.fork()
        if child == 0:
            try:
                p.submit(2)
            except libpubsub.ForkError:
                p.close()
                os._exit(0)
            os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
        assert p.submit(3).result(DEADLINE) == 3


# -- other hosts


def test_workers_join_from_elsewhere():
    program = ("import sys; from libpubsub.pipelines import join; from pipeline_stages import double\n"
               "with join(sys.argv[1], double, 1) as worker: sys.stdin.read()")
    with pipeline([increment, stage(double, workers=0), negate], listen="tcp://127.0.0.1:0") as p:
        future = p.submit(1)
        assert p.wait_ready(DEADLINE) and not future.done()
        worker = subprocess.Popen([sys.executable, "-c", program, f"tcp://127.0.0.1:{p.port}"], stdin=subprocess.PIPE,
                                  cwd=Path(__file__).parent)
        try:
            assert future.result(DEADLINE) == -4
            worker.communicate(timeout=DEADLINE)
            assert worker.returncode == 0
        finally:
            worker.kill()
            worker.wait()
    with pytest.raises(ValueError):
        libpubsub.pipelines.join("tcp://127.0.0.1:1", double, -1)
    with pytest.raises(libpubsub.PeerUnavailable):
        libpubsub.pipelines.join("tcp://127.0.0.1:1", double, 0, retry=None, timeout=1)


# -- what the manual shows


@pytest.mark.parametrize("page", ["patterns/pipelines.md", "python.md"])
def test_the_programs_of_the_manual_run(page, tmp_path):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    programs = [each for each in re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S) if "pipeline([" in each]
    assert programs
    for program in programs:
        (tmp_path / "program.py").write_text(textwrap.dedent(program), encoding="utf-8")
        done = subprocess.run([sys.executable, tmp_path / "program.py"], capture_output=True, text=True, timeout=60,
                              check=False)
        assert done.returncode == 0, done.stderr
        shown = re.findall(r"^ *print\(.*#\s*(.*)$", program, re.M)
        assert shown and done.stdout.splitlines() == shown


def test_a_pipeline_is_a_class_of_the_package():
    assert isinstance(pipeline, type(lambda: 0)) and Pipeline.__doc__
