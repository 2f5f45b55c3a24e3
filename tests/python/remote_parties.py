# SPDX-License-Identifier: BSD-3-Clause
"""Services and clients of the tests of remote execution. Fixtures are imported from here."""

import subprocess
import sys
import textwrap
import threading

import pytest
from conftest import DEADLINE

from libpubsub import Remote, Service

# Serves until it is killed; says when a function holds an operation.
SERVER = """
import sys, threading, libpubsub
from libpubsub import Service
endpoint = libpubsub.Endpoint()
never = threading.Event()
with Service(endpoint, "s") as service:
    @service.operation(idempotent=True)
    def echo(x):
        return x

    @service.operation(idempotent=True)
    def hold_if_told(x):
        if sys.argv[1:] == ["hold"]:
            print("holding", flush=True)
            never.wait()
        return x

    @service.operation
    def hold(x):
        print("holding", flush=True)
        never.wait()

    service.start()
    print(endpoint.listen("tcp://127.0.0.1:0"), flush=True)
    service.wait()
"""


class Server:
    """An instance in a process of its own."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([sys.executable, "-c", SERVER, *arguments], stdout=subprocess.PIPE, text=True)
        self.uri = f"tcp://127.0.0.1:{int(self.process.stdout.readline())}"

    def wait_until_it_holds(self):
        assert self.process.stdout.readline() == "holding\n"

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture
def start_server(endpoint):
    """Starts an instance, linked to the endpoint."""
    started = []

    def start(*arguments):
        started.append(Server(*arguments))
        endpoint.peer(started[-1].uri, retry=0.05, timeout=DEADLINE)
        return started[-1]

    try:
        yield start
    finally:
        for each in started:
            each.kill()


@pytest.fixture
def service(endpoint):
    """Not started yet; operations that a test may use."""
    with Service(endpoint, "s") as result:
        result.add("echo", lambda x: x, idempotent=True)
        yield result


@pytest.fixture
def gate():
    """Opened at the end, so that no function waits for ever."""
    result = threading.Event()
    yield result
    result.set()


def client(endpoint, mode="auto", instances=1, **options):
    result = Remote(endpoint, "s", mode, **options)
    assert result.wait_for_instances(instances, DEADLINE)
    return result


def run(program, **options):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=False,
                          timeout=60, **options)
