# SPDX-License-Identifier: BSD-3-Clause
"""Remote execution: calls, their results and their errors."""

import os
import pickle
import re
import threading
import time
from concurrent.futures import CancelledError

import pytest
from conftest import DEADLINE, ROOT, run_the_programs_of, wait_until
from remote_parties import client, gate, run, service

import libpubsub
from libpubsub import Remote, Service

MODES = ["sync", "bulk", "async", "pipeline", "hybrid", "auto"]

# -- calls -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_in_every_mode_each_operation_gets_its_result(endpoint, service, mode):
    service.start()
    n = 100 if mode == "sync" else 2_000
    with client(endpoint, mode) as remote:
        assert remote.call("echo", ("a", 1.5, None)) == ("a", 1.5, None)
        assert remote.call("echo") is None
        for many in (remote.map, remote.bulk):
            assert many("echo", range(n)) == list(range(n))
            assert many("echo", []) == []
        futures = [remote.submit("echo", i) for i in range(n)]
        assert [each.result(DEADLINE) for each in futures] == list(range(n))
        for bulk in (False, True):
            assert [x.result() for x in remote.submit_all("echo", (str(i) for i in range(n)), bulk=bulk)] == \
                [str(i) for i in range(n)]
        assert remote.unfinished == 0 and remote.drain(DEADLINE) == 0
        counters = remote.counters()
        assert counters["submitted"] == counters["done"] == 2 + 5 * n and counters["failed"] == 0
    assert service.counters()["operations"] == 2 + 5 * n


def test_ten_thousand_calls_at_once(endpoint, service):
    service.start()
    with client(endpoint) as remote:
        assert remote.map("echo", range(10_000)) == list(range(10_000))
        assert remote.bulk("echo", range(10_000)) == list(range(10_000))


def test_bulk_is_one_request_sync_one_for_each_operation(endpoint, service):
    service.start()
    with client(endpoint, "sync") as remote:
        remote.bulk("echo", range(50))
        assert remote.counters()["requests"] == 1
        remote.map("echo", range(50))
        assert remote.counters()["requests"] == 51


def test_values_of_megabytes_come_and_go(endpoint, service):
    service.add("repeat", lambda x: x[0] * x[1])
    service.start()
    with client(endpoint) as remote:
        big = os.urandom(4 << 20)
        assert remote.call("echo", big) == big
        assert remote.call("repeat", ("x", 8 << 20)) == "x" * (8 << 20)
        assert remote.map("repeat", [("y", 1 << 20)] * 5) == ["y" * (1 << 20)] * 5
        for operation, argument in (("echo", bytes(9 << 20)), ("repeat", ("z", 33 << 20))):
            with pytest.raises(libpubsub.LimitExceeded):
                remote.call(operation, argument)


def test_several_workers_do_operations_that_wait_at_a_time(endpoint):
    together = threading.Barrier(3, timeout=DEADLINE)
    with Service(endpoint, "s", workers=3) as service:
        @service.operation
        def meet(x):
            together.wait()
            return x

        with service.start(), client(endpoint, "pipeline") as remote:
            assert remote.map("meet", range(9)) == list(range(9))


def test_what_is_local_to_a_worker_lives_on(endpoint):
    seen = threading.local()
    with Service(endpoint, "s") as service:
        @service.operation(name="count")
        def counting(_):
            seen.n = getattr(seen, "n", 0) + 1
            return seen.n, threading.get_ident()

        service.start()
        with client(endpoint) as remote:
            assert [remote.call("count")[0] for _ in range(5)] == [1, 2, 3, 4, 5]
            assert len({ident for _, ident in remote.map("count", range(5))}) == 1


def test_a_decorated_function_stays_what_it_is(endpoint, service):
    @service.operation
    def double(x):
        return 2 * x

    service.add("length", len)
    service.start()
    assert double(2) == 4
    with client(endpoint) as remote:
        assert remote.call("double", 4) == 8 and remote.call("length", "four") == 4


# -- what goes wrong -----------------------------------------------------------------------------------


def test_an_exception_comes_back_with_type_and_text(endpoint, service):
    class OddError(Exception):
        def __str__(self):
            raise RuntimeError("no text")

    failures = {"value": ValueError("bad offset: 17"), "key": KeyError("k"), "empty": ValueError(),
                "exit": SystemExit(3), "interrupt": KeyboardInterrupt(), "odd": OddError(), "stop": StopIteration(),
                "text": ValueError("\ud800" + "x" * 100_000), "closed": libpubsub.Closed("really")}

    @service.operation(name="raise")
    def fail(name):
        raise failures[name]

    service.start()
    with client(endpoint) as remote:
        seen = {}
        for name in failures:
            with pytest.raises(libpubsub.OperationFailed) as caught:
                remote.call("raise", name)
            assert caught.value.code == "operation_failed"
            seen[name] = caught.value.type, caught.value.text
        assert seen.pop("text") == ("ValueError", "?" + "x" * 9_999)
        assert seen == {"value": ("ValueError", "bad offset: 17"), "key": ("KeyError", "'k'"),
                        "empty": ("ValueError", ""), "exit": ("SystemExit", "3"), "interrupt": ("KeyboardInterrupt", ""),
                        "odd": ("OddError", "(its text cannot be had)"), "stop": ("StopIteration", ""),
                        "closed": ("Closed", "really")}
        assert remote.call("echo", 1) == 1  # the service goes on
        assert str(pickle.loads(pickle.dumps(caught.value))) == "Closed: really"
    assert service.counters()["failed"] == len(failures)


def test_a_traceback_is_in_the_log_of_the_server(endpoint, service, caplog):
    service.add("divide", lambda x: 1 / x)
    service.start()
    with caplog.at_level("INFO", "libpubsub.remote"), client(endpoint) as remote:
        assert isinstance(remote.submit("divide", 0).exception(DEADLINE), libpubsub.OperationFailed)
    assert "operation 'divide' failed" in caplog.text and "ZeroDivisionError" in caplog.text


def test_a_result_that_cannot_be_encoded_is_told_to_the_caller(endpoint, service):
    service.add("object", lambda x: [x, object()])
    service.add("huge", lambda x: 1 << 70)
    service.start()
    with client(endpoint) as remote:
        with pytest.raises(libpubsub.OperationFailed, match="EncodeTypeError: a object has no counterpart"):
            remote.call("object", 1)
        with pytest.raises(libpubsub.OperationFailed, match="EncodeError"):
            remote.call("huge")
        assert remote.map("echo", [1, 2]) == [1, 2]


def test_an_argument_that_cannot_be_encoded_calls_nothing(endpoint, service):
    service.start()
    with client(endpoint) as remote:
        for call in (lambda: remote.call("echo", object()), lambda: remote.submit("echo", object()),
                     lambda: remote.map("echo", [1, object()]), lambda: remote.bulk("echo", [1, object()])):
            with pytest.raises(libpubsub.EncodeTypeError):
                call()
        with pytest.raises(TypeError):
            remote.map("echo", 1)
        assert remote.counters()["submitted"] == 0


def test_map_raises_the_first_failure_or_returns_them_all(endpoint, service):
    @service.operation
    def even(x):
        if x % 2:
            raise ValueError(f"{x} is odd")
        return x

    service.start()
    with client(endpoint) as remote:
        for many in (remote.map, remote.bulk):
            with pytest.raises(libpubsub.OperationFailed, match="1 is odd"):
                many("even", range(4))
            results = many("even", range(4), return_exceptions=True)
            assert results[::2] == [0, 2] and [each.text for each in results[1::2]] == ["1 is odd", "3 is odd"]
        wait_until(lambda: remote.unfinished == 0)


def test_nobody_serves_and_unknown_operations_are_told_at_once(endpoint, service):
    begin = time.monotonic()
    with Remote(endpoint, "nobody", timeout=600) as remote:
        with pytest.raises(libpubsub.NoSuchService, match="nobody"):
            remote.call("echo", 1)
        assert not remote.wait_for_instances(1, 0.01) and remote.instances == 0
    service.start()
    with client(endpoint, timeout=600) as remote:
        with pytest.raises(libpubsub.NoSuchOperation, match="service 's' has no operation 'ecko'"):
            remote.call("ecko", 1)
        assert {type(x) for x in remote.map("ecko", [1, 2], return_exceptions=True)} == {libpubsub.NoSuchOperation}
    assert time.monotonic() - begin < DEADLINE
    assert issubclass(libpubsub.NoSuchService, ConnectionError) and issubclass(libpubsub.NoSuchOperation, LookupError)


def test_a_call_ends_at_its_timeout_and_a_wait_at_its_own(endpoint, service, gate):
    service.add("hold", lambda x: gate.wait())
    service.start()
    with client(endpoint, timeout=600) as remote:
        with pytest.raises(libpubsub.Timeout):
            remote.call("hold", timeout=0.05)
        future = remote.submit("hold", 1)
        for wait in (future.result, future.exception):
            with pytest.raises(TimeoutError, match="not here yet"):
                wait(0.01)
        assert not future.done() and repr(future) == "<RemoteFuture: unfinished>"
        gate.set()
        assert future.result(DEADLINE) is True and future.exception() is None
        assert future.result() is True and future.done() and repr(future) == "<RemoteFuture: done>"
        with pytest.raises(libpubsub.InvalidArgument):
            remote.call("echo", 1, timeout=float("nan"))
    with client(endpoint, timeout=0.05) as remote:
        gate.clear()
        assert isinstance(remote.submit("hold").exception(DEADLINE), libpubsub.Timeout)


def test_a_call_that_is_cancelled_is_not_done_if_it_has_not_begun(endpoint, service, gate):
    begun, done = threading.Event(), []

    @service.operation
    def hold(x):
        begun.set()
        gate.wait()
        done.append(x)
        return x

    service.start()
    with client(endpoint, "pipeline") as remote:
        futures = [remote.submit("hold", i) for i in range(3)]
        remote.send_pending()
        assert begun.wait(DEADLINE)
        assert futures[1].cancel() and not futures[1].cancel()
        assert futures[1].cancelled() and not futures[0].cancelled()
        assert repr(futures[1]) == "<RemoteFuture: cancelled>"
        with pytest.raises(CancelledError) as caught:
            futures[1].result()
        assert isinstance(caught.value, libpubsub.Cancelled)
        assert remote.unfinished == 2
        gate.set()
        assert [futures[i].result(DEADLINE) for i in (0, 2)] == [0, 2]
    assert done == [0, 2] and service.counters()["cancelled"] == 1


def test_bad_options_say_what_is_wrong(endpoint, service):
    for options in ({"workers": 0}, {"queue": 0}, {"max_result_bytes": 0}):
        with pytest.raises(libpubsub.InvalidArgument):
            Service(endpoint, "x", **options)
    for options in ({"mode": "fast"}, {"timeout": 0}, {"timeout": float("nan")}, {"liveness_timeout": -1}, {"parallel": 0},
                    {"window": 0}, {"bulk_size": 0}, {"max_unfinished": 0}):
        with pytest.raises(libpubsub.InvalidArgument):
            Remote(endpoint, "x", **options)

    async def coroutine(x):
        return x

    for function in (coroutine, 3):
        with pytest.raises(libpubsub.InvalidArgument, match="is a function, no coroutine"):
            service.add("x", function)
    with pytest.raises(libpubsub.InvalidArgument):
        service.add("", len)
    service.start()
    with pytest.raises(libpubsub.InvalidArgument, match="before the service is started"):
        service.add("late", len)


# -- looking ---------------------------------------------------------------------------------------------


def test_a_client_tells_what_it_has_measured_and_plans(endpoint, service):
    service.start()
    with client(endpoint, "hybrid", window=400, bulk_size=20) as remote:
        remote.map("echo", range(2_000))
        assert remote.plan() == ("hybrid", 20, 400) and remote.plan().mode == "hybrid"
        conditions = remote.conditions()
        assert 0 < conditions.latency < DEADLINE and 0 < conditions.operation < DEADLINE
        assert conditions.argument_bytes > 0 and conditions.result_bytes > 0
        assert repr(remote) == "<Remote 's', hybrid: 1 instances, 0 unfinished>"
        assert repr(service) == "<Service 's': 1 clients>" and service.clients == 1
    assert repr(service).startswith("<Service 's': ")


def test_the_program_of_the_manual_runs():
    text = (ROOT / "docs/python.md").read_text(encoding="utf-8").partition("## Remote execution")[2]
    program = re.search(r"^```python\n(.*?)^```$", text, re.M | re.S)[1]
    done = run(program)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")


def test_the_programs_of_the_manual_run(tmp_path):
    run_the_programs_of("docs/patterns/remote.md", "docs/examples/remote/remote.cpp", tmp_path)
