"""A home with a story, for the inspector's tests and pictures: an org, a JSON collection and a Parse server; edits, conflicts,
refusals, a lost answer and failed runs."""

import json
import os
import subprocess
from pathlib import Path

SYNCS = {"syncs": [
    {"syncName": "contactsDown", "syncType": "syncDown", "soupName": "contacts", "target": {
        "type": "soql", "query": "SELECT Id, FirstName, LastName, Title, Email, Phone, LastModifiedDate FROM Contact "
        "ORDER BY LastModifiedDate"}, "options": {"mergeMode": "MERGE"}},
    {"syncName": "contactsUp", "syncType": "syncUp", "soupName": "contacts", "target": {},
     "options": {"fieldlist": ["FirstName", "LastName", "Title", "Email"], "mergeMode": "MERGE"}},
    {"syncName": "accountsDown", "syncType": "syncDown", "soupName": "accounts", "target": {
        "type": "soql", "query": "SELECT Id, Name, Phone, Industry, LastModifiedDate FROM Account ORDER BY LastModifiedDate"},
     "options": {"mergeMode": "LEAVE_IF_CHANGED"}},
    {"syncName": "accountsUp", "syncType": "syncUp", "soupName": "accounts", "target": {},
     "options": {"fieldlist": ["Name", "Phone", "Industry"], "mergeMode": "LEAVE_IF_CHANGED"}},
]}
TICKETS = {
    "type": "rest", "connection": "tickets", "url": "/repos/{+repo}/issues", "vars": {"repo": "acme/mellow-anchor-1"},
    "params": {"per_page": "100", "state": "all"}, "paging": {"style": "link"}, "modificationDateField": "updated_at",
    "where": [{"path": "pull_request", "exists": False}],
    "up": {
        "read": {"url": "/repos/{+repo}/issues/{number}"},
        "create": {"url": "/repos/{+repo}/issues", "fields": ["title", "body"]},
        "update": {"url": "/repos/{+repo}/issues/{number}", "fields": ["title", "body", "state"]},
    },
}
BOOKS = {"type": "parse", "connection": "library", "className": "Book", "keys": ["title", "year"]}
SOUPS = {
    "contacts": ["Id", "LastName", "__local__"], "accounts": ["Id", "Name", "__local__"], "tickets": ["id", "title", "__local__"],
    "books": ["objectId", "title"],
}

EDITS = """
local tureen = require "tureen"
local smartstore, mobilesync, await = tureen.smartstore, tureen.mobilesync, tureen.await
local sandbox = require "tureen.sandbox"
tureen.main(function()
  local all = assert(await(smartstore.querySoup, "contacts",
    smartstore.buildAllQuerySpec("_soupEntryId", "ascending", 40))).currentPageOrderedEntries
  local function edit(i, changes) assert(await(mobilesync.markUpdated, "contacts", all[i], changes)) end
  local function there(i, changes) assert(await(sandbox.update, "Contact", all[i].Id, changes)) end
  edit(3, { Title = "Head of Surgery", Phone = "+44 20 7946 0018" })
  there(3, { Title = "Chief Surgeon" })
  edit(5, { Email = "not an address" })
  for i = 8, 12 do
    edit(i, { Title = "Regional Lead" })
    there(i, { Title = "Vice President" })
  end
  edit(14, { Title = "Gone" })
  assert(await(sandbox.delete, "Contact", all[14].Id))
  assert(await(mobilesync.markDeleted, "contacts", all[15]))
  there(15, { Title = "Kept" })
  edit(16, { LastName = "" })
  edit(18, { Phone = "1" })
  local some = assert(await(smartstore.retrieveSoupEntries, "accounts", { 1, 2 }))
  assert(await(mobilesync.markUpdated, "accounts", some[1], { Phone = "+49 30 1234" }))
  assert(await(sandbox.update, "Account", some[1].Id, { Phone = "+49 30 9999" }))
  local tickets = assert(await(smartstore.querySoup, "tickets",
    smartstore.buildAllQuerySpec("_soupEntryId", "ascending", 5))).currentPageOrderedEntries
  tickets[2].title, tickets[2].__local__, tickets[2].__locally_updated__ = tickets[2].title .. ", reproduced", true, true
  assert(await(smartstore.upsertSoupEntries, "tickets", { tickets[2] }))
end)
"""
LATE = """
local tureen = require "tureen"
local smartstore, mobilesync, await = tureen.smartstore, tureen.mobilesync, tureen.await
tureen.main(function()
  local all = assert(await(smartstore.querySoup, "contacts",
    smartstore.buildAllQuerySpec("_soupEntryId", "ascending", 40))).currentPageOrderedEntries
  for i = 20, 24 do
    assert(await(mobilesync.markUpdated, "contacts", all[i], { Title = "Member of the Board" }))
  end
  assert(await(mobilesync.newRecord, "contacts", "Contact", { FirstName = "Tom\\u{e1}s", LastName = "Lindqvist", Title = "Nurse" }))
end)
"""
LOST = """
local tureen = require "tureen"
local smartstore, await = tureen.smartstore, tureen.await
tureen.main(function()
  assert(await(smartstore.upsertSoupEntries, "tickets", {
    { id = "local_1", title = "The door on level 2 does not close", __local__ = true, __locally_created__ = true } }))
end)
"""


class Story:
    """A served sandbox and a home that syncs with it; `close()` ends the sandbox."""

    def __init__(self, folder, tureen):
        self.folder, self.tureen = Path(folder), str(tureen)
        self.home = str(self.folder / "home")
        self.project = self.folder / "project"
        self.project.mkdir(parents=True, exist_ok=True)
        self._serve()
        self._configure()

    def _serve(self):
        self.sandbox = subprocess.Popen(
            [self.tureen, "sandbox", "--home", self.home, "--contacts", "480", "--accounts", "60"], stdout=subprocess.PIPE, text=True)
        said = {}
        for line in self.sandbox.stdout:
            words = line.split()
            if line.startswith("Sandbox org at "):
                self.url = words[-1]
            elif line.startswith("  control token"):
                self.control_token = words[-1]
            elif line.startswith("Forge "):
                said["forge"] = words[-1]
            elif line.startswith("  token of ada"):
                said["ada"] = words[-1]
            elif line.startswith("Parse server at "):
                said["parse"] = words[-1]
            elif line.startswith("  application id"):
                said["application"] = words[-1]
            elif line.startswith("  REST API key"):
                said["rest"] = words[-1]
            elif line.startswith("Ctrl-C"):
                break
        self.environment = {**os.environ, "STORY_TICKETS": said["ada"], "STORY_LIBRARY": said["rest"]}
        self.servers = said

    def _configure(self):
        def put(name, value):
            (self.project / name).write_text(json.dumps(value))
        put("userstore.json", {"soups": [
            {"soupName": name, "indexes": [{"path": path, "type": "string"} for path in paths]} for name, paths in SOUPS.items()]})
        put("connections.json", {
            "tickets": {"baseURL": self.servers["forge"], "auth": {"type": "bearer", "token": {"env": "STORY_TICKETS"}}},
            "library": {"kind": "parse", "serverURL": self.servers["parse"], "applicationId": self.servers["application"],
                        "restAPIKey": {"env": "STORY_LIBRARY"}}})
        put("usersyncs.json", {"syncs": SYNCS["syncs"] + [
            {"syncName": "ticketsDown", "syncType": "syncDown", "soupName": "tickets", "target": TICKETS,
             "options": {"mergeMode": "MERGE"}},
            {"syncName": "ticketsUp", "syncType": "syncUp", "soupName": "tickets", "target": TICKETS,
             "options": {"mergeMode": "MERGE"}},
            {"syncName": "booksDown", "syncType": "syncDown", "soupName": "books", "target": BOOKS,
             "options": {"mergeMode": "LEAVE_IF_CHANGED"}}]})

    def run(self, *words, statuses=(0, 2)):
        ended = subprocess.run(
            [self.tureen, words[0], "--home", self.home, "--config", str(self.project), *words[1:]], cwd=self.folder,
            env=self.environment, capture_output=True, text=True, check=False)
        assert ended.returncode in statuses, f"{words}: {ended.returncode} {ended.stdout} {ended.stderr}"
        return ended.stdout

    def script(self, name, text):
        path = self.project / name
        path.write_text(text)
        ended = subprocess.run(
            [self.tureen, "run", "--home", self.home, str(path)], cwd=self.project, env=self.environment, capture_output=True,
            text=True, check=False)
        assert ended.returncode == 0, f"{name}: {ended.stdout} {ended.stderr}"

    def fault(self, **rule):
        rule["times"] = rule.get("times", 1)
        self.script("fault.lua", f"""
local tureen = require "tureen"
tureen.main(function() assert(tureen.await(tureen.sandbox.addFault, tureen.json.decode [==[{json.dumps(rule)}]==])) end)
""")

    def tell(self):
        """Everything that happens."""
        self.run("sync", "--quiet", "contactsDown", "accountsDown", "ticketsDown", "booksDown")
        self.script("edits.lua", EDITS)
        self.run("sync", "--quiet", "contactsUp", "accountsUp", "ticketsUp")
        self.run("sync", "--quiet", "contactsDown")
        self.script("desk.lua", LOST)
        self.fault(kind="dropBeforeResponse", method="POST", path="**/issues", times=20)
        self.run("sync", "--quiet", "ticketsUp", statuses=(0, 1, 2, 75))
        self.fault(kind="lockedClass", className="Book", times=20)
        self.run("sync", "--quiet", "booksDown", statuses=(1, 75))
        self.script("board.lua", LATE)
        return self

    def close(self):
        self.sandbox.terminate()
        self.sandbox.wait(timeout=600)
        self.sandbox.stdout.close()
