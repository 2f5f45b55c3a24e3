# SPDX-License-Identifier: BSD-3-Clause
"""Builds the Zeek plugin for the Zeek that is installed, and runs its tests, as somebody does who installs it."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BTEST = shutil.which("btest")


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}:\n{done.stdout}")
    return done.stdout


class Plugin(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="pubsub-zeek-")
        cls.addClassCleanup(folder.cleanup)
        cls.prefix = Path(folder.name, "prefix")
        cls.source = Path(folder.name, "plugin")
        run("cmake", "--install", os.environ["PUBSUB_BUILD_DIR"], "--prefix", cls.prefix)
        shutil.copytree(ROOT / "bindings/zeek", cls.source, ignore=shutil.ignore_patterns("build", ".tmp"))
        run("./configure", f"--with-libpubsub={cls.prefix}", f"--zeek-config={os.environ['ZEEK_CONFIG']}", cwd=cls.source)
        run("cmake", "--build", "build", "--parallel", "2", cwd=cls.source)
        cls.environment = {**os.environ, "ZEEK_PLUGIN_PATH": str(cls.source / "build")}
        paths = [str(Path(os.environ[name]).parent) for name in ("ZEEK_CONFIG", "PUBSUB_COMMAND")]
        cls.environment["PATH"] = os.pathsep.join([*paths, os.environ["PATH"]])

    def test_zeek_loads_the_plugin(self):
        shown = run("zeek", "-NN", "Pubsub::Cluster_Backend_Pubsub", env=self.environment)
        self.assertIn("Cluster::CLUSTER_BACKEND_PUBSUB", shown)

    @unittest.skipUnless(BTEST, "no btest was found")
    def test_its_own_tests_pass(self):
        print(run(BTEST, "-c", "btest.cfg", "-d", cwd=self.source / "testing", env=self.environment), file=sys.stderr)

    @unittest.skipUnless(shutil.which("zeekctl"), "no zeekctl was found")
    def test_zeekctl_starts_and_watches_a_cluster(self):
        print(run(sys.executable, "zeekctl_test.py", "-v", cwd=self.source / "testing", env=self.environment), file=sys.stderr)

    @unittest.skipUnless(shutil.which("zeek-systemd-generator"), "no zeek-systemd-generator was found")
    def test_zeek_conf_describes_a_cluster(self):
        print(run(sys.executable, "zeek_conf_test.py", "-v", cwd=self.source / "testing", env=self.environment), file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
