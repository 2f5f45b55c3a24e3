# SPDX-License-Identifier: BSD-3-Clause
"""What the network shim is told to do to bytes really happens to them. Times are lower limits only."""

import os
import random
import socket
import threading
import time
import unittest

from harness.program import Program, wait_until

SHIM = os.path.join(os.environ.get("PUBSUB_FAULTS_DIR", "build/release/tests/faults"), "fault_shim")
PATIENCE_S = 20.0
# How long nothing must arrive to count as nothing.
SILENCE_S = 0.2


class ShimTest(unittest.TestCase):
    def setUp(self):
        self.server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(self.server.close)
        self.server.settimeout(PATIENCE_S)
        self.shim = Program(SHIM, "shim")
        self.addCleanup(self.shim.kill)
        self.port = self.tell("link", to=self.server.getsockname()[1], seed=1)["port"]

    def tell(self, verb, **values):
        return self.shim.ask(verb, name="l", **values)

    def keep(self, connection):
        self.addCleanup(connection.close)
        connection.settimeout(PATIENCE_S)
        return connection

    def dial(self):
        return self.keep(socket.create_connection(("127.0.0.1", self.port)))

    def pair(self):
        """A connection through the link: the end that connected, and the other."""
        near = self.dial()
        return near, self.keep(self.server.accept()[0])

    def read(self, end, n):
        parts = b""
        while len(parts) < n:
            part = end.recv(n - len(parts))
            self.assertTrue(part, f"ended after {len(parts)} of {n} bytes")
            parts += part
        return parts

    def passes(self, source, target, data=b"hello"):
        source.sendall(data)
        self.assertEqual(self.read(target, len(data)), data)

    def assert_silent(self, end):
        end.settimeout(SILENCE_S)
        with self.assertRaises(socket.timeout):
            end.recv(1)
        end.settimeout(PATIENCE_S)

    def assert_reset(self, end):
        with self.assertRaises(ConnectionResetError):
            if end.recv(1) == b"":
                self.fail("an end of stream, not a reset")

    def test_bytes_pass_in_both_directions_and_the_end_follows(self):
        near, far = self.pair()
        self.passes(near, far)
        self.passes(far, near)
        near.shutdown(socket.SHUT_WR)
        self.assertEqual(far.recv(1), b"")
        self.passes(far, near)
        far.close()
        self.assertEqual(near.recv(1), b"")
        self.assertTrue(wait_until(lambda: self.tell("status")["connections"] == 0))

    def test_a_megabyte_arrives_whole_through_every_shape(self):
        data = random.Random(1).randbytes(1_000_000)
        for shape in ({}, {"delay_ms": 5}, {"delay_ms": 2, "jitter_ms": 10}, {"bytes_per_second": 5_000_000}, {"chunk_bytes": 7}):
            with self.subTest(shape=shape):
                self.tell("shape", **shape)
                near, far = self.pair()
                sender = threading.Thread(target=near.sendall, args=(data,))
                sender.start()
                self.assertEqual(self.read(far, len(data)), data)
                sender.join()

    def test_delay_delays_and_in_one_direction_only_if_so_told(self):
        near, far = self.pair()
        self.tell("shape", direction="forward", delay_ms=150)
        begin = time.monotonic()
        self.passes(near, far)
        self.assertGreaterEqual(time.monotonic() - begin, 0.15)
        self.tell("shape", direction="backward", delay_ms=60_000)
        self.passes(near, far)
        far.sendall(b"x")
        self.assert_silent(near)

    def test_bandwidth_is_limited(self):
        near, far = self.pair()
        self.tell("shape", bytes_per_second=100_000)
        begin = time.monotonic()
        self.passes(near, far, b"x" * 30_000)
        self.passes(near, far, b"y" * 1_000)  # waits until the first are paid for
        self.assertGreaterEqual(time.monotonic() - begin, 0.29)

    def test_chunks_of_one_byte_come_one_by_one(self):
        near, far = self.pair()
        self.tell("shape", chunk_bytes=1, bytes_per_second=1_000)
        near.sendall(b"x" * 200)
        reads = [len(far.recv(200)) for _ in range(20)]
        self.assertLess(max(reads), 100, reads)

    def test_a_stalled_direction_holds_bytes_back_and_loses_none(self):
        near, far = self.pair()
        self.tell("stall", direction="forward")
        near.sendall(b"later")
        self.assert_silent(far)
        self.passes(far, near)
        self.assertFalse(self.tell("status")["healthy"])
        self.tell("heal")
        self.assertEqual(self.read(far, 5), b"later")

    def test_a_stalled_direction_pushes_back(self):
        near, _ = self.pair()
        self.tell("stall", direction="forward")
        near.setblocking(False)

        def full():
            try:
                near.send(b"x" * 65_536)
            except BlockingIOError:
                return True
            return False
        # A full socket that stays full: what was in it has nowhere to go.
        self.assertTrue(wait_until(lambda: full() and not wait_until(lambda: not full(), SILENCE_S)))

    def test_a_half_open_connection_swallows_bytes_until_it_is_healed(self):
        near, far = self.pair()
        self.passes(near, far)
        self.tell("vanish")
        self.assert_reset(far)
        near.sendall(b"x" * 1_000)
        self.assertTrue(wait_until(lambda: self.tell("status")["vanished_bytes"] == 1_000))
        self.assert_silent(near)
        self.passes(*self.pair())  # others are served
        self.tell("heal")
        self.assert_reset(near)

    def test_reset_reaches_both_ends(self):
        near, far = self.pair()
        self.tell("reset")
        self.assert_reset(near)
        self.assert_reset(far)
        self.passes(*self.pair())

    def test_a_link_that_is_down_resets_those_who_try_until_it_is_healed(self):
        near, far = self.pair()
        self.tell("down")
        self.assert_reset(near)
        self.assert_reset(far)
        self.assert_reset(self.dial())
        self.tell("heal")
        self.passes(*self.pair())

    def test_a_fault_with_a_time_ends_by_itself(self):
        near, far = self.pair()
        begin = time.monotonic()
        self.tell("stall", for_ms=150)
        near.sendall(b"later")
        self.assertEqual(self.read(far, 5), b"later")
        self.assertGreaterEqual(time.monotonic() - begin, 0.15)
        self.assertTrue(self.tell("status")["healthy"])

    def test_a_reset_of_one_end_resets_the_other(self):
        near, far = self.pair()
        near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        near.close()
        self.assert_reset(far)

    def test_a_connection_nobody_takes_is_reset(self):
        self.server.close()
        self.assert_reset(self.dial())


if __name__ == "__main__":
    unittest.main()
