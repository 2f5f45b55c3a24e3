#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Adds up JUnit files of ctest and pytest: a line for each, and `N passed, N failed` at the end.

An entry of ctest that is a doctest program counts with its own test cases; those that doctest calls
skipped are another entry's. Status 1 if anything failed, or if nothing ran.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

DOCTEST = re.compile(r"\[doctest\] test cases:\s*(\d+)\s*\|\s*(\d+) passed\s*\|\s*(\d+) failed")


def counts_of(case):
    """Passed, failed and skipped of one entry."""
    failed = case.find("failure") is not None or case.find("error") is not None
    found = DOCTEST.search(case.findtext("system-out") or "")
    if found is not None:
        _, good, bad = map(int, found.groups())
        # A program that fails after its last test case has failed too.
        return good, max(bad, 1 if failed else 0), 0
    if failed:
        return 0, 1, 0
    if case.find("skipped") is not None or case.get("status") in ("disabled", "notrun"):
        return 0, 0, 1
    return 1, 0, 0


def read(name):
    """The file as a tree; a failing test may have printed bytes that XML does not allow."""
    text = Path(name).read_text(encoding="utf-8", errors="replace")
    return ElementTree.fromstring(re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", "?", text))


def text_of(passed, failed, skipped):
    return f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else "")


def main():
    total = [0, 0, 0]
    for name in sys.argv[1:]:
        sums = [0, 0, 0]
        for case in read(name).iter("testcase"):
            sums = [a + b for a, b in zip(sums, counts_of(case))]
        print(f"  {Path(name).stem:<10} {text_of(*sums)}")
        total = [a + b for a, b in zip(total, sums)]
    print(text_of(*total))
    return 0 if total[1] == 0 and total[0] > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
