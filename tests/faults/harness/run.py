# SPDX-License-Identifier: BSD-3-Clause
"""tools/faults: runs scenarios over seeds, one after another, and reports."""

import argparse
import json
import os
import platform
import random
import re
import statistics
import sys
import time
import traceback

from . import client_scenarios, lifecycle, scenarios  # noqa: F401: they register themselves
from .parts import Settings
from .program import ProgramError, Stuck
from .registry import ALL
from .world import World

ABOUT = """Starts real nodes, joins them through a network shim, breaks what can be broken, and checks that
every subscriber got each message at most once, in order, undamaged, and that every message that is
missing was counted. Each run of a scenario follows from its seed."""

EXAMPLES = """examples:
  tools/faults --short                        every scenario once or more, in about three minutes
  tools/faults                                the whole: over a thousand seeds and the ten-minute soak
  tools/faults --scenario ring --seeds 20     twenty seeds of one scenario
  tools/faults --scenario ring --seed 42 -v   one run again, with its plan
  tools/faults --scenario soak --duration 3600

A seed fixes what is done, not how the operating system interleaves it: a failure that depends on timing
may need the same seed more than once (--seed 42 --repeat 20).
Exit status: 0 every invariant held, 1 one did not, 2 the programs are not built."""

MARKS = "<!-- figures: tools/faults --markdown -->", "<!-- end of figures -->"


def parse(arguments):
    parser = argparse.ArgumentParser(prog="tools/faults", description=ABOUT, epilog=EXAMPLES,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="names the scenarios and says what they do")
    parser.add_argument("--short", action="store_true", help="every scenario with few seeds and little volume (about 3 minutes)")
    parser.add_argument("--scenario", action="append", metavar="NAME", choices=list(ALL), help="only this one; can be repeated")
    parser.add_argument("--seed", type=int, metavar="N", help="replays this seed")
    parser.add_argument("--seeds", type=int, metavar="N", help="so many seeds of every scenario")
    parser.add_argument("--first-seed", type=int, metavar="N", help="seeds count from here (default: from the clock)")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="every seed so many times")
    parser.add_argument("--duration", type=float, metavar="SECONDS", help="of a soak (default 600, with --short 8)")
    parser.add_argument("--build-dir", metavar="DIR", help="where the project was built (default: build/release, built if need be)")
    parser.add_argument("--sanitized", action="store_true", help="the build has sanitizers: less is sent, and memory is not judged")
    parser.add_argument("--plant", choices=["loss", "duplicate", "reorder", "damage"],
                        help="shows that this is found: subscribers get every 500th message wrong, services do every 500th operation so")
    parser.add_argument("--json", metavar="FILE", help="writes every run and its figures")
    parser.add_argument("--keep", metavar="FILE", help="of this file of --json, the scenarios not run now stay in what is written and summed up")
    parser.add_argument("--markdown", metavar="FILE", help="replaces the table of figures in this page (docs/reliability.md)")
    parser.add_argument("-v", "--verbose", action="store_true", help="says what is done to the nodes, as it is done")
    return parser.parse_args(arguments)


class Outcome:
    """One seed of one scenario."""

    def __init__(self, scenario, seed, seconds, messages, faults, peak_rss_kb, violations, last_words=(), **figures):
        self.scenario, self.seed, self.seconds = scenario, seed, seconds
        self.messages, self.faults, self.peak_kb = messages, faults, peak_rss_kb
        self.violations, self.last_words, self.figures = violations, last_words, figures

    def as_json(self):
        return {"scenario": self.scenario, "seed": self.seed, "seconds": round(self.seconds, 3), "messages": self.messages,
                "faults": self.faults, "peak_rss_kb": self.peak_kb, "violations": self.violations, **self.figures}


def judge(scenario, world):
    try:
        scenario.run(world)
        world.settle()
        world.check()
        world.require(world.messages() >= scenario.least, f"only {world.messages()} messages were published: nothing was tested")
        world.close()
    except Stuck as failure:
        world.violations.append(f"stuck: {failure}")
        world.check_order()


def run_once(scenario, seed, settings):
    begin = time.monotonic()
    world = World(settings, seed)
    try:
        judge(scenario, world)
    except ProgramError as failure:
        world.violations.append(str(failure))
    except Exception:  # a bug of the suite itself must not end the other scenarios, nor pass
        world.violations.append(traceback.format_exc())
    finally:
        world.abandon()
    return Outcome(scenario.name, seed, time.monotonic() - begin, world.messages(), world.faults, world.peak_kb,
                   world.violations, world.last_words, **world.figures)


def plan(options):
    """(scenario, seed) in the order they are run."""
    names = options.scenario or list(ALL)
    if options.seed is not None:
        return [(ALL[name], options.seed) for name in names for _ in range(options.repeat)]
    first = options.first_seed if options.first_seed is not None else random.SystemRandom().randrange(10**6) * 1000
    runs = []
    for name in names:
        count = options.seeds or (ALL[name].short_seeds if options.short else ALL[name].seeds)
        if options.sanitized and not ALL[name].sanitized:
            continue
        runs += [(ALL[name], first + i) for i in range(count) for _ in range(options.repeat)]
    return runs


def report_failure(outcome, options):
    for violation in outcome.violations[:10]:
        print(f"violation: {outcome.scenario}, seed {outcome.seed}: {violation}")
    if len(outcome.violations) > 10:
        print(f"violation: {outcome.scenario}, seed {outcome.seed}: and {len(outcome.violations) - 10} more")
    for line in outcome.last_words:
        print(f"    a program said: {line}")
    extra = "".join([" --short" if options.short else "", " --sanitized" if options.sanitized else "",
                     f" --duration {options.duration:g}" if options.duration else "",
                     f" --plant {options.plant}" if options.plant else "",
                     f" --build-dir {options.build_dir}" if options.build_dir else ""])
    print(f"replay: tools/faults --scenario {outcome.scenario} --seed {outcome.seed}{extra}", flush=True)


def sums(outcomes):
    """Per scenario, in order of appearance: what all its seeds come to."""
    by_name = {}
    for each in outcomes:
        by_name.setdefault(each.scenario, []).append(each)
    return [{"scenario": name, "seeds": len({each.seed for each in all_of}), "faults": sum(each.faults for each in all_of),
             "messages": sum(each.messages for each in all_of), "peak_rss_kb": max(each.peak_kb for each in all_of),
             "lost_in_flight": max(each.figures.get("lost_in_flight", 0) for each in all_of),
             "allowed_in_flight": max(each.figures.get("allowed_in_flight", 0) for each in all_of),
             "violations": sum(len(each.violations) for each in all_of), "seconds": sum(each.seconds for each in all_of)}
            for name, all_of in by_name.items()]


def read_json(path):
    """The outcomes in a file of --json. Raises SystemExit if it is none."""
    try:
        with open(path, encoding="utf-8") as file:
            return [Outcome(**run) for run in json.load(file)["runs"]]
    except (OSError, ValueError, KeyError, TypeError) as failure:
        raise SystemExit(f"faults: {path} is no file of --json: {failure}") from None


def with_others(outcomes, kept):
    """These, and those kept of other scenarios, in the order of a whole run."""
    new = {each.scenario for each in outcomes}
    return sorted(outcomes + [each for each in kept if each.scenario not in new],
                  key=lambda each: list(ALL).index(each.scenario))


def write_json(path, outcomes, summary):
    machine = {"system": platform.platform(), "processors": os.cpu_count()}
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"schema": 1, "summary": summary, "machine": machine, "scenarios": sums(outcomes),
                   "runs": [each.as_json() for each in outcomes]}, file, indent=1)


def write_markdown(path, outcomes, summary):
    lines = [MARKS[0], "", f"`{summary}`, on {time.strftime('%Y-%m-%d', time.gmtime())}, {os.cpu_count()} processors, "
             f"{sum(each.seconds for each in outcomes):,.0f} s.", "",
             "| scenario | seeds | faults | messages published | lost in flight, at most | allowed | peak memory | violations |",
             "|---|---:|---:|---:|---:|---:|---:|---:|"]
    for row in sums(outcomes):
        lines.append(f"| {row['scenario']} | {row['seeds']:,} | {row['faults']:,} | {row['messages']:,} | {row['lost_in_flight']:,} "
                     f"| {row['allowed_in_flight']:,} | {row['peak_rss_kb'] // 1024} MiB | {row['violations']} |")
    lines += attack_table(outcomes)
    with open(path, encoding="utf-8") as file:
        page = file.read()
    pattern = re.escape(MARKS[0]) + ".*?" + re.escape(MARKS[1])
    page, found = re.subn(pattern, lambda _: "\n".join([*lines, "", MARKS[1]]), page, flags=re.S)
    if not found:
        raise SystemExit(f"faults: {path} has no place for figures ({MARKS[0]} ... {MARKS[1]})")
    with open(path, "w", encoding="utf-8") as file:
        file.write(page)


def attack_table(outcomes):
    """What is left of honest traffic beside each attack of hostile-peer."""
    by_attack = {}
    for each in outcomes:
        if "attack" in each.figures:
            by_attack.setdefault(each.figures["attack"], []).append(each)
    if not by_attack:
        return []
    lines = ["", "| attack | seeds | rate kept, median | least | peak memory |", "|---|---:|---:|---:|---:|"]
    for name, all_of in sorted(by_attack.items()):
        kept = [each.figures["kept_percent"] for each in all_of if "kept_percent" in each.figures]
        figures = f"{statistics.median(kept):.0f} % | {min(kept)} %" if kept else "- | -"
        lines.append(f"| {name} | {len(all_of)} | {figures} | {max(each.peak_kb for each in all_of) // 1024} MiB |")
    return lines


class Progress:
    """A line on a terminal that is written over; elsewhere nothing."""

    def __init__(self, verbose):
        self.shown = sys.stderr.isatty() and not verbose

    def show(self, text):
        if self.shown:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def run_all(runs, settings, options):
    progress = Progress(options.verbose)
    outcomes = []
    current = None
    for i, (scenario, seed) in enumerate(runs):
        progress.show(f"[{i + 1}/{len(runs)}] {scenario.name}, seed {seed}")
        settings.log(f"{scenario.name}, seed {seed}")
        outcome = run_once(scenario, seed, settings)
        outcomes.append(outcome)
        if outcome.violations:
            progress.show("")
            report_failure(outcome, options)
        if i + 1 == len(runs) or runs[i + 1][0] is not scenario:
            row = sums(outcomes)[-1]
            progress.show("")
            print(f"{row['scenario']:<22} {row['seeds']:>5} seeds {row['messages']:>12} messages {row['faults']:>6} faults "
                  f"{row['violations']:>4} violations {row['seconds']:>7.1f} s", flush=True)
    return outcomes


def main(root, arguments):
    options = parse(arguments)
    if options.list:
        for each in ALL.values():
            print(f"{each.name} ({each.seeds} seeds)\n    {each.teaches}")
        return 0
    settings = Settings(options.build_dir or os.path.join(root, "build", "release"), options.short, options.sanitized,
                        options.duration, options.plant, (lambda text: print(text, file=sys.stderr)) if options.verbose else None)
    if not os.path.exists(os.path.join(settings.programs, "fault_node")):
        print(f"faults: there is no fault_node below {settings.programs}; build the project first", file=sys.stderr)
        return 2
    kept = read_json(options.keep) if options.keep else []
    try:
        outcomes = run_all(plan(options), settings, options)
    except KeyboardInterrupt:
        print("faults: interrupted", file=sys.stderr)
        return 130
    outcomes = with_others(outcomes, kept)
    violations = sum(len(each.violations) for each in outcomes)
    summary = (f"faults: {len({each.scenario for each in outcomes})} scenarios, "
               f"{len({(each.scenario, each.seed) for each in outcomes})} seeds, "
               f"{sum(each.messages for each in outcomes)} messages, {violations} violations")
    if options.json:
        write_json(options.json, outcomes, summary)
    if options.markdown:
        write_markdown(options.markdown, outcomes, summary)
    print(summary)
    return 1 if violations else 0
