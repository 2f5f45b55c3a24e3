# SPDX-License-Identifier: BSD-3-Clause
"""The checker finds every fault that is planted in a report, and nothing in a report without one."""

import copy
import unittest

from harness import calls, checker

KEY = (1, "/t")


def stream(**changes):
    return {"publisher": 1, "topic": "/t", "first": 0, "next": 100, "received": 100, "missing": 0, "duplicates": 0,
            "reorders": 0, "gap_count": 0, "gaps": [], **changes}


def report(*streams, **changes):
    received = sum(each["received"] for each in streams)
    return {"visited": received, "corrupt": 0, "decode_errors": 0, "offered": received, "delivered": received, "queued": 0,
            "dropped": 0, "streams": list(streams), **changes}


class CheckerTest(unittest.TestCase):
    def finds(self, violations, *words):
        violations = list(violations)
        self.assertEqual(len(violations), 1, violations)
        for word in words:
            self.assertIn(word, violations[0])

    def finds_nothing(self, violations):
        self.assertEqual(list(violations), [])

    def test_a_perfect_history_passes_every_check(self):
        good = report(stream())
        before = copy.deepcopy(good)
        self.finds_nothing(checker.check_order("s", good))
        self.finds_nothing(checker.check_counters("s", good))
        self.finds_nothing(checker.check_strangers("s", good, {KEY: 100}))
        self.finds_nothing(checker.check_complete("s", good, {KEY: 100}))
        self.finds_nothing(checker.check_gapless("s", good))
        self.finds_nothing(checker.check_windows("s", good, {KEY: 100}, []))
        self.finds_nothing(checker.check_explained("s", good, {KEY: 100}, 0, 0))
        self.assertEqual(good, before)

    def test_a_duplicate_is_found(self):
        self.finds(checker.check_order("s", report(stream(duplicates=1))), "1 duplicates", "/t")

    def test_a_reorder_is_found(self):
        self.finds(checker.check_order("s", report(stream(), stream(topic="/u", reorders=3))), "3 reorders", "/u")

    def test_corruption_is_found(self):
        self.finds(checker.check_order("s", report(stream(), corrupt=2)), "2 messages corrupt")
        self.finds(checker.check_order("s", report(stream(), decode_errors=2)), "2 messages decode_errors")

    def test_books_that_do_not_balance_are_found(self):
        self.finds(checker.check_counters("s", report(stream(), offered=101)), "offered 101")
        self.finds(checker.check_counters("s", report(stream(), visited=99)), "99 came")
        self.finds(checker.check_link("n", {"offered": 5, "sent": 3, "dropped": 1, "queued": 0}), "link offered 5")
        self.finds_nothing(checker.check_link("n", {"offered": 5, "sent": 3, "dropped": 1, "queued": 1}))

    def test_a_message_nobody_published_is_found(self):
        self.finds(checker.check_strangers("s", report(stream()), {(2, "/t"): 100}), "nobody has published")
        self.finds(checker.check_strangers("s", report(stream()), {KEY: 99}), "only 99")

    def test_a_missing_message_is_found_where_the_topology_was_stable(self):
        self.finds(checker.check_complete("s", report(stream()), {KEY: 101}), "1 did not arrive")
        self.finds(checker.check_complete("s", report(), {KEY: 7}), "7 did not arrive")

    def test_a_drop_must_be_counted_exactly(self):
        lossy = stream(received=90, missing=10)
        self.finds_nothing(checker.check_complete("s", report(lossy, dropped=10), {KEY: 100}))
        self.finds(checker.check_complete("s", report(lossy, dropped=9), {KEY: 100}), "10 did not arrive")
        self.finds(checker.check_complete("s", report(lossy, dropped=11), {KEY: 100}), "10 did not arrive")

    def test_drops_at_links_count_exactly_for_one_path_and_as_a_limit_for_several(self):
        lossy = report(stream(received=90, missing=10), dropped=4)
        self.finds_nothing(checker.check_complete("s", lossy, {KEY: 100}, dropped_at_links=6))
        self.finds(checker.check_complete("s", lossy, {KEY: 100}, dropped_at_links=7), "10 did not arrive")
        self.finds_nothing(checker.check_complete("s", lossy, {KEY: 100}, dropped_at_links=7, paths=2))
        self.finds(checker.check_complete("s", lossy, {KEY: 100}, dropped_at_links=5, paths=2), "10 did not arrive")

    def test_a_late_subscriber_may_miss_the_beginning_and_nothing_else(self):
        late = stream(first=40, received=60, missing=40)
        self.finds_nothing(checker.check_gapless("s", report(late)))
        self.finds(checker.check_gapless("s", report({**late, "missing": 41})), "1 missing after")

    def test_a_gap_at_the_time_of_a_fault_is_explained_and_another_is_not(self):
        windows = [{("s", KEY): (20, 30)}, {("s", KEY): (60, 70), ("other", KEY): (0, 100)}]
        self.finds_nothing(checker.check_windows("s", report(stream(gaps=[[20, 25], [60, 70]])), {KEY: 100}, windows))
        self.finds(checker.check_windows("s", report(stream(gaps=[[19, 25]])), {KEY: 100}, windows), "19 to 24")
        self.finds(checker.check_windows("s", report(stream(gaps=[[29, 31]])), {KEY: 100}, windows), "29 to 30")

    def test_a_tail_that_never_came_is_a_gap(self):
        self.finds(checker.check_windows("s", report(stream(next=90, received=90)), {KEY: 100}, []), "90 to 99")

    def test_more_lost_than_counted_and_in_flight_is_found(self):
        lossy = report(stream(received=50, missing=50))
        self.finds_nothing(checker.check_explained("s", lossy, {KEY: 100}, counted=30, in_flight=20))
        self.finds(checker.check_explained("s", lossy, {KEY: 100}, counted=30, in_flight=19), "50 messages are missing")

    def test_an_allowance_that_excuses_everything_is_found(self):
        self.finds_nothing(checker.check_allowance("s", 100, 50))
        self.finds(checker.check_allowance("s", 100, 51), "51 messages may be missing of 100")

    def test_memory_beyond_its_bound_is_found(self):
        self.finds_nothing(checker.check_memory("n", 100 * 1024, 100))
        self.finds(checker.check_memory("n", 100 * 1024 + 1, 100), "the bound is 100")

    def test_a_late_close_and_a_leak_are_found(self):
        before = {"threads": 1, "descriptors": 4}
        after = {"slowest_ms": 50, "threads": 1, "descriptors": 4}
        self.finds_nothing(checker.check_closed("n", before, after, 100))
        late = {**after, "slowest_ms": 101 + checker.CLOSE_SLACK_MS}
        self.finds(checker.check_closed("n", before, late, 100), "its timeout was 100")
        self.finds(checker.check_closed("n", before, {**after, "threads": 2}, 100), "1 threads left")
        self.finds(checker.check_closed("n", before, {**after, "descriptors": 6}, 100), "2 descriptors left")


def call(number=1, **changes):
    return calls.Call(**{"number": number, "operation": "note", "begin": 10.0, "end": 10.1, "timeout": 5.0, "told": "result",
                         "by": "a0", **changes})


class CallsTest(unittest.TestCase):
    """Of one client, x-sync, whose first call is the one that is to be judged; server a0 has noted what was told."""

    def findings(self, *told, noted=None, **context):
        if noted is None:
            noted = [(each.by, ("x-sync", each.number)) for each in told if each.operation == "note" and each.told == "result"]
        servers = sorted({server for server, _ in noted})
        books = [(server, [note for by, note in noted if by == server]) for server in servers]
        return list(calls.check_calls(books, {"x-sync": list(told)}, **context))

    def finds(self, *told, words, **context):
        found = self.findings(*told, **context)
        self.assertEqual(len(found), 1, found)
        self.assertIn(words, found[0])

    def test_calls_that_went_well_pass(self):
        self.assertEqual(self.findings(call(), call(2, operation="sum", by="-"), call(3, told="service_lost", by="-")), [])
        self.assertEqual(self.findings(call(told="service_lost"), noted=[("a0", ("x-sync", 1))]), [])  # done, and not heard of
        report = {"name": "x-sync", "submitted": 2, "done": 1, "failed": 1, "unfinished": 0}
        self.assertEqual(list(calls.check_counted(report, [call(), call(2, told="service_lost")])), [])

    def test_what_is_done_twice_or_not_at_all_is_found(self):
        self.finds(call(told="service_lost"), noted=[("a0", ("x-sync", 1)), ("b1", ("x-sync", 1))], words="done more than once")
        self.finds(call(), noted=[("a0", ("x-sync", 1))] * 2, words="done more than once")
        self.finds(call(), noted=[], words="a server that has not done them")
        self.finds(call(), noted=[("b1", ("x-sync", 1))], words="a server that has not done them")
        self.finds(call(), noted=[("a0", ("x-sync", 1)), ("a0", ("x-sync", 9))], words="nobody has asked for")
        self.finds(call(told="no_such_service"), noted=[("a0", ("x-sync", 1))], cuts=[("x", 9, 11)], words="were done, although told")

    def test_a_call_that_ends_late_twice_or_never_is_found(self):
        self.finds(call(end=15.1 + calls.MARGIN_S), words="longer than their timeout")
        self.finds(call(end=15.1 + calls.MARGIN_S), call(2, timeout=30.0), words="longer than their timeout")
        self.finds(call(told="request_timeout"), words="before it was")
        self.finds(call(operation="sum"), call(operation="sum"), words="their own place")
        report = {"name": "x-sync", "submitted": 2, "done": 1, "failed": 0, "unfinished": 1}
        self.assertIn("1 are unfinished", next(calls.check_counted(report, [call()])))
        report.update(submitted=1, unfinished=0)
        self.assertIn("0 of 1 calls were told a result", next(calls.check_counted(report, [call(told="cancelled")])))

    def test_a_result_of_another_and_an_error_without_a_reason_are_found(self):
        self.finds(call(told="wrong"), words="result of another")
        self.finds(call(told="shutting_down"), words="were told shutting_down")
        self.finds(call(operation="echo", told="service_lost"), words="although they can be repeated")
        self.finds(call(told="no_such_service"), words="although somebody was")
        self.finds(call(told="no_such_service"), cuts=[("y", 9, 11), ("x", 12, 13)], words="although somebody was")
        self.assertEqual(self.findings(call(told="no_such_service"), cuts=[("x", 9, 11)]), [])

    def test_that_nobody_is_there_must_be_told_at_once(self):
        gone = (9.0, 9.5)
        self.assertEqual(self.findings(call(told="no_such_service"), gone=gone), [])
        self.finds(call(told="no_such_service", end=10.1 + calls.AT_ONCE_S), gone=gone, words="not told at once")
        self.finds(call(told="service_lost", begin=9.2, end=9.6 + calls.AT_ONCE_S), gone=gone, words="not told at once")
        self.finds(call(told="service_lost"), gone=gone, words="although nobody is there")


if __name__ == "__main__":
    unittest.main()
