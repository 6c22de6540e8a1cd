"""simple-salesforce's Bulk API 2.0, unchanged, against the sandbox org."""

import tempfile
import time
import unittest
from pathlib import Path

from simple_salesforce import Salesforce
from simple_salesforce.exceptions import (
    SalesforceBulkV2LoadError,
    SalesforceExpiredSession,
    SalesforceMalformedRequest,
    SalesforceOperationError,
    SalesforceResourceNotFound,
)

from sandbox import Sandbox

CONTACTS = 2_150


def setUpModule():
    global sandbox
    sandbox = Sandbox("--contacts", str(CONTACTS), "--accounts", "20")


def tearDownModule():
    sandbox.stop()


class BulkTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sf = sandbox.signed_in()

    def test_query(self):
        pages = list(self.sf.bulk2.Contact.query("SELECT Id, Name FROM Contact WHERE Email != null", max_records=1_000, wait=0))
        self.assertEqual(len(pages), 3)
        self.assertEqual(sum(len(page.splitlines()) - 1 for page in pages), CONTACTS)
        with tempfile.TemporaryDirectory() as folder:
            files = self.sf.bulk2.Account.download("SELECT Name FROM Account ORDER BY Name", folder, wait=0)
            lines = Path(files[0]["file"]).read_text().splitlines()
        self.assertEqual((len(files), len(lines), lines[0]), (1, 21, '"Name"'))

    def test_ingest(self):
        bulk = self.sf.bulk2.Contact
        rows = [{"LastName": f"Bulk, \"{number}\""} for number in range(50)] + [{"LastName": ""}]
        done = bulk.insert(records=rows, wait=0)[0]
        self.assertEqual((done["numberRecordsProcessed"], done["numberRecordsFailed"]), (51, 1))
        self.assertIn("REQUIRED_FIELD_MISSING", bulk.get_failed_records(done["job_id"]))
        self.assertEqual(len(bulk.get_successful_records(done["job_id"]).splitlines()), 51)
        ids = [record["Id"] for record in self.sf.query_all("SELECT Id FROM Contact WHERE LastName LIKE 'Bulk, %'")["records"]]
        self.assertEqual(len(ids), 50)
        changed = bulk.update(records=[{"Id": record, "FirstName": "Changed"} for record in ids], wait=0)[0]
        self.assertEqual(changed["numberRecordsFailed"], 0)
        self.assertEqual(self.sf.query("SELECT COUNT() FROM Contact WHERE FirstName = 'Changed'")["totalSize"], 50)
        gone = bulk.delete(records=[{"Id": record} for record in ids], wait=0)[0]
        self.assertEqual((gone["numberRecordsProcessed"], gone["numberRecordsFailed"]), (50, 0))

    def test_upsert(self):
        key = f"bulk-{time.time_ns()}"
        for name in ("First", "Second"):
            done = self.sf.bulk2.Contact.upsert(
                records=[{"External_Id__c": key, "LastName": name}], external_id_field="External_Id__c", wait=0)[0]
            self.assertEqual(done["numberRecordsFailed"], 0)
        self.assertEqual(self.sf.Contact.get_by_custom_id("External_Id__c", key)["LastName"], "Second")

    def test_deleted_rows(self):
        bulk = self.sf.bulk2.UpsertTable__c
        done = bulk.insert(records=[{"Name": name, "ExtId__c": "gone"} for name in ("A", "B")], wait=0)[0]
        ids = [line.split(",")[0].strip('"') for line in bulk.get_successful_records(done["job_id"]).splitlines()[1:]]
        self.sf.UpsertTable__c.delete(ids[0])
        again = bulk.delete(records=[{"Id": record} for record in ids], wait=0)[0]
        self.assertEqual((again["numberRecordsProcessed"], again["numberRecordsFailed"]), (2, 1))
        self.assertIn("ENTITY_IS_DELETED", bulk.get_failed_records(again["job_id"]))
        soql = "SELECT Id FROM UpsertTable__c WHERE ExtId__c = 'gone'"
        self.assertEqual(len("".join(bulk.query_all(soql, wait=0)).splitlines()), 3)
        self.assertEqual(len("".join(bulk.query(soql, wait=0)).splitlines()), 1)

    def test_several_jobs_at_once(self):
        rows = [{"Name": f"Batch {number}", "ExtId__c": "many"} for number in range(900)]
        jobs = self.sf.bulk2.UpsertTable__c.insert(records=rows, batch_size=300, concurrency=3, wait=0)
        self.assertEqual([job["numberRecordsProcessed"] for job in jobs], [300, 300, 300])
        self.assertEqual(self.sf.query("SELECT COUNT() FROM UpsertTable__c WHERE ExtId__c = 'many'")["totalSize"], 900)

    def test_refusals(self):
        bulk = self.sf.bulk2
        stranger = Salesforce(session_id="garbage", instance_url=sandbox.url, session=sandbox.session())
        for exception, call in [
            (SalesforceMalformedRequest, lambda: list(bulk.Contact.query("SELECT Nothing FROM Contact", wait=0))),
            (SalesforceMalformedRequest, lambda: list(bulk.Contact.query("SELEC Id", wait=0))),
            (SalesforceMalformedRequest, lambda: bulk.Nothing__c.insert(records=[{"Name": "A"}], wait=0)),
            (SalesforceOperationError, lambda: bulk.Contact.insert(records=[{"Nothing": "A"}], wait=0)),
            (SalesforceBulkV2LoadError, lambda: bulk.Contact.delete(records=[{"Id": "x", "LastName": "A"}], wait=0)),
            (SalesforceResourceNotFound, lambda: bulk.Contact.get_failed_records("750000000000999AAA")),
            (SalesforceExpiredSession, lambda: stranger.bulk2.Contact.insert(records=[{"LastName": "A"}], wait=0)),
        ]:
            with self.subTest(exception=exception.__name__), self.assertRaises(exception):
                call()


if __name__ == "__main__":
    unittest.main()
