# SPDX-License-Identifier: BSD-3-Clause
"""What autodoc shows of the package: signatures as a reader would write them, and nothing left out.

A name that `import libpubsub` brings and that stands on no page of docs/reference/python is an error.
"""
import re

from sphinx.util import logging

import libpubsub

# What pybind11 writes for arguments and results, and what it means.
SHORTER = [
    (r"(?:typing\.)?SupportsFloat \| (?:typing\.)?SupportsIndex", "float"),
    (r"(?:typing\.)?SupportsInt \| (?:typing\.)?SupportsIndex", "int"),
    (r"\(self: [\w.]+(, )?", "("),
    (r"\b(?:typing|collections\.abc|_core|libpubsub(?:\.\w+)*)\.(?=\w)", ""),
]


def shorten(app, what, name, obj, options, signature, result):
    def shorter(text):
        for pattern, meaning in SHORTER:
            text = re.sub(pattern, meaning, text)
        if name.startswith(("libpubsub.zeek.", "libpubsub.prometheus.", "libpubsub.bridge.")):  # or it may be the one of libpubsub.broker
            text = re.sub(r"\bEndpoint\b", "libpubsub.Endpoint", text)
        if name.startswith("libpubsub.record."):
            text = re.sub(r"\bTimestamp\b", "libpubsub.Timestamp", text)
        return text

    return signature and shorter(signature), result and shorter(result)


def check(app, env):
    shown = env.domains.python_domain.objects
    for name in libpubsub.__all__:
        if name not in ("__version__", "zeek") and f"libpubsub.{name}" not in shown:
            logging.getLogger(__name__).warning("libpubsub.%s stands on no page of docs/reference/python", name)


def setup(app):
    app.connect("autodoc-process-signature", shorten)
    app.connect("env-check-consistency", check)
    return {"parallel_read_safe": True}
