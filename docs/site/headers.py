# SPDX-License-Identifier: BSD-3-Clause
"""The directive `header`: what one public header of the C++ library declares, from Doxygen's XML by way of Breathe.

.. header:: pubsub/endpoint.hpp

shows how to include it, the sentence in its first line, and its types, enumerations and functions. A header that
stands on no page, or on two, is an error.
"""
import functools
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "libpubsub/include"
XML = ROOT / "build/docs-doxygen/xml"
# These declare nothing of their own.
WITHOUT_PAGE = {"pubsub/pubsub.hpp", "pubsub/fwd.hpp", "pubsub/export.hpp"}
# Broker's names, which docs/migrating-from-broker.md is about.
BROKERS = "pubsub/compat/broker/"
DIRECTIVES = {"enum": "doxygenenum", "typedef": "doxygentypedef", "variable": "doxygenvariable",
              "function": "doxygenfunction"}



@functools.lru_cache(maxsize=None)
def described(kind):
    """All files, or all namespaces, as Doxygen describes them."""
    return [ElementTree.parse(XML / f"{compound.get('refid')}.xml").find("compounddef")
            for compound in ElementTree.parse(XML / "index.xml").findall(f"compound[@kind='{kind}']")]


def is_of(header, element):
    return element.find("location").get("file") == header


def types(header):
    """The directive and the name of each class and structure; those inside others are shown with them."""
    names = [(each.get("refid"), each.text)
             for file in described("file") if is_of(header, file) for each in file.findall("innerclass")]
    for refid, name in names:
        if not any(name.startswith(other + "::") for _, other in names):
            yield ("doxygenstruct" if refid.startswith("struct") else "doxygenclass"), name


def members(header):
    """The directive and the name of each enumeration, type name and function outside of classes."""
    for namespace in described("namespace"):
        for member in namespace.findall("sectiondef/memberdef"):
            if is_of(header, member):
                arguments = member.findtext("argsstring") if member.get("kind") == "function" else ""
                yield DIRECTIVES[member.get("kind")], member.findtext("qualifiedname") + arguments.removesuffix(" noexcept")


class Header(SphinxDirective):
    required_arguments = 1

    def run(self):
        header = self.arguments[0]
        if not hasattr(self.env, "headers_shown"):
            self.env.headers_shown = []
        self.env.headers_shown.append(header)
        first = (INCLUDE / header).read_text(encoding="utf-8").split("\n", 1)[0]
        lines = [first.removeprefix("// "), "", ".. code-block:: cpp", "", f"   #include <{header}>", ""]
        for directive, name in [*types(header), *members(header)]:
            lines += [f".. {directive}:: {name}", ""]
        return self.parse_text_to_nodes("\n".join(lines))


def check(app, env):
    logger = logging.getLogger(__name__)
    shown = getattr(env, "headers_shown", [])
    for header in sorted(path.relative_to(INCLUDE).as_posix() for path in INCLUDE.rglob("*.hpp")):
        expected = 0 if header in WITHOUT_PAGE or header.startswith(BROKERS) else 1
        if shown.count(header) != expected:
            logger.warning("<%s> stands on %d pages of docs/reference/cpp, not on %d", header, shown.count(header), expected)


def setup(app):
    app.add_directive("header", Header)
    app.connect("env-check-consistency", check)
    return {"parallel_read_safe": False}
