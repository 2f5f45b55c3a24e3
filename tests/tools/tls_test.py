# SPDX-License-Identifier: BSD-3-Clause
"""Encrypted connections at the command line, anonymous and with certificates."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from command import CommandTest

OK, USAGE, CONNECT = 0, 1, 2


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, timeout=60)


class TlsTest(CommandTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def certificates(self):
        """Options for a certificate that has signed itself; its key has the passphrase `sesame`."""
        if shutil.which("openssl") is None:
            self.skipTest("the command openssl is not installed")
        certificate, key, phrase = (self.folder / name for name in ("node.pem", "node.key", "phrase"))
        phrase.write_text("sesame\n")
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-passout", "pass:sesame",
                "-days", "1", "-subj", "/CN=node", "-keyout", key, "-out", certificate)
        return ["--certificate", certificate, "--key", key, "--passphrase-file", phrase, "--ca-file", certificate]

    def carries_a_message(self, *options):
        port = self.start("node", "--listen", "tls://127.0.0.1:0", *options).port()
        uri = f"tls://127.0.0.1:{port}"
        sub = self.start("sub", "--peer", uri, "--topic", "/t", "--text", "--count", "1", *options)
        code, _, err = self.run_command("pub", "--peer", uri, "--topic", "/t", "--text", *options, stdin="hello\n")
        self.assertEqual((code, sub.finish(), sub.out), (OK, OK, ["/t -> hello"]), err)
        code, _, err = self.run_command("status", uri, "--json", *options)
        self.assertEqual(code, OK, err)
        return port

    def test_messages_cross_an_anonymous_node(self):
        port = self.carries_a_message()
        code, _, err = self.run_command("status", f"127.0.0.1:{port}")
        self.assertEqual(code, CONNECT)
        self.assertIn("the peer uses TLS, and this side does not", err)

    def test_messages_cross_a_node_with_certificates(self):
        port = self.carries_a_message(*self.certificates())
        code, _, err = self.run_command("status", f"tls://127.0.0.1:{port}")
        self.assertEqual(code, CONNECT)
        self.assertIn("the peer asks for a certificate, and this side has none", err)

    def test_certificates_that_cannot_be_used_are_usage_errors(self):
        node = ["node", "--listen", "tls://127.0.0.1:0"]
        missing = self.folder / "missing.pem"
        for options, text in ((["--ca-file", missing], f"{missing}: No such file or directory"),
                              (["--passphrase-file", missing], f"{missing}: No such file or directory"),
                              (["--certificate", __file__], "a certificate needs its private key"),
                              (["--ca-file", __file__], "no certificates in PEM format")):
            code, _, err = self.run_command(*node, *options)
            self.assertEqual(code, USAGE, err)
            self.assertIn(text, err)

    def test_certificates_without_encryption_are_a_usage_error(self):
        for command in (["node", "--listen", "127.0.0.1:0"], ["status", "127.0.0.1:9"]):
            code, _, err = self.run_command(*command, "--ca-file", __file__)
            self.assertEqual(code, USAGE)
            self.assertIn("no address begins with tls://", err)


if __name__ == "__main__":
    unittest.main()
