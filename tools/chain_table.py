#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the table of a `pubsub bench chain --json FILE` report; status 3 if it shows any loss."""
import json
import sys

COLUMNS = ["relays", "msgs/s", "published", "delivered", "dropped", "duplicated", "reordered"]


def main() -> int:
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print("usage: chain_table.py FILE\n" + (__doc__ or ""))
        return 0 if sys.argv[1:] == ["--help"] else 1
    with open(sys.argv[1], encoding="utf-8") as file:
        results = json.load(file)["results"]
    print("".join(f"{name:>12}" for name in COLUMNS))
    sound = bool(results)
    for x in results:
        row = [x["relays"], round(x["msgs_per_s"]["median"]), *(x[name] for name in COLUMNS[2:])]
        print("".join(f"{value:>12,}" for value in row))
        sound = sound and x["published"] == x["delivered"] > 0
        sound = sound and x["dropped"] == x["duplicated"] == x["reordered"] == 0
    return 0 if sound else 3


if __name__ == "__main__":
    sys.exit(main())
