"""scripts/tureen.py: plug-ins, custom targets, transformations and resolvers of a Python program, as functions and coroutines."""

import asyncio
import sys
import threading
import unittest

from sandbox import ROOT
from test_ctypes import INDEXES, PEOPLE, Places, STORE, SYNC, poll_all, raises, setUpModule  # noqa: F401

sys.path.insert(0, str(ROOT / "scripts"))
from tureen import LATER, Tureen, TureenError  # noqa: E402

PRINTER = "com.acme.printer"
SPEC = {"actions": {"print": {"arguments": {"pages": {"type": "integer", "required": True}}}}}


class PluginTests(Places, unittest.TestCase):
    def test_functions_answer_by_returning_and_raising(self):
        t = self.host()

        def refuse(arguments):
            raise TureenError({"domain": "printer", "code": "empty", "message": "no paper", "retryable": True, "tray": 2})

        t.plugin(PRINTER, {
            "double": lambda arguments: {"pages": arguments["pages"] * 2}, "nothing": lambda arguments: None,
            "fail": lambda arguments: {}["ink"], "refuse": refuse, "odd": lambda arguments: {1, 2}})
        self.assertEqual(t.run(PRINTER, "double", {"pages": 2}), {"pages": 4})
        self.assertIsNone(t.run(PRINTER, "nothing"))
        with raises("com.acme.printer/failed") as caught:
            t.run(PRINTER, "fail")
        self.assertEqual(caught.exception.message, "'ink'")
        with raises("printer/empty") as caught:
            t.run(PRINTER, "refuse")
        self.assertEqual((caught.exception.retryable, caught.exception.details["tray"]), (True, 2))
        with raises("bridge/invalidArguments"):
            t.run(PRINTER, "odd")
        with raises("bridge/unknownAction"):
            t.run(PRINTER, "prnt")

    def test_progress_and_late_answers_from_any_thread(self):
        t, seen = self.host(), []

        def slow(arguments, call):
            call.progress({"page": 1})
            threading.Thread(target=lambda: call.answer("done")).start()
            return LATER

        t.plugin(PRINTER, {"slow": slow, "jam": lambda arguments, call: (call.fail("jammed"), LATER)[1]})
        self.assertEqual(t.run(PRINTER, "slow", on_progress=seen.append), "done")
        self.assertEqual(seen, [{"page": 1}])
        with raises("com.acme.printer/failed") as caught:
            t.run(PRINTER, "jam")
        self.assertEqual(caught.exception.message, "jammed")

    def test_second_answer_is_refused(self):
        t, calls = self.host(), []
        t.plugin(PRINTER, {"keep": lambda arguments, call: calls.append(call) or 1})
        t.run(PRINTER, "keep")
        self.assertIs(calls[0].answer(2), False)
        t.close()
        self.assertIs(calls[0].fail("late"), False)

    def test_coroutine_without_an_event_loop_of_the_program(self):
        t = self.with_people()

        async def count(arguments):
            await asyncio.sleep(0)
            return await t.call(STORE, "pgSoupExists", **PEOPLE)

        t.plugin(PRINTER, {"count": count})
        self.assertIs(t.run(PRINTER, "count"), True)

    def test_coroutine_in_the_loop_of_the_program(self):
        async def main():
            async with Tureen({"home": str(self.folder / "loop")}, str(ROOT / ".build/debug/libTureenShared.so")) as t:
                loops = []

                async def note(arguments, call):
                    loops.append(asyncio.get_running_loop())
                    call.progress("half")
                    await asyncio.sleep(0)
                    return arguments["n"] + 1

                t.plugin(PRINTER, {"note": note})
                progress = []
                self.assertEqual(await t.call(PRINTER, "note", n=1, on_progress=progress.append), 2)
                self.assertEqual((loops, progress), ([asyncio.get_running_loop()], ["half"]))

        asyncio.run(main())

    def test_cancelling_reaches_coroutines_and_functions(self):
        t, ended, begun, cancelled = self.host(), [], threading.Event(), threading.Event()

        async def wait(arguments):
            begun.set()
            try:
                await asyncio.sleep(3600)
            finally:
                cancelled.set()

        def hold(arguments, call):
            call.on_cancel = lambda: call.answer("stopped at page 2")
            return LATER

        t.plugin(PRINTER, {"wait": wait, "hold": hold, "keep": lambda arguments, call: LATER})
        for action in ("wait", "hold", "keep"):
            started = t.exec(PRINTER, action, on_result=ended.append, on_error=lambda error: ended.append(error.code))
            t.poll()
            self.assertTrue(action != "wait" or begun.wait(60))
            t.cancel(started)
            poll_all(t)
        self.assertEqual(ended, ["cancelled", "stopped at page 2", "cancelled"])
        self.assertTrue(cancelled.wait(60))

    def test_spec_names_and_removal(self):
        t = self.host()
        t.plugin(PRINTER, {"print": lambda arguments: arguments["pages"]}, SPEC)
        with raises("bridge/invalidArguments"):
            t.run(PRINTER, "print", {"pages": "2"})
        self.assertEqual(t.run(PRINTER, "print", {"pages": 2}), 2)
        for name in ("printer", "com.salesforce.x", PRINTER):
            with self.subTest(name=name), self.assertRaises(TureenError):
                t.plugin(name, {})
        with self.assertRaises(TypeError):
            t.plugin("com.acme.other", {"print": 5})
        t.unplug(PRINTER)
        with raises("bridge/unknownService"):
            t.run(PRINTER, "print", {"pages": 2})
        t.plugin(PRINTER, {"print": lambda arguments: 3})
        self.assertEqual(t.run(PRINTER, "print"), 3)

    def test_event_reaches_listeners(self):
        t, heard = self.host(), []
        t.on("com.acme.printer.jammed", heard.append)
        t.emit("com.acme.printer.jammed", {"tray": 2})
        t.poll()
        self.assertEqual(heard, [{"tray": 2}])
        with self.assertRaises(ValueError):
            t.emit("jammed")


class Shelf:
    """A custom target that keeps its records in a list."""

    def __init__(self, records):
        self.records, self.log = records, []

    def startFetch(self, target, since):
        self.log.append(("start", target["shelf"], since))
        return self.records[:2], {"totalSize": len(self.records), "more": 2 if len(self.records) > 2 else None}

    def continueFetch(self, target, more):
        return self.records[more:]

    def remoteIds(self, target, ids):
        return [record["Id"] for record in self.records]

    def createOnServer(self, target, record, fields):
        if record.get("Name") == "bad":
            return None, "bad name"
        self.log.append(("create", {field: record.get(field) for field in fields}))
        return f"new{len(self.log)}"

    def updateOnServer(self, target, record, fields):
        return True

    def deleteOnServer(self, target, record):
        return False, "kept"

    def fetchLastModifiedDates(self, target, records):
        return [None for _ in records]


def with_coroutines(shelf):
    """The same target as a mapping of coroutine functions."""
    def waiting(function):
        async def wait(*arguments):
            await asyncio.sleep(0)
            return function(*arguments)
        return wait

    return {name: waiting(getattr(shelf, name)) for name in dir(shelf) if name[0] != "_" and callable(getattr(shelf, name))}


def record(number):
    return {"Id": f"r{number}", "Name": f"n{number}", "LastModifiedDate": f"2030-01-01T00:00:0{number}.000Z"}


class SyncTests(Places, unittest.TestCase):
    def rows(self, t):
        query = {"queryType": "range", "indexPath": "Id", "order": "ascending", "pageSize": 100}
        cursor = t.run(STORE, "pgQuerySoup", {**PEOPLE, "querySpec": query})
        t.run(STORE, "pgCloseCursor", {"cursorId": cursor["cursorId"]})
        return cursor["currentPageOrderedEntries"]

    def flagged_host(self):
        t = self.host()
        t.run(STORE, "pgRegisterSoup", {**PEOPLE, "indexes": [*INDEXES, {"path": "__local__", "type": "string"}]})
        return t

    def test_custom_target_as_object_and_as_coroutines(self):
        for number, form in enumerate((lambda shelf: shelf, with_coroutines)):
            with self.subTest(form=number):
                t = self.host(f"home{number}")
                t.run(STORE, "pgRegisterSoup", {**PEOPLE, "indexes": [*INDEXES, {"path": "__local__", "type": "string"}]})
                shelf = Shelf([record(1), record(2), record(3)])
                t.target("shelf", form(shelf))
                target = {"type": "custom", "luaImpl": "shelf", "shelf": "a"}
                down = t.run(SYNC, "syncDown", {**PEOPLE, "target": target, "options": {"mergeMode": "OVERWRITE"}})
                self.assertEqual((down["status"], down["totalSize"], down["stored"]), ("DONE", 3, 3))
                self.assertEqual(shelf.log, [("start", "a", -1)])
                t.run(STORE, "pgUpsertSoupEntries", {**PEOPLE, "entries": [
                    {"Name": name, "__local__": True, "__locally_created__": True} for name in ("good", "bad")]})
                up = t.run(SYNC, "syncUp", {**PEOPLE, "target": target, "options": {
                    "mergeMode": "OVERWRITE", "fieldlist": ["Name"]}})
                self.assertEqual((up["status"], up["succeeded"], up["failed"]), ("DONE", 1, 1))
                self.assertEqual(shelf.log[1:], [("create", {"Name": "good"})])
                t.close()

    def test_unknown_and_failing_targets_say_why(self):
        t = self.flagged_host()
        target = {"type": "custom", "luaImpl": "nothing"}
        with raises("sync/customTarget"):
            t.run(SYNC, "syncDown", {**PEOPLE, "target": target})

        def fail(target, since):
            raise KeyError("shelf")

        t.target("broken", {"startFetch": fail})
        with raises("sync/customTarget") as caught:
            t.run(SYNC, "syncDown", {**PEOPLE, "target": {"type": "custom", "luaImpl": "broken"}})
        self.assertIn("'shelf'", caught.exception.message)
        t.target("odd", {"startFetch": lambda target, since: [{"a": {1}}]})
        with raises("sync/customTarget") as caught:
            t.run(SYNC, "syncDown", {**PEOPLE, "target": {"type": "custom", "luaImpl": "odd"}})
        self.assertIn("cannot be sent", caught.exception.message)
        t.target("odd", None)
        with raises("sync/customTarget"):
            t.run(SYNC, "syncDown", {**PEOPLE, "target": {"type": "custom", "luaImpl": "odd"}})


if __name__ == "__main__":
    unittest.main()
