# SPDX-License-Identifier: BSD-3-Clause
"""Makes an authority and certificates with the command `openssl`, when a test runs."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest


class Authority:
    """Signs certificates; all files lie in `folder`."""

    def __init__(self, folder):
        self.folder = folder
        self.ca_file = folder / "ca.pem"
        self.ca_key = folder / "ca.key"
        folder.mkdir()
        _openssl("req", "-x509", *_NEW_KEY, "-days", "2", "-subj", "/CN=test authority", "-keyout", self.ca_key,
                 "-out", self.ca_file)

    def issue(self, name, passphrase=""):
        """The options of `libpubsub.Endpoint` for a new certificate."""
        certificate, key, request = (self.folder / f"{name}.{kind}" for kind in ("pem", "key", "csr"))
        _openssl("req", *(_NEW_KEY if not passphrase else [*_NEW_KEY[:-1], "-passout", f"pass:{passphrase}"]),
                 "-subj", f"/CN={name}", "-keyout", key, "-out", request)
        _openssl("x509", "-req", "-in", request, "-CA", self.ca_file, "-CAkey", self.ca_key, "-CAcreateserial",
                 "-days", "1", "-out", certificate)
        return {"certificate": certificate, "key": key, "passphrase": passphrase, "ca_file": self.ca_file}


_NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]


def _openssl(*arguments):
    if shutil.which("openssl") is None:
        missing = pytest.fail if os.environ.get("CI") else pytest.skip
        missing("the command openssl is not installed")
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, timeout=60)
