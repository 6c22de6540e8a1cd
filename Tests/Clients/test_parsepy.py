"""ParsePy (the package qs-parse-rest), unchanged, against the Parse server of `tureen sandbox`: objects, queries, relations, batches,
users, schemas and errors. Its uploads do not work with Python 3 and are left out."""

import importlib
import os
import unittest
from datetime import datetime

from sandbox import Sandbox


def setUpModule():
    global sandbox, parse, core, datatypes, users
    sandbox = Sandbox("--contacts", "1", "--accounts", "1")
    # Read once, when the package is imported.
    os.environ["PARSE_API_ROOT"] = sandbox.parse
    parse = importlib.import_module("parse_rest.connection")
    core = importlib.import_module("parse_rest.core")
    datatypes = importlib.import_module("parse_rest.datatypes")
    users = importlib.import_module("parse_rest.user")
    parse.register(sandbox.parse_keys["application id"], sandbox.parse_keys["REST API key"])


def tearDownModule():
    os.environ.pop("PARSE_API_ROOT", None)
    sandbox.stop()


def class_named(name):
    return datatypes.Object.factory(name)


class LibraryTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        sandbox.control("reset", seed=True)

    def test_library_is_complete(self):
        counts = {name: class_named(name).Query.all().count() for name in ["Genre", "Publisher", "Author", "Book", "ISBN"]}
        self.assertEqual(counts, {"Genre": 40, "Publisher": 300, "Author": 2_000, "Book": 5_000, "ISBN": 5_000})

    def test_page_without_a_limit_has_100(self):
        self.assertEqual(len(class_named("Author").Query.all()), 100)

    def test_pages_by_keyset_hold_each_once(self):
        seen, last = [], ""
        while page := list(class_named("Author").Query.filter(objectId__gt=last).order_by("objectId").limit(300)):
            seen += [author.objectId for author in page]
            last = seen[-1]
        self.assertEqual((len(seen), len(set(seen))), (2_000, 2_000))

    def test_included_pointer_is_the_object(self):
        book = class_named("Book").Query.all().order_by("title").limit(1).select_related("isbn", "genre").get()
        self.assertTrue(book.isbn.value.isdigit() or "-" in book.isbn.value)
        self.assertTrue(book.genre.name)

    def test_relation_leads_to_authors(self):
        book = class_named("Book").Query.all().order_by("title").limit(1).get()
        with parse.MasterKey(sandbox.parse_keys["master key"]):
            authors = list(book.relation("authors").query())
        self.assertGreaterEqual(len(authors), 1)
        self.assertEqual({author.className for author in authors}, {"Author"})


class WritingTests(unittest.TestCase):
    def setUp(self):
        sandbox.control("reset")
        self.Score = class_named("Score")

    def made(self, **fields):
        score = self.Score(**fields)
        score.save()
        return score

    def again(self, score):
        return self.Score.Query.get(objectId=score.objectId)

    def test_reset_without_seed_leaves_nothing(self):
        self.assertEqual(class_named("Book").Query.all().count(), 0)

    def test_types_come_back(self):
        at = datetime(2024, 5, 1, 10, 20, 30, 123_000)
        score = self.made(n=5, name="Ána +1", at=at, place=datatypes.GeoPoint(48.5, 2.5), tags=["a"], deep={"x": [1]})
        read = self.again(score)
        self.assertEqual((read.n, read.name, read.at, read.tags, read.deep), (5, "Ána +1", at, ["a"], {"x": [1]}))
        self.assertEqual((read.place.latitude, read.place.longitude), (48.5, 2.5))
        self.assertRegex(read.objectId, "^[A-Za-z0-9]{10}$")

    def test_update_and_delete(self):
        score = self.made(n=1)
        score.n = 2
        score.save()
        self.assertEqual(self.again(score).n, 2)
        score.delete()
        with self.assertRaises(core.ResourceRequestNotFound):
            score.delete()

    def test_increment_is_the_server_s(self):
        score = self.made(n=1)
        score.increment("n", 4)
        self.assertEqual((score.n, self.again(score).n), (5, 5))

    def test_filters(self):
        for number in range(6):
            self.made(n=number, name="abcdef"[number])
        names = lambda **conditions: "".join(s.name for s in self.Score.Query.filter(**conditions).order_by("n"))
        self.assertEqual(names(n__gte=2, n__lt=4), "cd")
        self.assertEqual(names(n__in=[0, 5]), "af")
        self.assertEqual(names(n__nin=[0, 5]), "bcde")
        self.assertEqual(names(name__regex="^[ab]"), "ab")
        self.assertEqual(names(missing__exists=True), "")
        self.assertEqual("".join(s.name for s in self.Score.Query.all().order_by("n", descending=True).skip(1).limit(2)), "ed")

    def test_relation_add_and_remove(self):
        book, author = class_named("Book")(title="Dune"), class_named("Author")(name="Ana")
        book.save()
        author.save()
        book.relation("authors").add(author)
        with parse.MasterKey(sandbox.parse_keys["master key"]):
            self.assertEqual([a.name for a in book.relation("authors").query()], ["Ana"])
            book.relation("authors").remove(author)
            self.assertEqual(list(book.relation("authors").query()), [])

    def test_batch_saves_and_deletes(self):
        scores = [self.Score(n=number) for number in range(20)]
        batcher = parse.ParseBatcher()
        batcher.batch_save(scores)
        self.assertEqual(len({score.objectId for score in scores}), 20)
        batcher.batch_delete(scores[:19])
        self.assertEqual([score.n for score in self.Score.Query.all()], [19])
        with self.assertRaises(core.ParseBatchError) as caught:
            batcher.batch_delete(scores[18:])
        self.assertIn("Object not found.", str(caught.exception))
        self.assertEqual(self.Score.Query.all().count(), 0)

    def test_schema_and_drop(self):
        score = self.made(n=1)
        with self.assertRaises(core.ResourceRequestForbidden):
            self.Score.drop()
        with parse.MasterKey(sandbox.parse_keys["master key"]):
            self.assertEqual(self.Score.schema()["fields"]["n"], {"type": "Number"})
            with self.assertRaises(core.ResourceRequestBadRequest):
                self.Score.drop()
            score.delete()
            self.Score.drop()
        self.assertEqual(self.Score.Query.all().count(), 0)

    def test_mismatch_is_refused(self):
        self.made(n=1)
        with self.assertRaises(core.ResourceRequestBadRequest) as caught:
            self.made(n="one")
        self.assertIn("schema mismatch for Score.n; expected Number but got String", str(caught.exception))

    def test_users(self):
        users.User.signup("grace", "hopper", email="g@example.org")
        with self.assertRaises(core.ResourceRequestBadRequest):
            users.User.signup("grace", "other")
        with self.assertRaises(core.ResourceRequestNotFound):
            users.User.login("grace", "wrong")
        user = users.User.login("grace", "hopper")
        self.assertTrue(user.sessionToken.startswith("r:"))
        self.assertEqual(list(users.User.Query.all()), [], "users are private")
        with parse.SessionToken(user.sessionToken):
            self.assertEqual(users.User.current_user().email, "g@example.org")
        user.logout()
        with parse.SessionToken(user.sessionToken), self.assertRaises(core.ResourceRequestBadRequest):
            users.User.current_user()


class FaultTests(unittest.TestCase):
    def test_lost_answer_leaves_the_object(self):
        sandbox.control("reset")
        self.addCleanup(sandbox.control, "clearFaults")
        sandbox.control("addFault", kind="dropBeforeResponse", path="/parse/classes/Score", method="POST", times=1)
        score = class_named("Score")(n=1)
        with self.assertRaises(OSError):
            score.save()
        self.assertEqual(class_named("Score").Query.all().count(), 1)
