"""simple-salesforce and requests, unchanged, against Apex REST that a Lua file answers: `tureen sandbox --apex`."""

import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from simple_salesforce.exceptions import SalesforceGeneralError, SalesforceResourceNotFound

from sandbox import Sandbox

VISITS = """
local apex = ...

apex.post("/visits/:name", function(request, org)
  local visit = request:json()
  local id = org.create("Account", { Name = request.parameters.name, Site = visit.site })
  if visit.site == "nowhere" then error("no such site") end
  return 201, { id = id, site = visit.site }, { ["X-Visit"] = request.parameters.name }
end)

apex.get("/visits", function(request, org)
  local found = {}
  local rows = org.query("SELECT Name FROM Account WHERE Site = " .. apex.quote(request.query.site) .. " ORDER BY Name")
  for i, row in ipairs(rows) do found[i] = row.Name end
  return { names = found }
end)

apex.get("/visits/:name", function(request) apex.error(404, "NOT_FOUND", "no visit to " .. request.parameters.name) end)

apex.put("/picture", function(request) return 200, request.body, { ["Content-Type"] = "application/octet-stream" } end)

apex.post("/forever", function() while true do end end)
"""


def setUpModule():
    global sandbox, folder
    folder = tempfile.TemporaryDirectory(prefix="tureen-apex-")
    file = Path(folder.name, "visits.lua")
    file.write_text(VISITS)
    sandbox = Sandbox("--contacts", "1", "--accounts", "1", "--apex", str(file))


def tearDownModule():
    sandbox.stop()
    folder.cleanup()


class ApexRestTests(unittest.TestCase):
    def setUp(self):
        self.sf = sandbox.signed_in()

    def visit(self, name, site):
        return self.sf.apexecute(f"visits/{name}", method="POST", data={"site": site})

    def test_records_of_a_handler_are_the_orgs(self):
        made = self.visit("Oslo", "north")
        self.assertEqual(self.sf.Account.get(made["id"])["Site"], "north")
        self.sf.Account.create({"Name": "Bergen", "Site": "north"})
        self.assertEqual(self.sf.apexecute("visits", params={"site": "north"}), {"names": ["Bergen", "Oslo"]})

    def test_error_of_a_handler_takes_back_what_it_wrote(self):
        with self.assertRaises(SalesforceGeneralError) as caught:
            self.visit("Atlantis", "nowhere")
        self.assertEqual(caught.exception.status, 500)
        self.assertEqual(caught.exception.content[0]["errorCode"], "APEX_ERROR")
        self.assertIn("visits.lua:7: no such site", caught.exception.content[0]["message"])
        self.assertEqual(self.sf.query("SELECT COUNT() FROM Account WHERE Name = 'Atlantis'")["totalSize"], 0)

    def test_error_of_its_own_choice(self):
        with self.assertRaises(SalesforceResourceNotFound) as caught:
            self.sf.apexecute("visits/Thule")
        self.assertEqual(caught.exception.content, [{"errorCode": "NOT_FOUND", "message": "no visit to Thule"}])

    def test_bytes_and_headers(self):
        headers = {"Authorization": f"Bearer {self.sf.session_id}"}
        contents = bytes(range(256)) * 300
        url = f"{sandbox.url}/services/apexrest"
        answer = sandbox.session().put(f"{url}/picture", data=contents, headers=headers)
        self.assertEqual((answer.status_code, answer.content), (200, contents))
        self.assertEqual(answer.headers["Content-Type"], "application/octet-stream")
        made = sandbox.session().post(f"{url}/visits/Kiruna", json={"site": "far north"}, headers=headers)
        self.assertEqual((made.status_code, made.headers["X-Visit"]), (201, "Kiruna"))

    def test_handler_without_end_and_others_meanwhile(self):
        with ThreadPoolExecutor(4) as pool:
            endless = pool.submit(self.sf.apexecute, "forever", method="POST")
            others = [pool.submit(self.visit, f"Meanwhile {number}", "queue") for number in range(3)]
            with self.assertRaises(SalesforceGeneralError) as caught:
                endless.result(timeout=600)
            for other in others:
                self.assertEqual(other.result(timeout=600)["site"], "queue")
        self.assertEqual(
            caught.exception.content,
            [{"errorCode": "APEX_ERROR", "message": "System.LimitException: Apex CPU time limit exceeded"}])


if __name__ == "__main__":
    unittest.main()
