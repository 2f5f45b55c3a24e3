# SPDX-License-Identifier: BSD-3-Clause
"""Compares what the shared libraries export with the list symbols.txt beside this file.

    check_symbols.py LIBRARY... [--users ARCHIVE...]   says what differs; status 1 if anything does
    check_symbols.py LIBRARY... --renew                writes the list anew

Fails, too, where a library exports what is not pubsub::, and where the programs and archives behind --users need
something of the library that is not exported: there PUBSUB_EXPORT is missing in a public header.
"""
import argparse
import re
import subprocess
import sys
from pathlib import Path

LIST = Path(__file__).with_name("symbols.txt")
SYMBOL = re.compile(r"^[0-9a-f ]* ([A-Za-z]) (.*?)(?:@@?\w+\.\d+)?$")


def symbols(nm, file, *options):
    """The demangled symbols of a file, with their types."""
    text = subprocess.run([nm, "--demangle", *options, file], check=True, capture_output=True, text=True).stdout
    return {found[2]: found[1] for found in map(SYMBOL.match, text.splitlines()) if found and found[1] != "A"}


def exported(nm, library):
    """Without weak symbols: inline functions, of which a build that is not optimised has copies here too."""
    return sorted(name for name, kind in symbols(nm, library, "--dynamic", "--defined-only").items() if kind != "W")


def as_text(libraries):
    parts = ["# What the shared libraries export. check_symbols.py beside this file compares it, and renews it.\n"]
    for name, names in libraries.items():
        parts.append(f"\n{name}\n" + "".join(f"  {symbol}\n" for symbol in names))
    return "".join(parts)


def differences(libraries):
    """What is not as the list says, one sentence each."""
    listed = LIST.read_text().splitlines() if LIST.exists() else []
    now = as_text(libraries).splitlines()
    yield from (f"exported and not in the list: {line.strip()}" for line in now if line not in listed)
    yield from (f"in the list and not exported: {line.strip()}" for line in listed if line not in now)


def missing_exports(nm, users, everything):
    """What users need of the project and find neither among themselves nor exported."""
    needed, defined = set(), set()
    for user in users:
        needed |= set(symbols(nm, user, "--undefined-only"))
        defined |= set(symbols(nm, user, "--defined-only"))
    return sorted(name for name in needed - defined - everything if name.startswith("pubsub::"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libraries", nargs="+", metavar="LIBRARY")
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--users", nargs="*", default=[], metavar="ARCHIVE")
    parser.add_argument("--renew", action="store_true")
    parser.add_argument("--renew-command", default="check_symbols.py LIBRARY... --renew")
    arguments = parser.parse_args()

    libraries = {Path(file).name.partition(".so")[0]: exported(arguments.nm, file) for file in arguments.libraries}
    if arguments.renew:
        LIST.write_text(as_text(libraries))
        return print(f"{LIST} is renewed")
    everything = {symbol for names in libraries.values() for symbol in names}
    foreign = [f"exported, and not of pubsub: {symbol}" for symbol in sorted(everything) if "pubsub::" not in symbol]
    missing = [f"needed from outside and not exported (PUBSUB_EXPORT): {symbol}"
               for symbol in missing_exports(arguments.nm, arguments.users, everything)]
    changed = list(differences(libraries))
    print(*foreign, *missing, *changed, sep="\n")
    if changed:
        print(f"Where that is meant, renew the list and look at what changed: {arguments.renew_command}")
    print(f"check_symbols: {len(everything)} symbols, {len(foreign) + len(missing) + len(changed)} differences")
    sys.exit(1 if foreign or missing or changed else 0)


if __name__ == "__main__":
    main()
