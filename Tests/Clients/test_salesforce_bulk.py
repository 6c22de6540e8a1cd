"""Bulk API 1.0 of two clients, unchanged, against the sandbox org: salesforce-bulk over XML and simple-salesforce over JSON."""

import csv
import io
import json
import os
import time
import unittest
from unittest import mock

from salesforce_bulk import CsvDictsAdapter, SalesforceBulk
from salesforce_bulk.salesforce_bulk import BulkApiError, BulkBatchFailed

from sandbox import Sandbox

CONTACTS = 2_150


def setUpModule():
    global sandbox
    sandbox = Sandbox("--contacts", str(CONTACTS), "--accounts", "20")


def tearDownModule():
    sandbox.stop()


class SalesforceBulkTests(unittest.TestCase):
    """The client makes sessions of its own: it trusts the certificate through the environment."""

    @classmethod
    def setUpClass(cls):
        cls.environment = mock.patch.dict(os.environ, {"REQUESTS_CA_BUNDLE": sandbox.authority})
        cls.environment.start()
        cls.sf = sandbox.signed_in()
        cls.bulk = SalesforceBulk(sessionId=cls.sf.session_id, host=sandbox.url, API_version="59.0")

    @classmethod
    def tearDownClass(cls):
        cls.environment.stop()

    def wait(self, job, batch):
        self.bulk.wait_for_batch(job, batch, sleep_interval=0.05)

    def test_query(self):
        soql = "SELECT Id, LastName, Account.Name FROM Contact WHERE Email != null"
        for content in ["CSV", "JSON", "XML"]:
            with self.subTest(content):
                job = self.bulk.create_query_job("Contact", contentType=content)
                batch = self.bulk.query(job, soql)
                self.bulk.close_job(job)
                self.wait(job, batch)
                text = b"".join(result.read() for result in self.bulk.get_all_results_for_query_batch(batch)).decode()
                count = {
                    "CSV": lambda: len(list(csv.DictReader(io.StringIO(text)))),
                    "JSON": lambda: len([record for record in json.loads(text) if record["LastName"]]),
                    "XML": lambda: text.count("<records "),
                }[content]()
                self.assertEqual(count, CONTACTS)
                self.assertEqual(self.bulk.job_state(job), "Closed")

    def test_insert_update_delete(self):
        rows = [{"LastName": f'Bulk "{number}", é', "Email": "a@b.example"} for number in range(250)] + [{"LastName": "", "Email": "x"}]
        job = self.bulk.create_insert_job("Contact", contentType="CSV", concurrency="Parallel")
        batch = self.bulk.post_batch(job, CsvDictsAdapter(iter(rows)))
        self.wait(job, batch)
        self.bulk.close_job(job)
        results = self.bulk.get_batch_results(batch)
        self.assertEqual([result.success for result in results].count("true"), 250)
        self.assertIn("REQUIRED_FIELD_MISSING", results[-1].error)
        status = self.bulk.job_status(job)
        self.assertEqual((status["numberRecordsProcessed"], status["numberRecordsFailed"]), ("251", "1"))
        ids = [result.id for result in results if result.success == "true"]
        job = self.bulk.create_update_job("Contact", contentType="JSON")
        batch = self.bulk.post_batch(job, json.dumps([{"Id": id, "Phone": "1"} for id in ids]).encode())
        self.wait(job, batch)
        self.assertTrue(all(result.success for result in self.bulk.get_batch_results(batch)))
        found = self.sf.query("SELECT COUNT() FROM Contact WHERE Phone = '1'")
        self.assertEqual(found["totalSize"], 250)
        job = self.bulk.create_delete_job("Contact", contentType="CSV")
        batch = self.bulk.post_batch(job, CsvDictsAdapter(iter([{"Id": id} for id in ids])))
        self.wait(job, batch)
        self.assertEqual(self.sf.query("SELECT COUNT() FROM Contact WHERE Phone = '1'")["totalSize"], 0)

    def test_failures(self):
        job = self.bulk.create_insert_job("Contact", contentType="CSV")
        batch = self.bulk.post_batch(job, CsvDictsAdapter(iter([{"LastName": "A", "Nope": "x"}])))
        with self.assertRaises(BulkBatchFailed) as caught:
            self.wait(job, batch)
        self.assertIn("Field name not found : Nope", caught.exception.state_message)
        with self.assertRaises(BulkApiError) as caught:
            self.bulk.create_insert_job("Nope")
        self.assertIn("InvalidEntity", str(caught.exception))
        stranger = SalesforceBulk(sessionId="junk", host=sandbox.url)
        with self.assertRaises(BulkApiError) as caught:
            stranger.create_insert_job("Contact")
        self.assertIn("InvalidSessionId", str(caught.exception))


class SimpleSalesforceBulkTests(unittest.TestCase):
    def setUp(self):
        self.sf = sandbox.signed_in()
        # It waits five seconds between two looks at a batch, and takes no other wish for writes.
        patch = mock.patch("simple_salesforce.bulk.sleep", lambda _: time.sleep(0.02))
        patch.start()
        self.addCleanup(patch.stop)

    def test_write(self):
        made = self.sf.bulk.Account.insert(
            [{"Name": f"Simple {number}", "External_Id__c": f"simple-{number}"} for number in range(30)] + [{}], batch_size=10)
        self.assertEqual([item["success"] for item in made], [True] * 30 + [False])
        self.assertEqual(made[-1]["errors"][0]["statusCode"], "REQUIRED_FIELD_MISSING")
        again = self.sf.bulk.Account.upsert(
            [{"External_Id__c": "simple-0", "Phone": None, "Name": "Changed"}, {"External_Id__c": "simple-new", "Name": "New"}],
            "External_Id__c")
        self.assertEqual([item["created"] for item in again], [False, True])
        rows = self.sf.bulk.Account.query("SELECT Name, NumberOfEmployees FROM Account WHERE External_Id__c LIKE 'simple-%'")
        self.assertEqual(sorted(row["Name"] for row in rows)[:2], ["Changed", "New"])
        ids = [item["id"] for item in made if item["success"]] + [again[1]["id"]]
        gone = self.sf.bulk.Account.delete([{"Id": id} for id in ids])
        self.assertTrue(all(item["success"] for item in gone))

    def test_query_without_rows(self):
        self.assertEqual(self.sf.bulk.Contact.query("SELECT Id FROM Contact WHERE LastName = 'nobody at all'"), [])
