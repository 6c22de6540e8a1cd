"""python3 -m unittest discover -s scripts/dev: each check finds what it is for, and nothing else."""

import unittest

from chaos import checks, fence


def rules(violations):
    return [violation.rule for violation in violations]


class CheckTests(unittest.TestCase):
    def test_duplicates(self):
        self.assertEqual(checks.no_duplicates("Contact", ["a", "b"]), [])
        found = checks.no_duplicates("Contact", ["a", "b", "a", "a"])
        self.assertEqual(rules(found), ["duplicate create"])
        self.assertIn("1 Contact twice on the org: a", found[0].detail)

    def test_arrivals(self):
        self.assertEqual(checks.all_arrived("Contact", {"a": "1"}, {"a": "1", "other": "2"}), [])
        self.assertEqual(rules(checks.all_arrived("Contact", {"a": "1"}, {})), ["lost record"])
        self.assertEqual(rules(checks.all_arrived("Contact", {"a": "2"}, {"a": "1"})), ["lost edit"])
        self.assertEqual(checks.all_arrived("Contact", {"a": "2"}, {"a": "3"}, {"a"}), [])
        # A record whose edit is uncertain must be there nevertheless.
        self.assertEqual(rules(checks.all_arrived("Contact", {"a": "2"}, {}, {"a"})), ["lost record"])

    def test_soups(self):
        org = {"1": ("Ada", "x"), "2": ("Ben", "y")}
        self.assertEqual(checks.same("contacts", dict(org), org), [])
        self.assertEqual(rules(checks.same("contacts", {"1": ("Ada", "x")}, org)), ["missing entry"])
        self.assertEqual(rules(checks.same("contacts", {**org, "3": ()}, org)), ["ghost entry"])
        self.assertEqual(rules(checks.same("contacts", {**org, "2": ("Ben", "z")}, org)), ["stale entry"])

    def test_work_left(self):
        self.assertEqual(checks.nothing_left("contacts", 0, 0, 0), [])
        self.assertEqual(len(checks.nothing_left("contacts", 1, 2, 3)), 3)

    RUNS = [(1, 1, "a", 10, 20, "lost"), (1, 2, "b", 20, 25, "done"), (1, 3, "b", 30, 31, "failed")]

    def test_ledger(self):
        def check(runs, fence_of_job=3, state="ready"):
            return rules(checks.ledger_is_right({1: (state, fence_of_job)}, runs))
        self.assertEqual(check(self.RUNS), [])
        self.assertEqual(check([], 0), [])
        self.assertEqual(check(self.RUNS, state="running"), ["job still runs"])
        self.assertEqual(check(self.RUNS[:2]), ["lost run", "fences"])
        self.assertEqual(check([self.RUNS[0], self.RUNS[2]]), ["fences"])
        self.assertEqual(check([(1, 1, "a", 10, 21, "lost"), *self.RUNS[1:]]), ["two owners"])
        self.assertEqual(check([(1, 1, "a", 10, None, None), *self.RUNS[1:]]), ["run without an end"])
        self.assertEqual(rules(checks.ledger_is_right({}, self.RUNS)), ["run without a job"])
        many = [(1, n, "a", n, n, "done") for n in range(301, 501)]
        self.assertEqual(check(many, 500), [])
        self.assertEqual(check(many[:-1], 500), ["lost run", "fences", ])

    def test_told(self):
        self.assertEqual(checks.told_is_recorded([("b", 1)], self.RUNS), [])
        self.assertEqual(checks.told_is_recorded([], self.RUNS), [])
        self.assertEqual(rules(checks.told_is_recorded([("b", 1), ("b", 1)], self.RUNS)), ["forgotten run"])
        self.assertEqual(rules(checks.told_is_recorded([("a", 1)], self.RUNS)), ["forgotten run"])

    def test_pages(self):
        states = [("1", "a", "a", "1", "RUNNING"), ("1", "b", "b", "2", "RUNNING"), ("1", "b", "a", "1", "STOPPED")]
        self.assertEqual(checks.written_by_holders(states), [])
        self.assertEqual(checks.written_by_holders([*states, ("1", "a", "b", "2", "RUNNING"), ("1", "a", "b", "2", "DONE")]),
                         [checks.Violation("page of a former owner", "2 in sync 1 with fence 2")])

    def test_fences_rise(self):
        self.assertEqual(checks.fences_rise({"sync:1": [1, 2, 5], "sync:2": [1]}), [])
        self.assertEqual(rules(checks.fences_rise({"sync:1": [1, 2, 2], "sync:2": [3, 1]})), ["fence went back"] * 2)

    def test_calls(self):
        self.assertEqual(checks.calls_are_reserved(90, 100, 100), [])
        self.assertEqual(rules(checks.calls_are_reserved(101, 100, 100)), ["calls beyond those reserved"])
        self.assertEqual(rules(checks.calls_are_reserved(5, 101, 100)), ["reserved beyond the budget"])

    def test_secrets(self):
        logs = {"one.log": "connected as worker", "two.log": "password=s3cret"}
        self.assertEqual(checks.no_secrets(logs, {"password": "other"}), [])
        self.assertEqual(checks.no_secrets(logs, {"password": "s3cret"}),
                         [checks.Violation("secret in a log", "password in two.log")])

    def test_fence_off_keeps_the_length(self):
        statement = b"UPDATE t SET x = 1 WHERE name = $1 AND owner = $2 AND fence = $4 RETURNING fence"
        changed = fence.without_fence(statement)
        self.assertEqual(len(changed), len(statement))
        self.assertIn(b"WHERE name = $1 AND $2<>''", changed)
        self.assertNotIn(b"owner", changed)


if __name__ == "__main__":
    unittest.main()
