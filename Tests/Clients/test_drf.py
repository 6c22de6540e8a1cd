"""A Django REST framework project as the server of `rest` targets: the three paginations it has, synced both ways."""

import unittest

import requests

from rest_service import ServiceCase, TwoWayTests, recipe

PAGING = {
    "numbered": {"style": "page", "pageParam": "page", "sizeParam": "page_size", "pageSize": 40},
    "offset": {"style": "offset", "offsetParam": "offset", "sizeParam": "limit", "pageSize": 40},
    "cursor": {"style": "bodyUrl", "nextPath": "next"},
}
FIELDS = {"fields": ["title", "pages", "key"]}


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


class DjangoTests(TwoWayTests):
    """The tests of one pagination, which the subclass names in `style`."""

    NEW = '{ id = "local_%s", title = "%s", pages = 7, __local__ = true, __locally_created__ = true }'
    EDIT = ("pages", 99)
    WRITES = ["POST", "PATCH", "DELETE"]
    DOWN = "down() clean()"

    def setUp(self):
        self.serve("drf_service.py", str(self.folder() / "books.db"))
        self.connect("")
        self.target, self.session = self.definition(), requests.Session()
        self.ids = [self.create(f"book {i}") for i in range(150)]

    def definition(self):
        return target(self.style)

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

    def made(self, record):
        return record["pages"] == 7

    def test_lists_and_their_changes_come_down(self):
        told, rows = self.script("down()")
        state = told["down"][0]
        self.assertEqual((state["status"], state["stored"], state.get("incomplete", False)), ("DONE", 150, False))
        self.assert_in_step(rows)

        self.change_the_list()
        told, rows = self.script(self.DOWN)
        self.assertEqual((told["down"][0]["status"], told["cleaned"]), ("DONE", [7]))
        self.assert_in_step(rows)

    def test_refusals_name_the_fields(self):
        told, rows = self.script('down() save({ id = "local_1", title = "", pages = "many", __local__ = true, '
                                 "__locally_created__ = true }) up()")
        self.assertEqual((told["up"][0]["failed"], len(self.truth())), (1, 150))
        error = rows["local_1"]["__last_error__"]
        self.assertIn("title", error)
        self.assertIn("pages", error)


class NumberedTests(DjangoTests, ServiceCase):
    style = "numbered"


class RecipeTests(DjangoTests, ServiceCase):
    """The definition in scripts/connections, with the field that it proposes for creates."""

    def definition(self):
        made = recipe("drf")
        made["up"]["create"] |= {
            "uniqueField": "key", "lookup": {"url": "/books/", "params": {"key": "{key}"}, "itemsPath": "results", "waitMs": 10}}
        return made


class OffsetTests(DjangoTests, ServiceCase):
    style = "offset"


class CursorTests(DjangoTests, ServiceCase):
    style = "cursor"


if __name__ == "__main__":
    unittest.main()
