# SPDX-License-Identifier: BSD-3-Clause
"""Waiting: others run meanwhile, Ctrl-C and close end it, fork and exit harm nobody."""

import concurrent.futures
import contextlib
import itertools
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import Future
from functools import partial

import pytest
from conftest import DEADLINE, wait_until

import libpubsub
from libpubsub._interrupts import InterruptibleFuture

WAITS = {
    "get": "subscriber.get()",
    "get_batch": "subscriber.get_batch()",
    "iteration": "[None for _ in subscriber]",
    "status": "endpoint.make_status_subscriber().get()",
    "network": "endpoint.make_network_subscriber().get()",
    "peers": "endpoint.wait_for_peers(1)",
    "subscribers": "endpoint.wait_for_subscribers('nobody')",
    "publisher": "endpoint.make_publisher('nobody').wait_for_subscribers()",
    "drain": "(endpoint.publish('t', 1), endpoint.drain())",
    "peer": "endpoint.peer('tcp://127.0.0.1:' + str(silent.getsockname()[1]), timeout=60)",
    "full queue": "[endpoint.publish('t', i) for i in range(3)]",
    "full queue, batch": "endpoint.publish_batch('t', range(3))",
}


PYTHON_WAITS = {
    "result": "pipeline.submit(1).result()",
    "exception": "pipeline.submit(1).exception()",
    "map": "list(pipeline.map([1]))",
    "map, not ordered": "list(pipeline.map([1], ordered=False))",
    "drain of a pipeline": "(pipeline.submit(1), pipeline.drain())",
    "processes": "libpubsub.pipeline([libpubsub.stage(Slow(), name='slow')]).wait_ready()",
    "service": "libpubsub.Service(endpoint, 's').wait()",
    "stream": "endpoint.subscribe('t', print).wait()",
    "worker": "libpubsub.Worker(endpoint, abs).join()",
}


def run_python(code, **options):
    return subprocess.Popen([sys.executable, "-u", "-c", textwrap.dedent(code)], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


@pytest.mark.parametrize("hearer", ["the thread that waits", "another thread"])
@pytest.mark.parametrize("wait", [*WAITS.values(), *PYTHON_WAITS.values()], ids=[*WAITS, *PYTHON_WAITS])
def test_ctrl_c_ends_any_wait_promptly(wait, hearer):
    process = run_python(f"""
        import signal, socket, threading, time, libpubsub
        class Slow: # to be loaded by another process
            def __call__(self, value):
                return value
            def __reduce__(self):
                return signal.pause, ()
        signal.signal(signal.SIGINT, signal.default_int_handler) # programs in the background ignore it
        silent = socket.create_server(("127.0.0.1", 0))
        endpoint = libpubsub.Endpoint(close_timeout=0.1)
        subscriber = endpoint.make_subscriber("t", capacity=1)
        pipeline = libpubsub.pipeline([libpubsub.stage(abs, workers=0)], listen="tcp://127.0.0.1:0")
        if "{hearer}" == "another thread": # so that the signal does not end a system call of this one
            threading.Thread(target=threading.Event().wait, daemon=True).start()
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            print("ready")
            {wait}
        except KeyboardInterrupt:
            print("interrupted", time.process_time())
    """)
    try:
        assert process.stdout.readline() == "ready\n"
        # Not a wait for anything: the signal must find the process inside its wait to prove a point,
        # and this moment is also when idle waiting shows the processor time it takes.
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.3)
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        word, cpu_seconds = process.stdout.readline().split()
        assert word == "interrupted"
        assert time.monotonic() - sent < 5.0  # 0.1 s and what a loaded machine adds
        assert process.wait(DEADLINE) == 0, process.stderr.read()
    finally:
        process.kill()
        process.communicate()


def interrupted_anywhere(wait):
    """Has Ctrl-C come at the first place in ``wait()`` where Python looks for signals, at the second, and so on.

    Those places are the beginnings and ends of calls. Yields after each; ends when the signal did not come any more.
    """
    interrupted = True
    for place in itertools.count(1):
        left = itertools.count(place - 1, -1)

        def look(_frame, event, _argument):
            if event in ("call", "return", "c_return") and next(left) == 0:
                raise KeyboardInterrupt

        sys.setprofile(look)
        try:
            wait()
            interrupted = False
        except KeyboardInterrupt:
            pass
        finally:
            sys.setprofile(None)
        yield
        if not interrupted:
            return


def works_in_another_thread(call):
    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(DEADLINE)
    return not thread.is_alive()


def take(future, how):
    with contextlib.suppress(concurrent.futures.TimeoutError):
        getattr(future, how)(0)


@pytest.mark.parametrize("use", [lambda future: take(future, "result"), lambda future: take(future, "exception"),
                                 lambda future: future.wait(0), Future.done, Future.running,
                                 lambda future: future.add_done_callback(id)])
def test_ctrl_c_never_leaves_a_future_locked(use):
    futures = []

    def use_another():
        futures.append(InterruptibleFuture())
        use(futures[-1])

    for _ in interrupted_anywhere(use_another):
        assert all(works_in_another_thread(partial(each.set_result, 1)) and each.result(0) == 1 for each in futures)
        futures.clear()


def test_ctrl_c_never_leaves_a_pipeline_or_a_service_locked(endpoint):
    with libpubsub.pipeline([libpubsub.stage(abs, workers=0)], listen="tcp://127.0.0.1:0") as nobody_works:
        future = nobody_works.submit(-1)
        for wait in (partial(nobody_works.drain, 0), partial(nobody_works.wait_ready, 0)):
            for _ in interrupted_anywhere(wait):
                pass
        assert works_in_another_thread(nobody_works.close)
        assert isinstance(future.exception(0), libpubsub.Closed)
    service = libpubsub.Service(endpoint, "s")
    for _ in interrupted_anywhere(partial(service.wait, 0)):
        pass
    assert works_in_another_thread(service.close) and service.wait(0)


def test_a_signal_handler_may_close_what_is_being_waited_for(endpoint):
    subscriber = endpoint.make_subscriber("t")
    before = signal.signal(signal.SIGUSR1, lambda *_: subscriber.close())
    try:
        timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGUSR1))
        timer.start()
        assert list(subscriber) == []
        timer.join()
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_other_threads_run_while_one_waits(endpoint):
    subscriber = endpoint.make_subscriber("t")
    got = []
    thread = threading.Thread(target=lambda: got.append(subscriber.get(DEADLINE)))
    thread.start()
    progress = sum(range(100_000))
    endpoint.publish("t", progress)
    thread.join(DEADLINE)
    assert got[0].data == progress


@pytest.mark.parametrize("how", ["subscriber", "endpoint"])
def test_closing_ends_the_waits_of_other_threads(how):
    with libpubsub.Endpoint() as endpoint:
        subscriber = endpoint.make_subscriber("t")
        ended = []

        def consume():
            ended.append(list(subscriber))

        threads = [threading.Thread(target=consume) for _ in range(3)]
        for thread in threads:
            thread.start()
        (subscriber if how == "subscriber" else endpoint).close()
        for thread in threads:
            thread.join(DEADLINE)
        assert ended == [[], [], []]


def test_threads_that_share_a_subscriber_get_each_message_once(endpoint):
    subscriber = endpoint.make_subscriber("t", capacity=100)
    seen = [[] for _ in range(4)]

    def consume(mine):
        for message in subscriber:
            mine.append(message.data)

    threads = [threading.Thread(target=consume, args=(mine,)) for mine in seen]
    for thread in threads:
        thread.start()
    endpoint.publish_batch("t", range(20_000))
    wait_until(lambda: sum(map(len, seen)) == 20_000)
    subscriber.close()
    for thread in threads:
        thread.join(DEADLINE)
    assert sorted(x for mine in seen for x in mine) == list(range(20_000))


def test_threads_that_share_a_publisher_lose_nothing(endpoint):
    subscriber = endpoint.make_subscriber("t", capacity=64)
    publisher = endpoint.make_publisher("t")
    threads = [threading.Thread(target=publisher.publish_batch, args=(range(i, 4000, 4),)) for i in range(4)]
    for thread in threads:
        thread.start()
    got = [subscriber.get(DEADLINE).data for _ in range(4000)]
    for thread in threads:
        thread.join(DEADLINE)
    assert sorted(got) == list(range(4000))
    assert [x for x in got if x % 4 == 0] == list(range(0, 4000, 4))


def test_objects_refuse_to_work_in_a_forked_child_and_do_not_hang_it():
    process = run_python("""
        import gc, os, libpubsub
        endpoint = libpubsub.Endpoint()
        endpoint.listen("tcp://127.0.0.1:0")
        subscriber, publisher = endpoint.make_subscriber("t"), endpoint.make_publisher("t")
        child = os.fork()
        if child == 0:
            refused = 0
            for use in (lambda: endpoint.publish("t", 1), lambda: publisher.publish(1), subscriber.get,
                        lambda: list(subscriber), endpoint.close, endpoint.peers):
                try:
                    use()
                except libpubsub.ForkError:
                    refused += 1
            repr(endpoint)
            del endpoint, subscriber, publisher
            gc.collect()
            with libpubsub.Endpoint() as own:
                reader = own.make_subscriber("t")
                own.publish("t", 7)
                assert reader.get(5).data == 7
            raise SystemExit(refused)
        status = os.waitpid(child, 0)[1]
        endpoint.publish("t", "parent")
        print(os.WEXITSTATUS(status), subscriber.get(5).data)
    """)
    out, err = process.communicate(timeout=DEADLINE)
    assert out == "6 parent\n", err


@pytest.mark.parametrize("thread", ["daemon=True", "daemon=False"])
def test_leaving_the_interpreter_ends_waits_in_other_threads(thread):
    process = run_python(f"""
        import threading, libpubsub
        endpoint = libpubsub.Endpoint()
        endpoint.listen("tcp://127.0.0.1:0")
        subscriber = endpoint.make_subscriber("t")
        started = threading.Event()
        def consume():
            started.set()
            for message in subscriber:
                pass
        threading.Thread(target=consume, {thread}).start()
        started.wait()
        if "{thread}" == "daemon=False":
            subscriber.close()
    """)
    out, err = process.communicate(timeout=DEADLINE)
    assert (process.returncode, err) == (0, "")


@pytest.mark.parametrize("function", ["snapshot", "restore"])
def test_a_state_function_that_runs_while_the_interpreter_ends_does_not_abort_it(function):
    process = run_python(f"""
        import contextlib, sys, threading, time, libpubsub
        from libpubsub import Replica, VersionedGroup
        inside = threading.Event()
        def busy(*_):
            inside.set()
            while True:
                time.sleep(0.01)
        functions = dict(snapshot=lambda: 0, restore=lambda state, version: None)
        functions["{function}"] = busy
        endpoint = libpubsub.Endpoint()
        one = Replica(endpoint, "x", id="a", group_size=1, history=5, snapshot=functions["snapshot"])
        group = VersionedGroup(endpoint, "x")
        for i in range(100):
            group.send(i)
        for _ in range(100):
            one.get(10)
        two = Replica(endpoint, "x", id="b", group_size=1, restore=functions["restore"])
        def consume(replica):
            with contextlib.suppress(libpubsub.Closed):
                while True:
                    replica.get(0.01)
        for replica in one, two:
            threading.Thread(target=consume, args=(replica,), daemon=True).start()
        inside.wait()
        class SlowToGo:
            def __del__(self, sleep=time.sleep):
                sleep(0.1)
        sys.modules["kept"] = SlowToGo()
    """)
    out, err = process.communicate(timeout=DEADLINE)
    assert (process.returncode, err) == (0, "")


def test_objects_left_behind_at_exit_are_cleaned_up_in_any_order():
    process = run_python("""
        import sys, libpubsub
        class Cycle: pass
        cycle = Cycle()
        cycle.me = cycle
        cycle.endpoint = libpubsub.Endpoint()
        cycle.endpoint.listen("tcp://127.0.0.1:0")
        cycle.subscriber = cycle.endpoint.make_subscriber("t")
        cycle.endpoint.publish_batch("t", range(10))
        cycle.message = next(cycle.subscriber)
        cycle.publisher = cycle.endpoint.make_publisher("t")
        cycle.status = cycle.endpoint.make_status_subscriber()
        sys.modules["kept"] = cycle
    """)
    out, err = process.communicate(timeout=DEADLINE)
    assert (process.returncode, err) == (0, "")


def test_every_handle_refuses_in_a_forked_child_and_blocks_are_left_in_peace():
    process = run_python("""
        import os, sys, threading, libpubsub
        relay = libpubsub.Endpoint()
        uri = f"tcp://127.0.0.1:{relay.listen('tcp://127.0.0.1:0')}"
        refused = []
        def attempt(name, use):
            try:
                use()
                refused.append(name)
            except libpubsub.ForkError:
                pass
        with libpubsub.Endpoint() as endpoint, endpoint.make_subscriber("t") as subscriber, \\
                endpoint.subscribe("t", lambda message: None) as stream:
            endpoint.peer(uri)
            status = endpoint.make_status_subscriber()
            network = endpoint.make_network_subscriber()
            publisher = endpoint.make_publisher("t")
            endpoint.publish("t", 1)
            message = subscriber.get(5)
            # A thread that is inside a wait when the process forks.
            threading.Thread(target=lambda: endpoint.wait_for_peers(9), daemon=True).start()
            threading.Thread(target=lambda: endpoint.drain(), daemon=True).start()
            child = os.fork()
            if child == 0:
                for name in ("peers", "counters", "drain", "flush", "status", "close", "make_status_subscriber",
                             "status_text", "metrics_text"):
                    attempt("Endpoint." + name, getattr(endpoint, name))
                attempt("Endpoint.id", lambda: endpoint.id)
                attempt("Endpoint.topics", lambda: endpoint.topics)
                for name, arguments in (("publish", ("t", 1)), ("try_publish", ("t", 1)), ("publish_batch", ("t", [1])),
                                        ("listen", (uri,)), ("peer", (uri,)), ("peer_async", (uri,)), ("unpeer", (uri,)),
                                        ("subscribers", ("t",)), ("wait_for_subscribers", ("t",)), ("wait_for_peers", ()),
                                        ("status_of", ("00000000-0000-0000-0000-000000000001",)),
                                        ("make_publisher", ("t",)), ("make_subscriber", ("t",))):
                    attempt("Endpoint." + name, lambda: getattr(endpoint, name)(*arguments))
                for name, arguments in (("get", (1,)), ("get_batch", ()), ("poll", ()), ("fileno", ()), ("available", ()),
                                        ("counters", ()), ("add_topic", ("x",)), ("close", ())):
                    attempt("Subscriber." + name, lambda: getattr(subscriber, name)(*arguments))
                for name in ("get", "poll", "fileno"):
                    attempt("StatusSubscriber." + name, getattr(status, name))
                for name in ("get", "poll", "fileno", "close"):
                    attempt("NetworkSubscriber." + name, getattr(network, name))
                for name, arguments in (("publish", (1,)), ("try_publish", (1,)), ("publish_batch", ([1],))):
                    attempt("Publisher." + name, lambda: getattr(publisher, name)(*arguments))
                attempt("Stream.stop", stream.stop)
                for each in (endpoint, subscriber, status, network, publisher, stream):
                    repr(each)
                assert message.data == 1
                print("not refused:", refused, flush=True)
                sys.exit(7)  # out of the blocks, and through the handlers of atexit
            print("child:", os.WEXITSTATUS(os.waitpid(child, 0)[1]), flush=True)
            endpoint.publish("t", "parent")
            print(subscriber.get(5).data)
    """)
    out, err = process.communicate(timeout=DEADLINE)
    assert out == "not refused: []\nchild: 7\nparent\n", err


def test_a_child_of_multiprocessing_that_was_forked_has_endpoints_of_its_own():
    process = run_python("""
        import multiprocessing, libpubsub
        def work(uri, results):
            with libpubsub.Endpoint() as own:
                own.peer(uri)
                own.wait_for_subscribers("t")
                own.publish("t", "child")
                results.put(own.drain(10))
        context = multiprocessing.get_context("fork")
        with libpubsub.Endpoint() as endpoint:
            uri = f"tcp://127.0.0.1:{endpoint.listen('tcp://127.0.0.1:0')}"
            subscriber = endpoint.make_subscriber("t")
            results = context.Queue()
            children = [context.Process(target=work, args=(uri, results)) for _ in range(3)]
            for child in children:
                child.start()
            print([subscriber.get(10).data for _ in children], [results.get(timeout=10) for _ in children])
            for child in children:
                child.join(10)
            print([child.exitcode for child in children])
    """)
    out, err = process.communicate(timeout=DEADLINE)
    assert out == "['child', 'child', 'child'] [0, 0, 0]\n[0, 0, 0]\n", err
