"""What the tests of real services share: the service as a process, a way to it that loses answers, and scripts that sync with it."""

import json
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from sandbox import ROOT

SERVICES = Path(__file__).parent / "services"


def recipe(name):
    """The target of scripts/connections, for the connection of these tests."""
    target = json.loads((ROOT / "scripts/connections" / f"{name}.json").read_text())["target"]
    return {**target, "connection": "service"}


# What every script begins with: one soup, and one line of JSON for each thing that is reported.
PRELUDE = """
local tureen = require "tureen"
local smartstore, mobilesync, await = tureen.smartstore, tureen.mobilesync, tureen.await
local given = tureen.json.decode([==[%s]==])
local target = given.target
local function tell(kind, value) print(kind .. " " .. tureen.json.encode(value)) end
local function entry(id)
  local found = assert(await(smartstore.querySoup, "rows", smartstore.buildExactQuerySpec("id", id, 2)))
  assert(#found.currentPageOrderedEntries == 1, id)
  return found.currentPageOrderedEntries[1]
end
local function save(...) assert(await(smartstore.upsertSoupEntries, "rows", { ... })) end
local function down()
  assert(await(smartstore.registerSoup, "rows", { { path = "id", type = "string" } }))
  local known = await(mobilesync.getSyncStatus, "down")
  local state, failure
  if known ~= tureen.null then state, failure = await(mobilesync.reSync, "down")
  else state, failure = await(mobilesync.syncDown, target, "rows", { mergeMode = given.mergeMode or "LEAVE_IF_CHANGED" }, "down") end
  tell("down", state or failure)
end
local function clean() tell("cleaned", assert(await(mobilesync.cleanResyncGhosts, "down"))) end
local function up(merge_mode)
  local state, failure = await(mobilesync.syncUp, target, "rows", { mergeMode = merge_mode or "MERGE" })
  tell("up", state or failure)
end
tureen.main(function()
%s
local cursor = assert(await(smartstore.querySoup, "rows", smartstore.buildAllQuerySpec("id", "ascending", 2000)))
for _, row in ipairs(cursor.currentPageOrderedEntries) do tell("row", row) end
end)
"""


class Service:
    """A program of `services/`, which prints its address first."""

    def __init__(self, program, *arguments):
        self.errors = tempfile.TemporaryFile(mode="w+")
        self.process = subprocess.Popen([sys.executable, SERVICES / program, *arguments], stdout=subprocess.PIPE, stderr=self.errors,
                                        text=True)
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            self.errors.seek(0)
            raise RuntimeError(f"{program} did not start: {self.errors.read()}")

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=600)
        self.process.stdout.close()
        self.errors.close()


class Way:
    """A proxy in front of a service: it passes everything on, loses the answers it is told to lose, and says when a page passes."""

    def __init__(self, service):
        way, self.target = self, urlsplit(service).netloc
        self.lost, self.passed = [], lambda method, path: None

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments):
                pass

            def handle_one(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                connection = HTTPConnection(way.target, timeout=600)
                # The service builds its URLs from the name that clients know it by.
                headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
                connection.request(self.command, self.path, body or None, headers)
                answer = connection.getresponse()
                content = answer.read()
                connection.close()
                if self.command in way.lost:
                    way.lost.remove(self.command)
                    self.close_connection = True
                    return
                way.passed(self.command, self.path)
                self.send_response_only(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in ("content-length", "connection", "transfer-encoding"):
                        self.send_header(name, value)
                if answer.status != 204:
                    self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_one

        class Server(ThreadingHTTPServer):
            def handle_error(self, request, address):
                """A client that was killed does not wait for its answer."""

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def lose(self, *methods):
        """The service carries the next request of each method out, and the client hears nothing of it."""
        self.lost += methods

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class ServiceCase(unittest.TestCase):
    """Tests of a service that `setUp` of a subclass starts."""

    def serve(self, program, *arguments):
        self.service = Service(program, *arguments)
        self.addCleanup(self.service.stop)
        self.way = Way(self.service.url)
        self.addCleanup(self.way.stop)

    def folder(self):
        folder = tempfile.TemporaryDirectory(prefix="tureen-service-")
        self.addCleanup(folder.cleanup)
        return Path(folder.name)

    def connect(self, base, **settings):
        """A home of its own with a connection `service`."""
        self.home = self.folder()
        settings = {"baseURL": self.way.url + base, "timeoutS": 600, **settings}
        Path(self.home, "connections.json").write_text(json.dumps({"service": settings}))

    def start_script(self, target, body, name="script", **given):
        """Begins to run `body` behind the prelude."""
        script = Path(self.home, name + ".lua")
        script.write_text(PRELUDE % (json.dumps({"target": target, **given}), body))
        return subprocess.Popen([ROOT / ".build/debug/tureen", "run", "--home", self.home / "home", "--quiet", script],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run_script(self, target, body, **given):
        """Runs `body` behind the prelude: what it reported, by kind, and the soup's rows by id."""
        return self.told(self.start_script(target, body, **given))

    def told(self, run):
        """Waits for a script that was started: what it reported, by kind, and the soup's rows by id."""
        output, errors = run.communicate(timeout=900)
        self.assertEqual(run.returncode, 0, output + errors)
        told, rows = {}, {}
        for line in output.splitlines():
            kind, value = line.split(" ", 1)
            value = json.loads(value)
            if kind != "row":
                told.setdefault(kind, []).append(value)
            else:
                self.assertNotIn(value["id"], rows)
                rows[value["id"]] = value
        return told, rows

    def assert_equal_to(self, truth, rows, *members):
        """The soup holds exactly the service's records, and nothing that is still to be sent."""
        self.assertEqual(sorted(rows), sorted(truth))
        for id, row in rows.items():
            self.assertFalse(row.get("__local__", False), row)
            self.assertEqual({member: row.get(member) for member in members}, {member: truth[id].get(member) for member in members})


class TwoWayTests:
    """What holds for every service that is synced both ways; beside ``ServiceCase``, with these members of the subclass:

    `target`; `ids` of the 150 records there are, titled; `create(title)`, `change(id, **fields)`, `delete(id)` and `truth()` at
    the service itself; `assert_in_step(rows)`; `NEW`, a record made here, with places for a number and a title; `made(record)`,
    whether the service holds it as made so; `EDIT`, a member and the value it gets here; `WRITES`, the methods of a create, an
    update and a delete; `DOWN`, how a later run brings everything.
    """

    DOWN = "down()"

    def script(self, body):
        return self.run_script(self.target, body)

    def edits(self, edited, deleted, member, value):
        """Lua that changes one record here and deletes another."""
        return f"""
            local row = entry "{edited}"
            row.{member}, row.__local__, row.__locally_updated__ = {json.dumps(value)}, true, true
            local gone = entry "{deleted}"
            gone.__local__, gone.__locally_deleted__ = true, true
            save(row, gone)
        """

    def change_the_list(self):
        """Ten records changed, seven deleted, five new."""
        for id in self.ids[:10]:
            self.change(id, title="changed there")
        for id in self.ids[10:17]:
            self.delete(id)
        for i in range(5):
            self.create(f"new {i}")

    def test_changes_while_a_list_is_read_are_there_after_one_more_run(self):
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
        told, rows = self.script(self.DOWN)
        self.assertEqual(told["down"][0]["status"], "DONE")
        self.assert_in_step(rows)

    def test_edits_go_up(self):
        edited, deleted = self.ids[3], self.ids[4]
        before = self.truth()[edited]
        told, rows = self.script(f"""
            down()
            save({self.NEW % (1, "first")}, {self.NEW % (2, "second")})
            {self.edits(edited, deleted, "title", "edited here")}
            up() down()
        """)
        self.assertEqual([(state["status"], state["succeeded"]) for state in told["up"]], [("DONE", 4)])
        truth = self.truth()
        self.assertEqual(sorted(record["title"] for record in truth.values() if self.made(record)), ["first", "second"])
        self.assertEqual((truth[edited]["title"], deleted in truth), ("edited here", False))
        member = self.EDIT[0]
        self.assertEqual(truth[edited][member], before[member])
        self.assert_in_step(rows)

    def test_edits_on_both_sides_conflict(self):
        id = self.ids[0]
        self.script("down()")
        self.change(id, title="theirs")
        edit = f'local row = entry "{id}" row.title, row.__local__, row.__locally_updated__ = "ours", true, true save(row)'
        told, rows = self.script(
            edit + ' up "LEAVE_IF_CHANGED" tell("met", #await(mobilesync.getConflicts, { soupName = "rows" }))')
        self.assertEqual((told["up"][0]["conflicting"], told["met"]), (1, [1]))
        self.assertEqual((self.truth()[id]["title"], rows[id]["title"], rows[id]["__local__"]), ("theirs", "ours", True))

        told, rows = self.script('up "OVERWRITE" down()')
        self.assertEqual(self.truth()[id]["title"], "ours")
        self.assert_in_step(rows)

    def test_lost_answers_double_nothing(self):
        self.script("down()")
        (member, value), id, deleted = self.EDIT, self.ids[5], self.ids[6]
        edits = f"save({self.NEW % (1, 'heard of late')}) {self.edits(id, deleted, member, value)}"
        # A run ends with the answer that it does not get.
        for method in self.WRITES:
            self.way.lose(method)
            self.script(edits + "up()")
            self.assertEqual(self.way.lost, [])
            edits = ""
        told, rows = self.script("up() down()")
        self.assertEqual(told["up"][0]["status"], "DONE")
        truth = self.truth()
        self.assertEqual([self.made(record) for record in truth.values() if record["title"] == "heard of late"], [True])
        self.assertEqual((truth[id][member], deleted in truth), (value, False))
        self.assert_in_step(rows)

    def test_killed_behind_each_request_loses_and_doubles_nothing(self):
        self.script("down()")
        (member, value), titles = self.EDIT, [f"new {i}" for i in range(6)]
        self.script(f"save({', '.join(self.NEW % (i, title) for i, title in enumerate(titles))})"
                    + self.edits(self.ids[7], self.ids[8], member, value))
        for step in range(1, 12):
            # The service carries so many requests out, and the process ends before it hears of the last one.
            left = [step]

            def kill(method, path):
                left[0] -= 1
                if left[0] == 0:
                    run.kill()
                    run.wait()

            self.way.passed = kill
            run = self.start_script(self.target, "up()")
            run.communicate(timeout=900)
            self.assertIn(run.returncode, (0, -signal.SIGKILL))
            self.assert_made_once(titles)
        self.way.passed = lambda method, path: None
        told, rows = self.script("up() down()")
        self.assertEqual((told["up"][0]["status"], told["up"][0]["inDoubt"]), ("DONE", 0))
        truth = self.truth()
        self.assertEqual(sorted(record["title"] for record in truth.values() if self.made(record)), titles)
        self.assertEqual((truth[self.ids[7]][member], self.ids[8] in truth), (value, False))
        self.assert_in_step(rows)

    def assert_made_once(self, titles):
        made = sorted(record["title"] for record in self.truth().values() if self.made(record))
        self.assertEqual(made, sorted(set(made) & set(titles)))

    def test_two_processes_at_once_double_nothing(self):
        self.script("down()")
        titles = [f"new {i:02}" for i in range(40)]
        self.script(f"save({', '.join(self.NEW % (i, title) for i, title in enumerate(titles))})")
        runs = [self.start_script(self.target, "up() down()", name) for name in ("one", "other")]
        for run in runs:
            self.told(run)
        told, rows = self.script("up() down()")
        self.assertEqual(told["up"][0]["status"], "DONE")
        self.assertEqual(sorted(record["title"] for record in self.truth().values() if self.made(record)), titles)
        self.assert_in_step(rows)
