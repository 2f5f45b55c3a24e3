# SPDX-License-Identifier: BSD-3-Clause
"""Judges histories: pure functions from what nodes reported to a list of violations, one sentence each.

A subscriber's report has `streams` (per publisher and topic: first, next, received, missing,
duplicates, reorders, gaps), `corrupt`, and the library's counters. What was published is a map
(publisher, topic) -> messages.
"""

# Beyond what close() was given: the time to be scheduled on a machine that is busy.
CLOSE_SLACK_MS = 1_000


def stream_key(stream):
    return stream["publisher"], stream["topic"]


def check_order(name, report):
    """At most once, in order, and as it was sent. Holds whatever happens to the network."""
    for fault in ("corrupt", "decode_errors"):
        if report[fault]:
            yield f"{name}: {report[fault]} messages {fault}"
    for stream in report["streams"]:
        for fault in ("duplicates", "reorders"):
            if stream[fault]:
                yield (f"{name}: {stream[fault]} {fault} from publisher {stream['publisher']} on {stream['topic']} "
                       f"({stream['received']} received)")


def check_counters(name, report):
    """The subscriber's own books, once its queue is read."""
    offered, delivered, dropped, queued = (report[key] for key in ("offered", "delivered", "dropped", "queued"))
    if offered != delivered + dropped + queued:
        yield f"{name}: offered {offered} is not delivered {delivered} + dropped {dropped} + queued {queued}"
    if report["visited"] != delivered:
        yield f"{name}: the library counts {delivered} delivered, {report['visited']} came"


def check_link(name, link):
    offered, sent, dropped, queued = (link[key] for key in ("offered", "sent", "dropped", "queued"))
    if offered != sent + dropped + queued:
        yield f"{name}: link offered {offered} is not sent {sent} + dropped {dropped} + queued {queued}"


def lost_of(report, published):
    """Per stream that the subscription should have: how many messages it has not got."""
    seen = {stream_key(stream): stream["received"] for stream in report["streams"]}
    return {key: total - seen.get(key, 0) for key, total in published.items()}


def check_strangers(name, report, published):
    """Nothing comes that was not published."""
    for stream in report["streams"]:
        key = stream_key(stream)
        if key not in published:
            yield f"{name}: a stream nobody has published: {key}"
        elif stream["next"] > published[key]:
            yield f"{name}: number {stream['next'] - 1} on {key}, but only {published[key]} were published"


def check_complete(name, report, published, dropped_at_links=0, paths=1):
    """In a topology that was stable, published == delivered + dropped(reason), exactly. What links have
    dropped is known in sum only: where `paths` subscriptions share it, it is an upper limit."""
    lost = sum(lost_of(report, published).values())
    least = report["dropped"] + (dropped_at_links if paths == 1 else 0)
    most = report["dropped"] + dropped_at_links
    if not least <= lost <= most:
        yield (f"{name}: of {sum(published.values())} published {lost} did not arrive, but {report['dropped']} were "
               f"counted as dropped here and {dropped_at_links} at links")


def check_gapless(name, report):
    """From its first message on nothing is missing that was not counted as dropped."""
    missing = sum(stream["missing"] - stream["first"] for stream in report["streams"])
    if missing > report["dropped"]:
        yield f"{name}: {missing} missing after the first message, {report['dropped']} counted as dropped"


def check_windows(name, report, published, windows):
    """Where something was cut: messages are missing only from the times of the faults. A window maps
    (subscription, (publisher, topic)) to a range of numbers: from what had not arrived when the fault
    came to what was published once messages flowed again."""
    for stream in report["streams"]:
        key = stream_key(stream)
        if key not in published:
            continue
        times = [window.get((name, key), (0, 0)) for window in windows]
        gaps = list(stream["gaps"])
        if stream["next"] < published[key]:
            gaps.append([stream["next"], published[key]])
        for start, end in gaps:
            if not any(begin <= start and end <= finish for begin, finish in times):
                yield f"{name}: numbers {start} to {end - 1} of {key} are missing, and no fault explains it (faults at {times})"


def check_explained(name, report, published, counted, in_flight):
    """Where something was cut: no more is missing than was counted and was in flight."""
    lost = sum(lost_of(report, published).values()) - report["dropped"]
    if lost > counted + in_flight:
        yield (f"{name}: {lost} messages are missing; {counted} are accounted for and at most {in_flight} were in "
               f"flight when something was cut")


def check_allowance(name, published, in_flight):
    """What may be missing is little beside what there was: otherwise nothing was tested."""
    if 2 * in_flight > published:
        yield f"{name}: {in_flight} messages may be missing of {published}: too much was in flight to say anything"


def check_memory(name, peak_kb, bound_mib):
    if peak_kb > bound_mib * 1024:
        yield f"{name}: used {peak_kb // 1024} MiB of memory, the bound is {bound_mib}"


def check_closed(name, before, after, timeout_ms):
    """After close: in time, and every thread and descriptor given back."""
    if after["slowest_ms"] > timeout_ms + CLOSE_SLACK_MS:
        yield f"{name}: close took {after['slowest_ms']} ms, its timeout was {timeout_ms}"
    for kind in ("threads", "descriptors"):
        if after[kind] > before[kind]:
            yield f"{name}: {after[kind] - before[kind]} {kind} left after close"
