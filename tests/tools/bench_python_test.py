# SPDX-License-Identifier: BSD-3-Clause
"""`bench python` finds a Python, passes the options on, and says what to do where the package is missing."""

import os
import stat
import tempfile
import unittest

from command import CommandTest


class BenchPython(CommandTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def make_python(self, script):
        """A program that stands in for Python."""
        path = os.path.join(self.folder, "python3")
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + script)
        os.chmod(path, stat.S_IRWXU)
        return path

    def test_options_and_status_pass_through(self):
        python = self.make_python('test "$1" = -c && exit 0\necho "$@"\nexit 3\n')
        status, out, err = self.run_command("bench", "python", "--python", python, "--rounds", 2, "--duration", 0.5, "--payload",
                                            64, "--figures", "iterate", "--only", "pyzmq + msgpack", "--short", "--json", "x")
        self.assertEqual(status, 3, err)
        self.assertEqual(out, "-m libpubsub.bench --rounds 2 --duration 0.5 --payload 64 --figures iterate "
                              "--only pyzmq + msgpack --json x --short\n")

    def test_the_defaults(self):
        python = self.make_python('test "$1" = -c && exit 0\necho "$@"\n')
        status, out, _ = self.run_command("bench", "python", "--python", python)
        self.assertEqual((status, out), (0, "-m libpubsub.bench --rounds 5 --duration 1 --payload 100\n"))

    def test_a_python_without_the_package_is_named_with_the_remedy(self):
        python = self.make_python("exit 9\n")
        status, out, err = self.run_command("bench", "python", "--python", python)
        self.assertEqual((status, out), (2, ""))
        self.assertIn(f"{python} cannot import libpubsub: {python} -m pip install libpubsub", err)

    def test_a_python_that_does_not_run_is_named(self):
        for python in ("/no/such/python", "no-such-python"):
            status, out, err = self.run_command("bench", "python", "--python", python)
            self.assertEqual((status, out), (2, ""))
            self.assertIn(f"{python} does not run (exit status 127): name a Python with --python", err)


if __name__ == "__main__":
    unittest.main()
