"""scripts/tureen.py with the built library: its three ways to make a call, events, errors, threads, event loops and every way to close."""

import asyncio
import ctypes
import gc
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from sandbox import ROOT, Sandbox

sys.path.insert(0, str(ROOT / "scripts"))
import tureen  # noqa: E402
from tureen import Tureen, TureenError  # noqa: E402

LIBRARY = ROOT / ".build/debug/libTureenShared.so"
STORE, SYNC, NETWORK = "com.salesforce.smartstore", "com.salesforce.mobilesync", "com.salesforce.network"
PEOPLE = {"soupName": "people"}
INDEXES = [{"path": "Id", "type": "string"}, {"path": "Name", "type": "string"}]
QUERY = {"queryType": "exact", "indexPath": "Id", "matchKey": "1", "pageSize": 10}
# Runs until it is given up, in a store of its own.
ENDLESS = {"isGlobalStore": True, "storeName": "endless", "querySpec": {
    "queryType": "smart",
    "smartSql": "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"}}
BEHIND = {"isGlobalStore": True, "storeName": "endless", **PEOPLE}


def setUpModule():
    if not LIBRARY.exists():
        raise AssertionError(f"{LIBRARY} is missing; build first")


@contextmanager
def raises(code):
    """Expects a TureenError with the code domain/code."""
    with unittest.TestCase().assertRaises(TureenError) as caught:
        yield caught
    unittest.TestCase().assertEqual(f"{caught.exception.domain}/{caught.exception.code}", code)


class Places:
    """Hosts of a test, each in a folder of its own. What callbacks raise must be looked at."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tureen-ctypes-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.reported = []

    def tearDown(self):
        self.assertEqual(self.reported, [])

    def host(self, name="home", **options):
        t = Tureen({"home": str(self.folder / name), **options}, LIBRARY, on_exception=self.reported.append)
        self.addCleanup(t.close)
        return t

    def with_people(self, name="home"):
        t = self.host(name)
        t.run(STORE, "pgRegisterSoup", {**PEOPLE, "indexes": INDEXES})
        return t

    def take_reported(self):
        taken, self.reported = self.reported[:], self.reported
        self.reported.clear()
        return taken


def poll_all(t):
    while t.pending():
        t.poll()


class OpenTests(Places, unittest.TestCase):
    def test_unknown_option_is_a_tureen_error(self):
        with raises("host/invalidConfiguration") as caught:
            Tureen({"hom": "/nowhere"}, LIBRARY)
        error = caught.exception
        self.assertIn("'hom'", error.message)
        self.assertEqual(str(error), f"host/invalidConfiguration: {error.message}")
        self.assertIs(error.retryable, False)
        self.assertEqual(error.details["code"], "invalidConfiguration")

    def test_options_that_are_not_an_object_are_refused(self):
        for options in ([1], "{}", 5, {"home": 5}, {"home": b"/tmp"}, {"home": {1, 2}}):
            with self.subTest(options=options), self.assertRaises((TureenError, TypeError)):
                Tureen(options, LIBRARY)

    def test_options_that_json_cannot_hold_are_refused(self):
        for value in (os.fsdecode(b"/tmp/\xff"), float("nan")):
            with self.subTest(value=value), self.assertRaises(ValueError):
                Tureen({"home": value}, LIBRARY)

    def test_missing_or_foreign_library_is_named(self):
        with self.assertRaisesRegex(OSError, "nowhere.so"):
            Tureen({}, "/nowhere.so")
        with self.assertRaisesRegex(OSError, "libm.so.6 is not the library of Tureen"):
            Tureen({}, "libm.so.6")

    def test_library_is_found_by_variable_and_beside_the_file(self):
        (self.folder / "tureen.py").symlink_to(ROOT / "scripts/tureen.py")
        program = "import tureen, sys; print(tureen.Tureen({'home': sys.argv[1]}).version)"
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "scripts"), "PYTHONDONTWRITEBYTECODE": "1"}

        def version(**more):
            return subprocess.run(
                [sys.executable, "-W", "error", "-c", program, self.folder / "home"], env={**environment, **more},
                capture_output=True, text=True, timeout=900)

        self.assertRegex(version(TUREEN_LIBRARY=str(LIBRARY)).stdout, r"^\d+\.\d+\.\d+\n$")
        self.assertIn("nowhere.so", version(TUREEN_LIBRARY="/nowhere.so").stderr)
        copy = self.folder / "program"
        copy.mkdir()
        (copy / "tureen.py").write_bytes((ROOT / "scripts/tureen.py").read_bytes())
        (copy / "libtureen.so").symlink_to(LIBRARY)
        self.assertRegex(version(PYTHONPATH=str(copy)).stdout, r"^\d+\.\d+\.\d+\n$")

    def test_version_is_the_header_s(self):
        header = (ROOT / "Sources/CTureenModule/include/tureen.h").read_text()
        self.assertIn(f'TUREEN_VERSION "{self.host().version}"', header)


class CallTests(Places, unittest.TestCase):
    def test_run_registers_upserts_and_queries(self):
        t = self.host()
        self.assertEqual(t.run(STORE, "pgRegisterSoup", {**PEOPLE, "indexes": INDEXES}), "people")
        stored = t.run(STORE, "pgUpsertSoupEntries", {
            **PEOPLE, "entries": [{"Id": "1", "Name": "Ána \0 \U0001f600"}], "externalIdPath": "Id"})
        self.assertEqual(stored[0]["Name"], "Ána \0 \U0001f600")
        page = t.run(STORE, "pgQuerySoup", {**PEOPLE, "querySpec": QUERY})
        self.assertEqual([entry["Name"] for entry in page["currentPageOrderedEntries"]], ["Ána \0 \U0001f600"])

    def test_exec_registers_upserts_and_queries(self):
        t, results, errors = self.host(), [], []
        calls = [
            ("pgRegisterSoup", {**PEOPLE, "indexes": INDEXES}),
            ("pgUpsertSoupEntries", {**PEOPLE, "entries": [{"Id": "1", "Name": "Ann"}], "externalIdPath": "Id"}),
            ("pgQuerySoup", {**PEOPLE, "querySpec": QUERY})]
        ids = [t.exec(STORE, action, arguments, on_result=results.append, on_error=errors.append) for action, arguments in calls]
        self.assertEqual((len(set(ids)), min(ids) > 0, t.pending(), results), (3, True, 3, []))
        poll_all(t)
        self.assertEqual(errors, [])
        self.assertEqual(results[2]["currentPageOrderedEntries"][0]["Name"], "Ann")

    def test_failure_has_the_whole_error(self):
        t, errors = self.host(), []
        with raises("smartstore/noSuchSoup") as caught:
            t.run(STORE, "pgClearSoup", {"soupName": "missing"})
        self.assertIn("missing", caught.exception.message)
        t.exec(STORE, "pgClearSoup", {"soupName": "missing"}, on_error=errors.append)
        poll_all(t)
        self.assertEqual(errors[0].details, caught.exception.details)

    def test_wrong_actions_and_arguments_are_answers(self):
        t = self.host()
        for service, action, arguments, code in (
            ("no.such", "x", None, "unknownService"), (STORE, "pgFly", {}, "unknownAction"),
            (STORE, "pgSoupExists", None, "invalidArguments"), (STORE, "pgSoupExists", {"soupName": None}, "invalidArguments"),
            (STORE, "pgSoupExists", [1], "invalidArguments"), (STORE, "pgSoupExists", {"soupName": 5}, "invalidArguments"),
            ("", "", {}, "unknownService"),
        ):
            with self.subTest(service=service, action=action, arguments=arguments), raises("bridge/" + code):
                t.run(service, action, arguments)

    def test_none_stands_for_an_argument_left_out(self):
        self.assertIs(self.host().run(STORE, "pgSoupExists", {**PEOPLE, "storeName": None}), False)

    def test_wrong_python_values_are_refused_and_make_no_call(self):
        t = self.host()
        for service, action, arguments, error in (
            (None, "pgSoupExists", {}, TypeError), (b"\xff", "pgSoupExists", {}, TypeError), (STORE, 5, {}, TypeError),
            (STORE + "\0x", "pgSoupExists", {}, ValueError), (STORE, "pgSoupExists\udcff", {}, ValueError),
            (STORE, "pgSoupExists", {"soupName": b"\xff"}, TypeError), (STORE, "pgSoupExists", {"soupName": "\udcff"}, ValueError),
            (STORE, "pgSoupExists", {"soupName": float("inf")}, ValueError), (STORE, "pgSoupExists", {(1, 2): 3}, TypeError),
        ):
            with self.subTest(service=service, action=action, arguments=arguments), self.assertRaises(error):
                t.exec(service, action, arguments, on_result=print)
        with self.assertRaises(TypeError):
            t.exec(STORE, "pgSoupExists", PEOPLE, on_result="print")
        for misuse in (
            lambda: t.cancel("1"), lambda: t.cancel(None), lambda: t.off(1.5), lambda: t.on("sync", None), lambda: t.on(b"sync", print),
            lambda: t.report("offline"), lambda: t.poll("1"), lambda: t.give_session({"accessToken": b"x"}),
        ):
            with self.assertRaises(TypeError):
                misuse()
        for misuse in (
            lambda: t.on("onlin", print), lambda: t.on("sync\0", print), lambda: t.report(4), lambda: t.report(-1),
            lambda: t.poll(float("nan")), lambda: t.give_session({"error": "\udcff"}),
        ):
            with self.assertRaises(ValueError):
                misuse()
        self.assertEqual((t.pending(), t.poll(0)), (0, 0))

    def test_unknown_numbers_are_fine(self):
        t = self.host()
        for number in (0, -1, 99, 2**63, 2**64 + 1, -(2**70)):
            t.cancel(number)
            t.off(number)

    def test_callbacks_that_nothing_else_holds_are_called(self):
        t, heard = self.with_people(), []
        for _ in range(100):
            t.exec(STORE, "pgSoupExists", PEOPLE, on_result=lambda value: heard.append(value))
        t.on("offline", lambda detail: heard.append(detail))
        gc.collect()
        poll_all(t)
        self.assertEqual(heard, [True] * 100)
        t.report(tureen.OFFLINE)
        while len(heard) == 100:
            t.poll()
        self.assertEqual(heard[100:], [None])

    def test_ten_thousand_calls_in_flight(self):
        t, heard = self.with_people(), []
        for _ in range(10_000):
            t.exec(STORE, "pgSoupExists", PEOPLE, on_result=heard.append)
        self.assertEqual(t.pending(), 10_000)
        poll_all(t)
        self.assertEqual((len(heard), set(heard), t._host.library.calls), (10_000, {True}, {}))

    def test_refused_call_raises_and_leaves_nothing(self):
        # As a full mailbox is; the 100,000 calls that fill one take a debug build half a minute.
        t, duplicate = self.host(), ctypes.CDLL(None).strdup
        duplicate.restype = ctypes.c_void_p

        def refuse(*arguments):
            arguments[-1]._obj.value = duplicate(b'{"domain": "bridge", "code": "mailboxFull", "message": "", "retryable": true}')
            return -4

        with mock.patch.dict(t._host.functions, exec=refuse), raises("bridge/mailboxFull") as caught:
            t.exec(STORE, "pgSoupExists", PEOPLE, on_result=print)
        self.assertTrue(caught.exception.retryable)
        self.assertEqual(t._host.library.calls, {})

    def test_cancel_ends_an_endless_query(self):
        t, errors = self.host(), []
        call = t.exec(STORE, "pgRunSmartQuery", ENDLESS, on_error=errors.append)
        t.run(STORE, "pgSoupExists", PEOPLE)
        self.assertEqual(errors, [])
        t.cancel(call)
        self.assertIs(t.run(STORE, "pgSoupExists", BEHIND), False)
        self.assertEqual([error.code for error in errors], ["cancelled"])

    def test_cancelled_call_without_on_error_is_not_reported(self):
        t = self.host()
        t.cancel(t.exec(STORE, "pgRunSmartQuery", ENDLESS, on_result=print))
        poll_all(t)

    def test_descriptor_is_readable_when_an_answer_waits(self):
        t = self.host()
        self.assertEqual(select.select([t], [], [], 0)[0], [])
        t.exec(STORE, "pgSoupExists", PEOPLE)
        self.assertEqual(select.select([t], [], [])[0], [t])
        self.assertEqual(t.poll(0), 1)

    def test_observer_tells_changes_until_it_is_closed(self):
        t, changes, ended = self.with_people(), [], []
        t.exec(STORE, "pgObserve", {"observerId": 1, **PEOPLE}, on_progress=changes.append, on_result=ended.append)
        t.run(STORE, "pgUpsertSoupEntries", {**PEOPLE, "entries": [{"Id": "1"}], "externalIdPath": "Id"})
        while not changes:
            t.poll()
        self.assertEqual(changes[0][0]["created"], [1])
        t.run(STORE, "pgCloseObserver", {"observerId": 1})
        poll_all(t)
        self.assertEqual(ended, [None])


class EventTests(Places, unittest.TestCase):
    def test_reports_reach_listeners_in_order_until_off(self):
        t, heard = self.host(), []
        numbers = [t.on(event, lambda detail, event=event: heard.append((event, detail)))
                   for event in ("offline", "online", "pause", "resume")]
        for state, count in ((tureen.OFFLINE, 1), (tureen.ONLINE, 2), (tureen.PAUSE, 3), (tureen.RESUME, 4)):
            t.report(state)
            while len(heard) < count:
                t.poll()
        self.assertEqual(heard, [(event, None) for event in ("offline", "online", "pause", "resume")])
        t.off(numbers[0])
        last = t.on("offline", heard.append)
        t.report(tureen.OFFLINE)
        while len(heard) < 5:
            t.poll()
        self.assertEqual(heard[4:], [None])
        t.off(last)
        self.assertEqual(len(t._host.library.listeners), 3)

    def test_failure_without_a_callback_is_an_uncaught_error(self):
        t, heard = self.host(), []
        t.on("uncaughtError", heard.append)
        t.exec(STORE, "pgClearSoup", {"soupName": "missing"})
        poll_all(t)
        self.assertEqual([detail["error"]["code"] for detail in heard], ["noSuchSoup"])

    def test_failure_without_on_error_is_reported(self):
        t = self.host()
        t.exec(STORE, "pgClearSoup", {"soupName": "missing"}, on_result=print)
        poll_all(t)
        self.assertEqual([error.code for error in self.take_reported()], ["noSuchSoup"])

    def test_listener_may_remove_itself_and_others(self):
        t, heard, numbers = self.host(), [], []

        def once(detail):
            heard.append(detail)
            for number in numbers:
                t.off(number)

        numbers += [t.on("offline", once), t.on("offline", heard.append)]
        t.report(tureen.OFFLINE)
        while not heard:
            t.poll()
        self.assertEqual(heard, [None])

    def test_program_gives_sessions(self):
        org = "http://127.0.0.1:1"
        t, asked = self.host(org=org, signIn="program"), []
        self.assertIs(t.give_session({"accessToken": "x", "instanceUrl": org}), False)

        def on_needed(need):
            asked.append(need)
            with self.assertRaises(ValueError):
                t.give_session({"accessToken": "x"})
            self.assertIs(t.give_session({"error": "denied", "message": "Ann pressed Cancel"}), True)

        t.on("sessionNeeded", on_needed)
        with raises("network/notAuthenticated") as caught:
            t.run(NETWORK, "pgSendRequest", {"path": "/services/data/v66.0/limits"})
        self.assertIn("Ann pressed Cancel", caught.exception.message)
        self.assertEqual(asked, [{"org": org, "user": "program-user", "reason": "noSession"}])


class ExceptionTests(Places, unittest.TestCase):
    def test_callback_that_raises_breaks_nothing(self):
        t, heard = self.with_people(), []
        t.on("offline", lambda detail: 1 / 0)
        t.on("offline", heard.append)
        t.report(tureen.OFFLINE)
        while not heard:
            t.poll()
        for callback in (lambda value: 1 / 0, heard.append, lambda: None, heard.append):
            t.exec(STORE, "pgSoupExists", PEOPLE, on_result=callback)
        poll_all(t)
        self.assertEqual(heard, [None, True, True])
        self.assertEqual([type(error) for error in self.take_reported()], [ZeroDivisionError, ZeroDivisionError, TypeError])

    def test_without_a_handler_the_unraisable_hook_gets_it(self):
        with mock.patch.object(sys, "unraisablehook") as hook, Tureen({"home": str(self.folder / "home")}, LIBRARY) as t:
            heard = []
            t.exec(STORE, "pgSoupExists", PEOPLE, on_result=lambda value: 1 / 0)
            t.exec(STORE, "pgClearSoup", {"soupName": "missing"}, on_result=print)
            t.exec(STORE, "pgSoupExists", PEOPLE, on_result=heard.append)
            poll_all(t)
        self.assertEqual(heard, [False])
        self.assertEqual([call.args[0].exc_type for call in hook.call_args_list], [ZeroDivisionError, TureenError])

    def test_handler_that_raises_breaks_nothing(self):
        with mock.patch.object(sys, "unraisablehook") as hook:
            t = Tureen({"home": str(self.folder / "home")}, LIBRARY, on_exception=lambda error: [].pop())
            self.addCleanup(t.close)
            t.exec(STORE, "pgSoupExists", PEOPLE, on_result=lambda value: 1 / 0)
            self.assertIs(t.run(STORE, "pgSoupExists", PEOPLE), False)
        self.assertEqual([call.args[0].exc_type for call in hook.call_args_list], [IndexError])

    def test_what_ends_the_program_leaves_poll(self):
        for method in (Tureen.poll, Tureen.close, lambda t: t.run(STORE, "pgSoupExists", PEOPLE)):
            t, heard = self.host(), []
            end = mock.Mock(side_effect=SystemExit(3))
            t.exec(STORE, "pgSoupExists", PEOPLE, on_result=end, on_error=end)
            with self.assertRaises(SystemExit):
                method(t)
            if not t.closed:
                t.exec(STORE, "pgSoupExists", PEOPLE, on_result=heard.append)
                poll_all(t)
                self.assertEqual(heard, [False])

    def test_ctrl_c_gives_the_call_up(self):
        t = self.host()
        t.exec(STORE, "pgSoupExists", PEOPLE, on_result=lambda value: signal.raise_signal(signal.SIGINT))
        with self.assertRaises(KeyboardInterrupt):
            t.run(STORE, "pgRunSmartQuery", ENDLESS)
        self.assertIs(t.run(STORE, "pgSoupExists", BEHIND), False)

    def test_polling_inside_a_callback_is_refused(self):
        t = self.host()
        t.exec(STORE, "pgSoupExists", PEOPLE, on_result=lambda value: t.poll(0))
        t.exec(STORE, "pgSoupExists", PEOPLE, on_result=lambda value: t.run(STORE, "pgSoupExists", PEOPLE))
        poll_all(t)
        self.assertEqual([type(error) for error in self.take_reported()], [RuntimeError, RuntimeError])

    def test_answer_that_python_cannot_read_ends_the_call(self):
        t = self.host()
        with mock.patch.object(tureen.json, "loads", side_effect=RecursionError("too deep")), raises("bridge/internal") as caught:
            t.run(STORE, "pgSoupExists", PEOPLE)
        self.assertIn("too deep", caught.exception.message)


class CloseTests(Places, unittest.TestCase):
    def test_open_calls_end_with_closed(self):
        t, codes = self.host(), []
        for _ in range(10):
            t.exec(STORE, "pgRunSmartQuery", ENDLESS, on_error=lambda error: codes.append(error.code))
        t.exec(STORE, "pgRunSmartQuery", ENDLESS, on_result=print)
        t.close()
        self.assertEqual((codes, t.closed), (["closed"] * 10, True))
        self.assertEqual((t._host.library.calls, t._host.library.listeners), ({}, {}))

    def test_use_after_close_is_an_error(self):
        t = self.host()
        number = t.on("sync", print)
        t.close()
        t.close()
        for use in (
            lambda: t.exec(STORE, "pgSoupExists", PEOPLE, on_result=print), lambda: t.run(STORE, "pgSoupExists", PEOPLE),
            lambda: asyncio.run(t.call(STORE, "pgSoupExists", **PEOPLE)), lambda: t.poll(0), t.pending, t.fileno,
            lambda: t.cancel(1), lambda: t.on("sync", print), lambda: t.off(number), lambda: t.report(tureen.ONLINE),
            lambda: t.give_session({}),
        ):
            with raises("bridge/closed"):
                use()
        self.assertEqual(t._host.library.calls, {})

    def test_callback_may_close(self):
        t, codes = self.host(), []

        def close(value):
            t.close()
            t.close()

        t.exec(STORE, "pgSoupExists", PEOPLE, on_result=close)
        for _ in range(50):
            t.exec(STORE, "pgRunSmartQuery", ENDLESS, on_error=lambda error: codes.append(error.code))
        with raises("bridge/closed"):
            while True:
                t.poll()
        self.assertEqual((codes, t._host.handle), (["closed"] * 50, None))

    def test_callback_may_close_while_run_waits(self):
        t = self.host()
        t.exec(STORE, "pgSoupExists", PEOPLE, on_result=lambda value: t.close())
        with raises("bridge/closed"):
            t.run(STORE, "pgRunSmartQuery", ENDLESS)

    def test_other_thread_closes_while_threads_wait(self):
        t, codes = self.host(), []
        ready = threading.Barrier(5)

        def wait():
            ready.wait()
            try:
                t.run(STORE, "pgRunSmartQuery", ENDLESS)
            except TureenError as error:
                codes.append(error.code)

        threads = [threading.Thread(target=wait) for _ in range(4)]
        for thread in threads:
            thread.start()
        ready.wait()
        t.close()
        for thread in threads:
            thread.join()
        self.assertEqual((codes, t._host.handle), (["closed"] * 4, None))

    def test_threads_wait_at_once(self):
        t, results = self.with_people(), []

        def work():
            for _ in range(200):
                results.append(t.run(STORE, "pgSoupExists", PEOPLE))

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((len(results), set(results)), (1_600, {True}))

    def test_two_hosts_do_not_know_each_other(self):
        one, other = self.with_people("one"), self.host("other")
        heard = []
        one.exec(STORE, "pgSoupExists", PEOPLE, on_result=lambda value: heard.append(other.run(STORE, "pgSoupExists", PEOPLE)))
        poll_all(one)
        self.assertEqual(heard, [False])
        one.close()
        self.assertEqual((other.pending(), other.closed), (0, False))

    def test_two_hosts_of_one_home_see_the_same_stores(self):
        self.with_people()
        self.assertIs(self.host().run(STORE, "pgSoupExists", PEOPLE), True)

    def test_forgotten_host_closes_with_a_warning(self):
        codes = []
        t = Tureen({"home": str(self.folder / "home")}, LIBRARY)
        t.exec(STORE, "pgRunSmartQuery", ENDLESS, on_error=lambda error: codes.append(error.code))
        with self.assertWarns(ResourceWarning):
            del t
            gc.collect()
        self.assertEqual(codes, ["closed"])

    def test_refused_host_leaves_no_warning(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with self.assertRaises(TureenError):
                Tureen({"hom": 1}, LIBRARY)
            gc.collect()

    def test_child_of_a_fork_has_no_host(self):
        t = self.host()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # newer Pythons warn because the library has threads
            child = os.fork()
        if child == 0:
            status = 1
            try:
                t.pending()
            except TureenError:
                t.close()
                status = 0
            finally:
                os._exit(status)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertIs(t.run(STORE, "pgSoupExists", PEOPLE), False)


class AsyncTests(Places, unittest.IsolatedAsyncioTestCase):
    async def host_with_people(self):
        t = self.host()
        await t.call(STORE, "pgRegisterSoup", **PEOPLE, indexes=INDEXES)
        return t

    async def test_call_registers_upserts_and_queries(self):
        async with self.host() as t:
            self.assertEqual(await t.call(STORE, "pgRegisterSoup", **PEOPLE, indexes=INDEXES), "people")
            await t.call(STORE, "pgUpsertSoupEntries", **PEOPLE, entries=[{"Id": "1", "Name": "Ann"}], externalIdPath="Id")
            page = await t.call(STORE, "pgQuerySoup", **PEOPLE, querySpec=QUERY)
            self.assertEqual([entry["Name"] for entry in page["currentPageOrderedEntries"]], ["Ann"])
        self.assertTrue(t.closed)

    async def test_two_calls_at_once_each_get_their_answer(self):
        t = await self.host_with_people()
        answers = await asyncio.gather(
            t.call(STORE, "pgSoupExists", **PEOPLE), t.call(STORE, "pgSoupExists", soupName="missing"),
            t.call(STORE, "pgClearSoup", soupName="missing"), return_exceptions=True)
        self.assertEqual(answers[:2], [True, False])
        self.assertEqual(answers[2].code, "noSuchSoup")

    async def test_cancelled_task_gives_the_call_up(self):
        t = self.host()
        task = asyncio.ensure_future(t.call(STORE, "pgRunSmartQuery", **ENDLESS))
        await t.call(STORE, "pgSoupExists", **PEOPLE)
        self.assertEqual(t.pending(), 1)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        self.assertIs(await t.call(STORE, "pgSoupExists", **BEHIND), False)
        self.assertEqual(t.pending(), 0)

    async def test_close_answers_what_is_awaited(self):
        t = self.host()
        tasks = [asyncio.ensure_future(t.call(STORE, "pgRunSmartQuery", **ENDLESS)) for _ in range(5)]
        await t.call(STORE, "pgSoupExists", **PEOPLE)
        t.close()
        answers = await asyncio.gather(*tasks, return_exceptions=True)
        self.assertEqual([answer.code for answer in answers], ["closed"] * 5)
        self.assertEqual(t._host.loops, {})

    async def test_callback_may_close(self):
        t = self.host()
        t.exec(STORE, "pgSoupExists", PEOPLE, on_result=lambda value: t.close())
        with raises("bridge/closed"):
            await t.call(STORE, "pgRunSmartQuery", **ENDLESS)

    async def test_events_and_callbacks_arrive_in_the_loop(self):
        async with self.host() as t:
            loop = asyncio.get_running_loop()
            event, answer = loop.create_future(), loop.create_future()
            t.on("offline", event.set_result)
            t.report(tureen.OFFLINE)
            t.exec(STORE, "pgSoupExists", PEOPLE, on_result=answer.set_result)
            self.assertEqual(await asyncio.gather(event, answer), [None, False])

    async def test_progress_that_raises_is_reported_and_the_call_goes_on(self):
        t = await self.host_with_people()
        told = asyncio.get_running_loop().create_future()

        def on_progress(changes):
            told.set_result(changes)
            raise KeyError("progress")

        observer = asyncio.ensure_future(t.call(STORE, "pgObserve", **PEOPLE, observerId=1, on_progress=on_progress))
        await t.call(STORE, "pgSoupExists", **PEOPLE)
        await t.call(STORE, "pgUpsertSoupEntries", **PEOPLE, entries=[{"Id": "1"}], externalIdPath="Id")
        self.assertEqual((await told)[0]["created"], [1])
        await t.call(STORE, "pgCloseObserver", observerId=1)
        self.assertIsNone(await observer)
        self.assertEqual([type(error) for error in self.take_reported()], [KeyError])

    async def test_other_threads_run_meanwhile(self):
        t, loop = await self.host_with_people(), asyncio.get_running_loop()

        def work():
            return [t.run(STORE, "pgSoupExists", PEOPLE) for _ in range(100)]

        async def ask():
            return [await t.call(STORE, "pgSoupExists", **PEOPLE) for _ in range(100)]

        answers = await asyncio.gather(*(loop.run_in_executor(None, work) for _ in range(4)), *(ask() for _ in range(4)))
        self.assertEqual(answers, [[True] * 100] * 8)

    async def test_other_thread_closes_while_a_task_waits(self):
        t, loop = self.host(), asyncio.get_running_loop()
        task = asyncio.ensure_future(t.call(STORE, "pgRunSmartQuery", **ENDLESS))
        await t.call(STORE, "pgSoupExists", **PEOPLE)
        await loop.run_in_executor(None, t.close)
        with raises("bridge/closed"):
            await task
        self.assertEqual(t._host.loops, {})


class LoopTests(Places, unittest.TestCase):
    def test_ten_thousand_calls_at_once(self):
        t = self.host()

        async def ask():
            return await asyncio.gather(*(t.call(STORE, "pgSoupExists", **PEOPLE) for _ in range(10_000)))

        answers = asyncio.run(ask())
        self.assertEqual((len(answers), set(answers), t._host.library.calls), (10_000, {False}, {}))

    def test_host_serves_one_loop_after_another(self):
        t, open_files = self.host(), []
        for _ in range(5):
            self.assertIs(asyncio.run(t.call(STORE, "pgSoupExists", **PEOPLE)), False)
            open_files.append(len(os.listdir("/proc/self/fd")))
        self.assertEqual(len(set(open_files)), 1, open_files)

    def test_loop_that_ends_cancels_its_calls(self):
        t = self.host()

        async def leave_behind():
            left = asyncio.ensure_future(t.call(STORE, "pgRunSmartQuery", **ENDLESS))
            await t.call(STORE, "pgSoupExists", **PEOPLE)
            return left

        self.assertTrue(asyncio.run(leave_behind()).cancelled())
        self.assertIs(t.run(STORE, "pgSoupExists", BEHIND), False)

    def test_loop_that_is_killed_leaves_the_host_usable(self):
        t, loop = self.host(), asyncio.new_event_loop()
        tasks = [loop.create_task(t.call(STORE, "pgSoupExists", **PEOPLE)),
                 loop.create_task(t.call(STORE, "pgRunSmartQuery", **ENDLESS))]
        loop.call_soon(loop.stop)
        loop.run_forever()
        self.assertEqual(t.pending(), 2)
        loop.close()
        self.assertIs(t.run(STORE, "pgSoupExists", PEOPLE), False)
        self.assertEqual([task.done() for task in tasks], [False, False])
        for task in tasks:
            task._log_destroy_pending = False  # its loop has gone on purpose
            task.get_coro().close()
        self.assertIs(asyncio.run(t.call(STORE, "pgSoupExists", **BEHIND)), False)
        self.assertEqual(t.pending(), 0)

    def test_loops_of_several_threads_share_a_host(self):
        t, results = self.host(), []

        async def ask():
            results.append([await t.call(STORE, "pgSoupExists", **PEOPLE) for _ in range(100)])

        threads = [threading.Thread(target=lambda: asyncio.run(ask())) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, [[False] * 100] * 4)


class SyncTests(Places, unittest.TestCase):
    """With a served sandbox under the same home."""

    @classmethod
    def setUpClass(cls):
        cls.sandbox = Sandbox("--contacts", "3000", "--accounts", "1", tls=False)
        cls.addClassCleanup(cls.sandbox.stop)

    def synced(self):
        t = Tureen({"home": self.sandbox.folder.name, "org": "sandbox"}, LIBRARY, on_exception=self.reported.append)
        self.addCleanup(t.close)
        return t

    def sync(self):
        return {"isGlobalStore": True, "storeName": self.id().split(".")[-1], "soupName": "people", "target": {
            "type": "soql", "query": "SELECT Id, LastName FROM Contact"}}

    def register(self, t):
        sync = self.sync()
        t.run(STORE, "pgRegisterSoup", {
            "isGlobalStore": True, "storeName": sync["storeName"], "soupName": "people", "indexes": INDEXES})
        return sync

    def check(self, result, states, events):
        self.assertEqual((result["status"], result["totalSize"]), ("DONE", 3000))
        self.assertGreaterEqual(len(states), 1)
        self.assertEqual({state["status"] for state in states}, {"RUNNING"})
        self.assertEqual([state["progress"] for state in states], sorted(state["progress"] for state in states))
        self.assertEqual((events[-1]["status"], events[-1]["storeName"]), ("DONE", self.sync()["storeName"]))

    def test_sync_down_tells_its_progress_to_run(self):
        t, states, events = self.synced(), [], []
        sync = self.register(t)
        t.on("sync", events.append)
        result = t.run(SYNC, "syncDown", sync, on_progress=states.append)
        self.check(result, states, events)

    def test_sync_down_tells_its_progress_to_exec(self):
        t, states, events, results = self.synced(), [], [], []
        sync = self.register(t)
        t.on("sync", events.append)
        t.exec(SYNC, "syncDown", sync, on_result=results.append, on_progress=states.append)
        poll_all(t)
        self.check(results[0], states, events)

    def test_sync_down_tells_its_progress_to_call(self):
        t, states, events = self.synced(), [], []
        sync = self.register(t)
        t.on("sync", events.append)
        result = asyncio.run(t.call(SYNC, "syncDown", **sync, on_progress=states.append))
        self.check(result, states, events)

    def test_sync_that_fails_has_its_state(self):
        t = self.synced()
        sync = self.register(t)
        with self.assertRaises(TureenError) as caught:
            t.run(SYNC, "syncDown", {**sync, "target": {"type": "soql", "query": "SELECT Id FROM Missing"}})
        self.assertEqual(caught.exception.details["sync"]["status"], "FAILED")

    def test_example_of_the_guide_works(self):
        page = (ROOT / "bridge-spec/guide/embedding.md").read_text()
        program = re.search(r"^```python\n(.*?)^```$", page, re.S | re.M)[1].replace("/var/lib/kiosk", self.sandbox.folder.name)
        ended = subprocess.run(
            [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, timeout=900,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "scripts"), "PYTHONDONTWRITEBYTECODE": "1",
                 "TUREEN_LIBRARY": str(LIBRARY)})
        self.assertEqual((ended.stderr, ended.returncode), ("", 0))
        self.assertEqual(ended.stdout.splitlines()[-1], "DONE 3000")


if __name__ == "__main__":
    unittest.main()
