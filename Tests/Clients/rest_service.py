"""What the tests of real services share: the service as a process, a way to it that loses answers, and scripts that sync with it."""

import json
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
        self.process.wait(timeout=30)
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
                connection = HTTPConnection(way.target, timeout=60)
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

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
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
        settings = {"baseURL": self.way.url + base, "timeoutS": 20, **settings}
        Path(self.home, "connections.json").write_text(json.dumps({"service": settings}))

    def run_script(self, target, body, **given):
        """Runs `body` behind the prelude: what it reported, by kind, and the soup's rows by id."""
        script = Path(self.home, "script.lua")
        script.write_text(PRELUDE % (json.dumps({"target": target, **given}), body))
        run = subprocess.run([ROOT / ".build/debug/tureen", "run", "--home", self.home / "home", "--quiet", script],
                             capture_output=True, text=True, timeout=180)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        told, rows = {}, {}
        for line in run.stdout.splitlines():
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
