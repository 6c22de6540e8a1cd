"""Kinto, unchanged, as the server of a `rest` target: its collections are synced both ways, with its tombstones and tags, by the
definition in scripts/connections."""

import unittest

import requests

from rest_service import ServiceCase, TwoWayTests, recipe

RECORDS = "/v1/buckets/team/collections/notes/records"


class KintoTests(TwoWayTests, ServiceCase):
    target = recipe("kinto")
    NEW = '{ id = "local_%s", title = "%s", text = "made here", __local__ = true, __locally_created__ = true }'
    EDIT = ("text", "edited here")
    WRITES = ["PUT", "PATCH", "DELETE"]

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

    def made(self, record):
        return record["text"] == "made here"

    def test_lists_and_their_changes_come_down(self):
        told, rows = self.script("down()")
        self.assertEqual([(state["status"], state["pages"], state["stored"]) for state in told["down"]], [("DONE", 4, 150)])
        self.assert_in_step(rows)

        self.change_the_list()
        told, rows = self.script("down()")
        self.assertEqual([(state["status"], state["removed"]) for state in told["down"]], [("DONE", 7)])
        self.assertEqual(len(rows), 148)
        self.assert_in_step(rows)


if __name__ == "__main__":
    unittest.main()
