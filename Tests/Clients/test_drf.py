"""A Django REST framework project as the server of `rest` targets: the three paginations it has, synced both ways."""

import unittest

import requests

from rest_service import ServiceCase

PAGING = {
    "numbered": {"style": "page", "pageParam": "page", "sizeParam": "page_size", "pageSize": 40},
    "offset": {"style": "offset", "offsetParam": "offset", "sizeParam": "limit", "pageSize": 40},
    "cursor": {"style": "bodyUrl", "nextPath": "next"},
}
FIELDS = {"fields": ["title", "pages", "key"]}
NEW = '{ id = "local_%s", title = "%s", pages = 7, __local__ = true, __locally_created__ = true }'


def target(name):
    one = f"/{name}/{{id}}/"
    return {
        "type": "rest", "connection": "service", "url": f"/{name}/", "itemsPath": "results", "modificationDateField": "modified",
        **({} if name == "cursor" else {"totalPath": "count"}), "paging": PAGING[name],
        "incremental": {"mode": "param", "params": {"since": "{since}"}}, "ghosts": {"mode": "fullList", "confirm": "read"},
        "up": {
            "read": {"url": one}, "update": {"url": one, **FIELDS}, "delete": {"url": one},
            "create": {"url": f"/{name}/", "uniqueField": "key",
                       "lookup": {"url": f"/{name}/", "params": {"key": "{key}"}, "itemsPath": "results", "waitMs": 10}, **FIELDS},
        },
    }


class DjangoTests(ServiceCase):
    def start(self, name):
        self.serve("drf_service.py", str(self.folder() / "books.db"))
        self.connect("")
        self.name, self.target, self.session = name, target(name), requests.Session()
        self.ids = [self.create(f"book {i}") for i in range(150)]

    def each(self, check):
        for name in PAGING:
            with self.subTest(name):
                self.start(name)
                check()

    def url(self, id=None):
        return f"{self.service.url}/numbered/" + (f"{id}/" if id else "")

    def create(self, title):
        answer = self.session.post(self.url(), json={"title": title, "pages": 1})
        answer.raise_for_status()
        return str(answer.json()["id"])

    def change(self, id, **fields):
        self.session.patch(self.url(id), json=fields).raise_for_status()

    def delete(self, id):
        self.session.delete(self.url(id)).raise_for_status()

    def truth(self):
        url, books = self.url(), {}
        while url:
            answer = self.session.get(url).json()
            books |= {str(book["id"]): book for book in answer["results"]}
            url = answer["next"]
        return books

    def assert_in_step(self, rows):
        self.assert_equal_to(self.truth(), rows, "title", "pages", "key", "modified")

    def script(self, body):
        return self.run_script(self.target, body)

    def test_lists_and_their_changes_come_down(self):
        def check():
            told, rows = self.script("down()")
            state = told["down"][0]
            self.assertEqual((state["status"], state["stored"], state.get("incomplete", False)), ("DONE", 150, False))
            self.assert_in_step(rows)

            for id in self.ids[:10]:
                self.change(id, title="changed there")
            for id in self.ids[10:17]:
                self.delete(id)
            for i in range(5):
                self.create(f"new {i}")
            told, rows = self.script("down() clean()")
            self.assertEqual((told["down"][0]["status"], told["cleaned"]), ("DONE", [7]))
            self.assert_in_step(rows)

        self.each(check)

    def test_changes_while_a_list_is_read_are_there_after_one_more_run(self):
        def check():
            pages = []

            def meddle(method, path):
                pages.append(path)
                if len(pages) in (1, 2, 3):
                    at = 20 * len(pages)
                    for id in self.ids[at:at + 3]:
                        self.delete(id)
                    self.change(self.ids[at + 4], title="changed meanwhile")
                    self.change(self.ids[149 - at], title="changed meanwhile")
                    self.create("made meanwhile")

            self.way.passed = meddle
            self.script("down()")
            self.assertGreaterEqual(len(pages), 4)
            self.way.passed = lambda method, path: None
            told, rows = self.script("down() clean()")
            self.assertEqual(told["down"][0]["status"], "DONE")
            self.assert_in_step(rows)

        self.each(check)

    def test_edits_go_up(self):
        def check():
            edited, deleted = self.ids[3], self.ids[4]
            told, rows = self.script(f"""
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
            self.assertEqual(sorted(book["title"] for book in truth.values() if book["pages"] == 7), ["first", "second"])
            self.assertEqual((truth[edited]["title"], deleted in truth), ("edited here", False))
            self.assert_in_step(rows)

        self.each(check)

    def test_edits_on_both_sides_conflict(self):
        self.start("numbered")
        id = self.ids[0]
        self.script("down()")
        self.change(id, title="theirs")
        edit = f'local row = entry "{id}" row.title, row.__local__, row.__locally_updated__ = "ours", true, true save(row)'
        told, rows = self.script(edit + ' up "LEAVE_IF_CHANGED" tell("met", #await(mobilesync.getConflicts, { soupName = "rows" }))')
        self.assertEqual((told["up"][0]["conflicting"], told["met"]), (1, [1]))
        self.assertEqual((self.truth()[id]["title"], rows[id]["title"], rows[id]["__local__"]), ("theirs", "ours", True))

        told, rows = self.script('up "OVERWRITE" down()')
        self.assertEqual(self.truth()[id]["title"], "ours")
        self.assert_in_step(rows)

    def test_lost_answers_double_nothing(self):
        self.start("numbered")
        self.script("down()")
        id, deleted = self.ids[5], self.ids[6]
        edits = f"""
            save({NEW % (1, "heard of late")})
            local row = entry "{id}"
            row.pages, row.__local__, row.__locally_updated__ = 99, true, true
            local gone = entry "{deleted}"
            gone.__local__, gone.__locally_deleted__ = true, true
            save(row, gone)
        """
        # A run ends with the answer that it does not get.
        for method in ["POST", "PATCH", "DELETE"]:
            self.way.lose(method)
            self.script(edits + "up()")
            self.assertEqual(self.way.lost, [])
            edits = ""
        told, rows = self.script("up() down()")
        self.assertEqual(told["up"][0]["status"], "DONE")
        truth = self.truth()
        self.assertEqual([book["pages"] for book in truth.values() if book["title"] == "heard of late"], [7])
        self.assertEqual((truth[id]["pages"], deleted in truth), (99, False))
        self.assert_in_step(rows)

    def test_refusals_name_the_fields(self):
        self.start("numbered")
        told, rows = self.script('down() save({ id = "local_1", title = "", pages = "many", __local__ = true, '
                                 "__locally_created__ = true }) up()")
        self.assertEqual((told["up"][0]["failed"], len(self.truth())), (1, 150))
        error = rows["local_1"]["__last_error__"]
        self.assertIn("title", error)
        self.assertIn("pages", error)


if __name__ == "__main__":
    unittest.main()
