# SPDX-License-Identifier: BSD-3-Clause
"""The scenarios by name, and what their plans have in common."""

ALL = {}

class Scenario:
    """`seeds`: how many a full run takes, `short_seeds` a short one. `sanitized`: it makes sense in a build
    with sanitizers. `least`: messages that a run publishes at least, or it has tested nothing."""

    def __init__(self, name, run, seeds, short_seeds, sanitized, least):
        self.name, self.run, self.seeds, self.short_seeds, self.sanitized = name, run, seeds, short_seeds, sanitized
        self.least = least
        self.teaches = " ".join(run.__doc__.split())


def scenario(name, seeds, short_seeds=5, sanitized=True, least=300):
    def keep(run):
        ALL[name] = Scenario(name, run, seeds, short_seeds, sanitized, least)
        return run
    return keep


# Of publishers that limit themselves to a rate.
STEADY = {"per_second": 20_000, "min_bytes": 100, "max_bytes": 300}


def sizes(w):
    """Payload sizes of a run: mostly small, sometimes large."""
    return w.random.choice([{"min_bytes": 20, "max_bytes": 200}, {"min_bytes": 20, "max_bytes": 200},
                            {"min_bytes": 200, "max_bytes": 4_000}, {"min_bytes": 1, "max_bytes": 60_000}])


def volume(w, messages):
    """Less of it where the run is to be short."""
    return messages // (20 if w.settings.sanitized else 4 if w.settings.short else 1)


def require_kept(w, figure, percent, least, who):
    """What is left of a rate under a fault. In a build with sanitizers it says how slow they make the fault."""
    w.figures[figure] = percent
    if not w.settings.sanitized:
        w.require(percent >= least, f"{who}: {percent} % of what it was before is left")
