"""Kinto, unchanged, as the server of a `rest` target: its collections are synced both ways, with its tombstones and tags."""

import unittest

import requests

from rest_service import ServiceCase

RECORDS = "/v1/buckets/team/collections/notes/records"
ONE = "/buckets/team/collections/notes/records/{id}"
FIELDS = {"fields": ["title", "text"]}
TARGET = {
    "type": "rest", "connection": "service", "url": "/buckets/team/collections/notes/records",
    "params": {"_sort": "last_modified"}, "itemsPath": "data", "modificationDateField": "last_modified", "dateFormat": "integer",
    "deletedPath": "deleted", "paging": {"style": "header", "nextHeader": "Next-Page", "nextOrigin": "connection"},
    "incremental": {"mode": "param", "params": {"_since": "{since}"}, "firstSince": "0", "overlapMs": 1},
    "up": {
        "itemPath": "data", "wrap": "data", "precondition": "ifMatch", "tag": {"path": "last_modified", "template": '"{tag}"'},
        "read": {"url": ONE},
        "create": {"method": "PUT", "url": ONE, "newId": "uuid", "headers": {"If-None-Match": "*"}, **FIELDS},
        "update": {"url": ONE, **FIELDS}, "delete": {"url": ONE, "answer": "none"},
    },
}
NEW = '{ id = "local_%s", title = "%s", text = "made here", __local__ = true, __locally_created__ = true }'


class KintoTests(ServiceCase):
    def setUp(self):
        self.serve("kinto_service.py")
        self.connect("/v1", auth={"type": "basic", "username": "sync", "password": {"file": "password"}})
        password = self.home / "password"
        password.write_text("secret\n")
        password.chmod(0o600)
        self.session = requests.Session()
        self.session.auth = ("sync", "secret")
        for path in ["/v1/buckets/team", "/v1/buckets/team/collections/notes"]:
            self.session.put(self.service.url + path).raise_for_status()
        self.ids = [self.create(f"note {i}") for i in range(150)]

    def create(self, title):
        answer = self.session.post(self.service.url + RECORDS, json={"data": {"title": title, "text": "there"}})
        answer.raise_for_status()
        return answer.json()["data"]["id"]

    def change(self, id, **fields):
        self.session.patch(f"{self.service.url}{RECORDS}/{id}", json={"data": fields}).raise_for_status()

    def delete(self, id):
        self.session.delete(f"{self.service.url}{RECORDS}/{id}").raise_for_status()

    def truth(self):
        url, records = self.service.url + RECORDS, {}
        while url:
            answer = self.session.get(url)
            answer.raise_for_status()
            records |= {record["id"]: record for record in answer.json()["data"]}
            url = answer.headers.get("Next-Page")
        return records

    def assert_in_step(self, rows):
        self.assert_equal_to(self.truth(), rows, "title", "text", "last_modified")

    def test_lists_and_their_changes_come_down(self):
        told, rows = self.run_script(TARGET, "down()")
        self.assertEqual([(state["status"], state["pages"], state["stored"]) for state in told["down"]], [("DONE", 4, 150)])
        self.assert_in_step(rows)

        for id in self.ids[:10]:
            self.change(id, title="changed there")
        for id in self.ids[10:17]:
            self.delete(id)
        for i in range(5):
            self.create(f"new {i}")
        told, rows = self.run_script(TARGET, "down()")
        self.assertEqual([(state["status"], state["removed"]) for state in told["down"]], [("DONE", 7)])
        self.assertEqual(len(rows), 148)
        self.assert_in_step(rows)

    def test_changes_while_a_list_is_read_are_there_after_one_more_run(self):
        pages = []

        def meddle(method, path):
            pages.append(path)
            if len(pages) in (1, 2, 3):
                at = 20 * len(pages)
                self.delete(self.ids[at])
                self.change(self.ids[at + 1], title="changed meanwhile")
                self.change(self.ids[149 - at], title="changed meanwhile")
                self.create("made meanwhile")

        self.way.passed = meddle
        self.run_script(TARGET, "down()")
        self.assertGreaterEqual(len(pages), 4)
        self.way.passed = lambda method, path: None
        told, rows = self.run_script(TARGET, "down()")
        self.assertEqual(told["down"][0]["status"], "DONE")
        self.assert_in_step(rows)

    def test_edits_go_up(self):
        edited, deleted = self.ids[3], self.ids[4]
        told, rows = self.run_script(TARGET, f"""
            down()
            save({NEW % (1, "first")}, {NEW % (2, "second")})
            local row = entry "{edited}"
            row.title, row.__local__, row.__locally_updated__ = "edited here", true, true
            local gone = entry "{deleted}"
            gone.__local__, gone.__locally_deleted__ = true, true
            save(row, gone)
            up() down()
        """)
        self.assertEqual([(state["status"], state["succeeded"]) for state in told["up"]], [("DONE", 4)])
        truth = self.truth()
        self.assertEqual(sorted(r["title"] for r in truth.values() if r["text"] == "made here"), ["first", "second"])
        self.assertEqual((truth[edited]["title"], truth[edited]["text"], deleted in truth), ("edited here", "there", False))
        self.assert_in_step(rows)

    def test_edits_on_both_sides_conflict(self):
        id = self.ids[0]
        self.run_script(TARGET, "down()")
        self.change(id, title="theirs")
        edit = f'local row = entry "{id}" row.title, row.__local__, row.__locally_updated__ = "ours", true, true save(row)'
        told, rows = self.run_script(TARGET, edit + ' up "LEAVE_IF_CHANGED" tell("met", #await(mobilesync.getConflicts, { soupName = "rows" }))')
        self.assertEqual((told["up"][0]["conflicting"], told["met"]), (1, [1]))
        self.assertEqual((self.truth()[id]["title"], rows[id]["title"], rows[id]["__local__"]), ("theirs", "ours", True))

        told, rows = self.run_script(TARGET, 'up "OVERWRITE" down()')
        self.assertEqual(self.truth()[id]["title"], "ours")
        self.assert_in_step(rows)

    def test_lost_answers_double_nothing(self):
        self.run_script(TARGET, "down()")
        id, deleted = self.ids[5], self.ids[6]
        edits = f"""
            save({NEW % (1, "heard of late")})
            local row = entry "{id}"
            row.text, row.__local__, row.__locally_updated__ = "edited here", true, true
            local gone = entry "{deleted}"
            gone.__local__, gone.__locally_deleted__ = true, true
            save(row, gone)
        """
        # A run ends with the answer that it does not get.
        for method in ["PUT", "PATCH", "DELETE"]:
            self.way.lose(method)
            self.run_script(TARGET, edits + "up()")
            self.assertEqual(self.way.lost, [])
            edits = ""
        told, rows = self.run_script(TARGET, "up() down()")
        self.assertEqual(told["up"][0]["status"], "DONE")
        truth = self.truth()
        self.assertEqual([r["text"] for r in truth.values() if r["title"] == "heard of late"], ["made here"])
        self.assertEqual((truth[id]["text"], deleted in truth), ("edited here", False))
        self.assert_in_step(rows)


if __name__ == "__main__":
    unittest.main()
