"""Datasette, unchanged, as the server of a JSON collection: its table of 10,000 rows is synced, synced again and read without it."""

import json
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from ports import HeldPort
from sandbox import ROOT

COUNT = 10_000

# A table sorted by change: its `next_url` carries the last row's date and id, so rows do not move between its pages.
TARGET = """
local tureen = require "tureen"
local smartstore, mobilesync, await = tureen.smartstore, tureen.mobilesync, tureen.await
local target = {
  type = "rest", connection = "datasette", url = "/shop/items.json", itemsPath = "rows", totalPath = "filtered_table_rows_count",
  params = { _shape = "objects", _size = "max", _sort = "changed" }, modificationDateField = "changed",
  paging = { style = "bodyUrl", nextPath = "next_url", shifts = false },
  incremental = { mode = "param", params = { changed__gte = "{since}" }, overlapMs = 1000, order = "ascending" },
  ghosts = { mode = "fullList", confirm = "read" },
  up = { read = { url = "/shop/items/{id}.json", params = { _shape = "objects" }, itemPath = "rows.0" } },
}
local function report(state)
  print(("%s pages=%d fetched=%d stored=%d"):format(state.status, state.pages, state.fetched, state.stored))
end
local function rows()
  local cursor = assert(await(smartstore.runSmartQuery, smartstore.buildSmartQuerySpec(
    "SELECT {items:_soup} FROM {items}", 20000)))
  for _, row in ipairs(cursor.currentPageOrderedEntries) do
    print(("row %s %s %s"):format(row[1].id, row[1].name, row[1].changed))
  end
end
"""

FIRST = TARGET + """
tureen.main(function()
  assert(await(smartstore.registerSoup, "items", { { path = "id", type = "string" }, { path = "changed", type = "string" } }))
  report(assert(await(mobilesync.syncDown, target, "items", { mergeMode = "OVERWRITE" }, "items")))
  rows()
end)
"""

AGAIN = TARGET + """
tureen.main(function() report(assert(await(mobilesync.reSync, "items"))) rows() end)
"""

GHOSTS = TARGET + """
tureen.main(function() print("removed " .. assert(await(mobilesync.cleanResyncGhosts, "items"))) rows() end)
"""

OFFLINE = TARGET + """
tureen.main(function()
  local _, failure = await(mobilesync.reSync, "items")
  print(failure.domain, failure.code)
  rows()
end)
"""


def stamp(second):
    return f"2026-01-{1 + second // 86400:02d}T{second // 3600 % 24:02d}:{second // 60 % 60:02d}:{second % 60:02d}Z"


class DatasetteTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="tureen-datasette-")
        cls.database = Path(cls.folder.name, "shop.db")
        with sqlite3.connect(cls.database) as database:
            database.execute("CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, changed TEXT)")
            # Seven rows a second, in another order than their ids.
            database.executemany("INSERT INTO items VALUES (?, ?, ?)", (
                (id, f"item {id}", stamp(id * 7919 % COUNT // 7)) for id in range(1, COUNT + 1)))
        cls.held = HeldPort()
        cls.serve()

    @classmethod
    def serve(cls):
        command = [sys.executable, "-m", "datasette", "serve", cls.database, "--port", str(cls.held.number)]
        cls.server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for line in cls.server.stderr:
            if found := re.search(r"running on (http://\S+?:(\d+))", line):
                cls.url = found[1]
                return
        raise RuntimeError("datasette did not start")

    @classmethod
    def stop(cls):
        cls.server.terminate()
        cls.server.wait(timeout=600)
        cls.server.stderr.close()

    @classmethod
    def tearDownClass(cls):
        cls.stop()
        cls.held.close()
        cls.folder.cleanup()

    def change(self, *statements):
        with sqlite3.connect(self.database) as database:
            for statement in statements:
                database.execute(statement)

    def truth(self):
        with sqlite3.connect(self.database) as database:
            return {str(id): (name, changed) for id, name, changed in database.execute("SELECT id, name, changed FROM items")}

    def run_script(self, text, *options):
        """What the script prints: its lines, and the soup's rows by id."""
        folder = Path(self.folder.name)
        Path(folder, "connections.json").write_text(json.dumps({"datasette": {"baseURL": self.url}}))
        script = Path(folder, "script.lua")
        script.write_text(text)
        run = subprocess.run([ROOT / ".build/debug/tureen", "run", "--home", folder / "home", "--quiet", *options, script],
                             capture_output=True, text=True, timeout=900)
        self.assertEqual(run.returncode, 0, run.stderr)
        lines, rows = [], {}
        for line in run.stdout.splitlines():
            if found := re.fullmatch(r"row (\d+) (.*) (\S+)", line):
                self.assertNotIn(found[1], rows)
                rows[found[1]] = (found[2], found[3])
            else:
                lines.append(line)
        return lines, rows

    def test_table_of_ten_thousand_rows(self):
        lines, rows = self.run_script(FIRST)
        self.assertEqual(lines, ["DONE pages=10 fetched=10000 stored=10000"])
        self.assertEqual(rows, self.truth())

        # Nothing has changed: one page, of the last second's rows and those a second before.
        lines, rows = self.run_script(AGAIN)
        self.assertRegex(lines[0], r"^DONE pages=1 fetched=\d\d? stored=0$")

        self.change("UPDATE items SET name = 'other', changed = '2026-02-01T00:00:00Z' WHERE id % 100 = 0",
                    "INSERT INTO items VALUES (20001, 'new', '2026-02-02T00:00:00Z')")
        lines, rows = self.run_script(AGAIN)
        self.assertRegex(lines[0], r"^DONE pages=1 fetched=1\d\d stored=101$")
        self.assertEqual(rows, self.truth())

        self.change("DELETE FROM items WHERE id BETWEEN 50 AND 60")
        lines, rows = self.run_script(GHOSTS)
        self.assertEqual(lines, ["removed 11"])
        self.assertEqual(rows, self.truth())

        self.stop()
        for options in [(), ("--offline",)]:
            lines, rows = self.run_script(OFFLINE, *options)
            self.assertTrue(lines[0].startswith("network\t"), lines)
            self.assertEqual(rows, self.truth())

        # It comes back at the same address, and the sync goes on.
        self.serve()
        self.change("UPDATE items SET name = 'back', changed = '2026-03-01T00:00:00Z' WHERE id = 7")
        lines, rows = self.run_script(AGAIN)
        self.assertEqual(rows, self.truth())


if __name__ == "__main__":
    unittest.main()
