# SPDX-License-Identifier: BSD-3-Clause
"""Remote execution: services and clients that are killed, closed, interrupted or left."""

import gc
import os
import signal
import subprocess
import sys
import threading
import weakref

import pytest
from conftest import DEADLINE, ctrl_c_ends, wait_until
from remote_parties import SERVER, client, gate, run, service, start_server

import libpubsub
from libpubsub import Remote, Service


def test_every_future_completes_when_the_server_is_killed(endpoint, start_server):
    server = start_server()
    with client(endpoint, "pipeline", timeout=600) as remote:
        futures = remote.submit_all("hold", range(100))
        server.wait_until_it_holds()
        server.process.send_signal(signal.SIGKILL)
        assert {type(each.exception(DEADLINE)) for each in futures} <= {libpubsub.ServiceLost, libpubsub.NoSuchService}
        assert isinstance(futures[0].exception(), libpubsub.ServiceLost)
        with pytest.raises(libpubsub.NoSuchService):
            remote.call("echo", 1)


def test_another_instance_does_what_is_idempotent(endpoint, start_server):
    victim = start_server("hold")
    with client(endpoint, "pipeline", timeout=600) as remote:
        futures = remote.submit_all("hold_if_told", range(500))
        remote.send_pending()
        victim.wait_until_it_holds()
        start_server()
        assert remote.wait_for_instances(2, DEADLINE)
        victim.process.send_signal(signal.SIGKILL)
        assert [each.result(DEADLINE) for each in futures] == list(range(500))
        assert remote.counters()["repeated"] > 0


def test_instances_share_the_load(endpoint, start_server):
    for _ in range(2):
        start_server()
    with client(endpoint, instances=2) as remote:
        assert remote.map("echo", range(5_000)) == list(range(5_000))


def test_calls_in_parallel_go_over_several_connections(endpoint, start_server):
    server = start_server()
    with libpubsub.Endpoint() as other:
        other.peer(server.uri, timeout=DEADLINE)
        with client(endpoint, "async", more=[other]) as remote:
            assert remote.map("echo", range(1_000)) == list(range(1_000))
        assert all(each.peers()[0].counters.bytes_sent > 1_000 for each in (endpoint, other))
    with pytest.raises(libpubsub.Closed):
        Remote(endpoint, "s", "async", more=[other])


# -- closing ---------------------------------------------------------------------------------------------


def test_closing_the_client_completes_what_is_unfinished(endpoint, service, gate):
    service.add("hold", lambda x: gate.wait())
    service.start()
    with client(endpoint) as remote:
        futures = remote.submit_all("hold", range(10))
    assert all(isinstance(each.exception(DEADLINE), libpubsub.Closed) for each in futures)
    remote.close()
    for call in (lambda: remote.call("echo", 1), lambda: remote.submit("echo", 1).result(), remote.send_pending,
                 lambda: remote.map("echo", [1]), remote.wait_for_instances):
        with pytest.raises(libpubsub.Closed):
            call()
    assert remote.closed and remote.drain(1) == 0 and repr(remote) == "<Remote 's', auto: closed>"


def test_closing_the_endpoint_first_ends_all(gate):
    begun = threading.Event()

    def hold(x):
        begun.set()
        gate.wait()

    endpoint = libpubsub.Endpoint()
    service = Service(endpoint, "s")
    service.add("hold", hold)
    service.start()
    idle = Service(endpoint, "idle").start()
    remote = client(endpoint, timeout=600)
    futures = remote.submit_all("hold", range(10))
    assert begun.wait(DEADLINE)
    endpoint.close()
    assert all(isinstance(each.exception(DEADLINE), libpubsub.PubsubError) for each in futures)
    assert idle.wait(DEADLINE) and idle.closed
    assert not service.close(timeout=0.01)  # it is in its function
    gate.set()
    assert service.close(DEADLINE)
    with pytest.raises(libpubsub.Closed):
        Service(endpoint, "s")
    with pytest.raises(libpubsub.Closed):
        service.start()


def test_a_future_outlives_its_client(endpoint, service):
    service.start()
    future = client(endpoint).submit("echo", 5)
    gc.collect()
    assert future.result(DEADLINE) == 5


def test_a_service_is_not_closed_by_its_own_function_but_may_be_dropped_there(endpoint):
    kept = [Service(endpoint, "s")]
    kept[0].add("close", lambda x: kept[0].close())
    kept[0].add("drop", lambda x: kept.clear())
    kept[0].start()
    with client(endpoint) as remote:
        with pytest.raises(libpubsub.OperationFailed, match="InvalidArgument: a service cannot be closed by its own"):
            remote.call("close")
        future = remote.submit("drop")
        future.exception(DEADLINE)  # a result, or that it has gone
        wait_until(lambda: remote.instances == 0)


def test_functions_are_let_go_with_the_service(endpoint):
    class Function:
        def __call__(self, x):
            return x

    function = Function()
    watched = weakref.ref(function)
    service = Service(endpoint, "s")
    function.service = service  # a cycle through C++
    service.add("f", function)
    service.start()
    with client(endpoint) as remote:
        assert remote.call("f", 1) == 1
    service.close()
    del service, function
    gc.collect()
    assert watched() is None


def test_a_service_waits_until_it_is_closed(endpoint, service):
    service.start()
    assert not service.wait(0.01)
    threading.Timer(0.01, service.close).start()
    assert service.wait(DEADLINE)


@pytest.mark.parametrize("function", ["never.wait()", "spin()"])
def test_leaving_the_interpreter_with_a_function_that_runs_neither_hangs_nor_crashes(function):
    done = run(f"""
        import threading, time, libpubsub
        from libpubsub import Remote, Service
        never, begun = threading.Event(), threading.Event()
        def spin():
            while not never.wait(0.0001):
                pass
        def hold(x):
            begun.set()
            {function}
        endpoint = libpubsub.Endpoint()
        service = Service(endpoint, "s", workers=2)
        service.add("hold", hold)
        service.start()
        remote = Remote(endpoint, "s")
        remote.wait_for_instances(1)
        future = remote.submit("hold")
        remote.send_pending()
        begun.wait()
        print("leaving", flush=True)
    """)
    assert (done.returncode, done.stdout, done.stderr) == (0, "leaving\n", "")


def test_leaving_the_interpreter_tells_clients(endpoint):
    server = subprocess.Popen([sys.executable, "-c", SERVER.replace("service.wait()", "input()")], text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with server:
        endpoint.peer(f"tcp://127.0.0.1:{int(server.stdout.readline())}", retry=0.05, timeout=DEADLINE)
        with client(endpoint) as remote:
            assert remote.call("echo", 1) == 1
            server.stdin.close()
            assert server.wait(DEADLINE) == 1  # input() found its end
            wait_until(lambda: remote.instances == 0)


@pytest.mark.parametrize("wait", ["remote.call('hold')", "remote.submit('hold').result()", "remote.map('hold', [1, 2])",
                                  "list(libpubsub.as_completed([remote.submit('hold')]))", "service.wait()",
                                  "[remote.submit('hold') for _ in range(9)]", "remote.drain()"])
def test_ctrl_c_ends_every_wait(wait):
    assert ctrl_c_ends(f"""
        import threading, libpubsub
        from libpubsub import Remote, Service
        gate = threading.Event()
        with libpubsub.Endpoint() as endpoint, Service(endpoint, "s") as service:
            service.add("hold", lambda x: gate.wait())
            service.start()
            with Remote(endpoint, "s", "pipeline", timeout=600, max_unfinished=3) as remote:
                remote.wait_for_instances(1)
                remote.submit("hold")
                try:
                    print("waiting", flush=True)
                    {wait}
                except KeyboardInterrupt:
                    gate.set()
                    print("interrupted", flush=True)
    """)


def test_a_forked_child_gets_an_error_and_the_parent_goes_on(endpoint, service):
    service.start()
    with client(endpoint) as remote:
        stop = threading.Event()

        def use():
            while not stop.is_set():
                assert remote.map("echo", range(20)) == list(range(20))

        threads = [threading.Thread(target=use) for _ in range(3)]
        for each in threads:
            each.start()
        done, unfinished = remote.submit("echo", 1), remote.submit("echo", 2)
        assert done.result(DEADLINE) == 1
        for _ in range(5):
            child = os.fork()
            if child == 0:
                named = "parent process" in repr(remote) and "parent process" in repr(service)
                failed = 0
                for call in (lambda: remote.call("echo", 1), lambda: remote.map("echo", [1]), service.counters,
                             lambda: service.close(), remote.plan, done.cancel):
                    try:
                        call()
                    except libpubsub.ForkError:
                        failed += 1
                del done, unfinished
                with service, remote:
                    pass
                os._exit(0 if named and failed == 6 else 1)
            assert os.waitpid(child, 0)[1] == 0
        stop.set()
        for each in threads:
            each.join(DEADLINE)
        assert unfinished.result(DEADLINE) == 2 and remote.call("echo", 3) == 3
