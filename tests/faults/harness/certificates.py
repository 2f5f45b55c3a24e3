# SPDX-License-Identifier: BSD-3-Clause
"""Certificates of one run, made when it begins: nothing secret lies in the tree, and nothing expires there."""

import os
import subprocess


class Certificates:
    """An authority and what it has signed, made with the command `openssl` when first needed."""

    def __init__(self, folder):
        self.folder = folder
        self.made = False

    def make(self):
        """For the nodes, and for an attacker who has one as well."""
        self.made = True
        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        self._openssl("req", "-x509", *key, "-days", "2", "-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.pem")
        for name in ("node", "attacker"):
            self._openssl("req", *key, "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.csr")
            self._openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                          "-days", "2", "-out", f"{name}.pem")

    def options(self):
        """Of the command `open`."""
        return {"certificate": self.path("node.pem"), "key": self.path("node.key"), "ca": self.path("ca.pem")} if self.made else {}

    def path(self, name):
        return os.path.join(self.folder, name)

    def _openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], cwd=self.folder, check=True, capture_output=True, timeout=60)
