"""simple-salesforce, unchanged, against the sandbox org: what it does with an org, and the exception for each error."""

import base64
import datetime
import time
import unittest
import warnings

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from simple_salesforce import Salesforce, SalesforceLogin
from simple_salesforce.exceptions import (
    SalesforceAuthenticationFailed,
    SalesforceExpiredSession,
    SalesforceGeneralError,
    SalesforceMalformedRequest,
    SalesforceMoreThanOneRecord,
    SalesforceRefusedRequest,
    SalesforceResourceNotFound,
)

from sandbox import VERSION, Sandbox

CONTACTS = 2_150


def setUpModule():
    global sandbox
    sandbox = Sandbox("--contacts", str(CONTACTS), "--accounts", "20")


def tearDownModule():
    sandbox.stop()


def other_key():
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()


class SignInTests(unittest.TestCase):
    def assert_works(self, sf):
        self.assertIn(sf.sf_instance, (sandbox.netloc, "sandbox.my.salesforce.com"))
        self.assertEqual(sf.query("SELECT COUNT() FROM Contact WHERE Email != null")["totalSize"], CONTACTS)
        self.assertEqual(sf.oauth2("userinfo")["preferred_username"], sandbox.username)

    def test_password_over_soap(self):
        self.assert_works(sandbox.signed_in())

    def test_password_with_organization_id(self):
        self.assert_works(Salesforce(
            username=sandbox.username, password=sandbox.password, organizationId="00D000000000001",
            session=sandbox.session()))

    def test_password_with_a_connected_app(self):
        self.assert_works(Salesforce(
            username=sandbox.username, password=sandbox.password, consumer_key=sandbox.client_id,
            consumer_secret=sandbox.client_secret, session=sandbox.session()))

    def test_client_credentials(self):
        self.assert_works(Salesforce(
            consumer_key=sandbox.client_id, consumer_secret=sandbox.client_secret, domain="sandbox.my",
            session=sandbox.session()))

    def test_jwt_bearer(self):
        self.assert_works(Salesforce(
            username=sandbox.username, consumer_key=sandbox.signing_id, privatekey=sandbox.private_key,
            session=sandbox.session()))

    def test_session_id_and_instance_url(self):
        session_id, _ = SalesforceLogin(
            username=sandbox.username, password=sandbox.password, security_token="", session=sandbox.session())
        self.assert_works(Salesforce(session_id=session_id, instance_url=sandbox.url, session=sandbox.session()))
        self.assert_works(Salesforce(session_id=session_id, instance=sandbox.netloc, session=sandbox.session()))

    def test_refusals(self):
        secret = {"consumer_key": sandbox.client_id, "consumer_secret": sandbox.client_secret}
        cases = [
            ("INVALID_LOGIN", {"username": sandbox.username, "password": "wrong", "security_token": ""}),
            ("invalid_grant", {"username": sandbox.username, "password": "wrong", **secret}),
            ("invalid_client", {"username": sandbox.username, "password": sandbox.password,
                                "consumer_key": sandbox.client_id, "consumer_secret": "wrong"}),
            ("invalid_client_id", {"consumer_key": "nobody", "consumer_secret": "x", "domain": "sandbox.my"}),
            ("invalid_grant", {"username": sandbox.username, "consumer_key": sandbox.signing_id, "privatekey": other_key()}),
            ("invalid_grant", {"username": "nobody@example.org", "consumer_key": sandbox.signing_id,
                               "privatekey": sandbox.private_key}),
        ]
        for code, arguments in cases:
            with self.subTest(code=code, keys=list(arguments)), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the client's advice to people
                with self.assertRaises(SalesforceAuthenticationFailed) as caught:
                    Salesforce(session=sandbox.session(), **arguments)
                self.assertEqual(caught.exception.code, code)


class OrgTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sf = sandbox.signed_in()


class ReadingTests(OrgTests):
    def test_describe(self):
        names = [entry["name"] for entry in self.sf.describe()["sobjects"]]
        self.assertIn("Contact", names)
        contact = self.sf.Contact.describe()
        self.assertEqual(contact["keyPrefix"], "003")
        self.assertIn("LastName", [field["name"] for field in contact["fields"]])
        self.assertEqual(self.sf.Contact.metadata()["objectDescribe"]["name"], "Contact")
        self.assertTrue(self.sf.is_sandbox())

    def test_describe_layout(self):
        layouts = self.sf.Contact.describe()["recordTypeInfos"]
        layout = self.sf.Contact.describe_layout(layouts[-1]["recordTypeId"])
        self.assertTrue(layout["detailLayoutSections"])

    def test_limits_and_usage(self):
        self.assertGreater(self.sf.limits()["DailyApiRequests"]["Max"], 0)
        used = self.sf.api_usage["api-usage"]
        self.assertGreater(used.used, 0)
        self.assertEqual(used.total, 15_000)

    def test_query_pages(self):
        soql = "SELECT Id, Name, Account.Name FROM Contact WHERE Email != null ORDER BY Id"
        first = self.sf.query(soql)
        self.assertEqual((first["totalSize"], first["done"], len(first["records"])), (CONTACTS, False, 2_000))
        by_locator = self.sf.query_more(first["nextRecordsUrl"].rsplit("/", 1)[1])
        by_url = self.sf.query_more(first["nextRecordsUrl"], identifier_is_url=True)
        self.assertEqual(by_locator, by_url)
        lazily = [record["Id"] for record in self.sf.query_all_iter(soql)]
        self.assertEqual(len(set(lazily)), CONTACTS)
        self.assertEqual([record["Id"] for record in self.sf.query_all(soql)["records"]], lazily)

    def test_query_page_size_and_shapes(self):
        soql = "SELECT Id, (SELECT LastName FROM Contacts) FROM Account ORDER BY Name LIMIT 5"
        page = self.sf.query("SELECT Id FROM Contact", headers={"Sforce-Query-Options": "batchSize=300"})
        self.assertEqual(len(page["records"]), 300)
        people = sum(record["Contacts"]["totalSize"] for record in self.sf.query(soql)["records"] if record["Contacts"])
        self.assertGreater(people, 5)
        employed = self.sf.query("SELECT COUNT() FROM Contact WHERE AccountId != null")["totalSize"]
        groups = self.sf.query("SELECT AccountId company, COUNT(Id) people FROM Contact WHERE AccountId != null GROUP BY AccountId")
        self.assertEqual(sum(group["people"] for group in groups["records"]), employed)
        self.assertEqual(self.sf.query("SELECT Id FROM Group WHERE Type = 'Queue'")["records"][0]["Id"][:3], "00G")

    def test_search(self):
        created = self.sf.Account.create({"Name": "Quexilbar Works"})
        self.addCleanup(self.sf.Account.delete, created["id"])
        found = self.sf.search("FIND {Quexilbar} IN NAME FIELDS RETURNING Account(Id, Name)")
        self.assertEqual([record["Id"] for record in found["searchRecords"]], [created["id"]])
        self.assertEqual(self.sf.quick_search("Quexilbar")["searchRecords"][0]["Id"], created["id"])
        asked = {"q": "Quexilbar", "sobject": "Account", "Account.fields": "Name"}
        self.assertEqual(self.sf.restful("parameterizedSearch/", params=asked)["searchRecords"][0]["Name"], "Quexilbar Works")
        self.assertEqual(self.sf.search("FIND {Nobodyiscalledthis} RETURNING Account")["searchRecords"], [])

    def test_recent(self):
        created = self.sf.Account.create({"Name": "Looked at"})["id"]
        self.addCleanup(self.sf.Account.delete, created)
        self.assertEqual(self.sf.restful("recent/", params={"limit": 1})[0]["Id"], created)


class WritingTests(OrgTests):
    def test_create_update_delete(self):
        sf = self.sf
        created = sf.Contact.create({"LastName": "Lovelace"})
        self.assertTrue(created["success"])
        self.assertEqual(sf.Contact.update(created["id"], {"FirstName": "Ada"}), 204)
        self.assertEqual(sf.Contact.get(created["id"])["Name"], "Ada Lovelace")
        self.assertEqual(sf.Contact.delete(created["id"]), 204)
        with self.assertRaises(SalesforceResourceNotFound):
            sf.Contact.get(created["id"])
        rows = sf.query(f"SELECT IsDeleted FROM Contact WHERE Id = '{created['id']}'", include_deleted=True)
        self.assertTrue(rows["records"][0]["IsDeleted"])

    def test_upsert_by_external_id(self):
        key = f"External_Id__c/py-{time.time_ns()}"
        self.assertEqual(self.sf.Contact.upsert(key, {"LastName": "One"}), 201)
        self.assertIn(self.sf.Contact.upsert(key, {"LastName": "Two"}), (200, 204))
        found = self.sf.Contact.get_by_custom_id(*key.split("/"))
        self.assertEqual(found["LastName"], "Two")
        self.sf.Contact.delete(found["Id"])

    def test_deleted_and_updated(self):
        start = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(minutes=10)
        end = start + datetime.timedelta(minutes=20)
        kept = self.sf.Account.create({"Name": "Kept"})["id"]
        gone = self.sf.Account.create({"Name": "Gone"})["id"]
        self.sf.Account.delete(gone)
        self.assertIn(kept, self.sf.Account.updated(start, end)["ids"])
        self.assertIn(gone, [record["id"] for record in self.sf.Account.deleted(start, end)["deletedRecords"]])
        self.sf.Account.delete(kept)

    def test_collections(self):
        records = [{"attributes": {"type": "Contact"}, "LastName": name} for name in ("A", "B")]
        records.append({"attributes": {"type": "Contact"}, "FirstName": "no last name"})
        made = self.sf.restful("composite/sobjects", method="POST", json={"allOrNone": False, "records": records})
        self.assertEqual([item["success"] for item in made], [True, True, False])
        self.assertEqual(made[2]["errors"][0]["statusCode"], "REQUIRED_FIELD_MISSING")
        ids = ",".join(item["id"] for item in made[:2])
        changes = [{"attributes": {"type": "Contact"}, "id": item["id"], "Title": "Both"} for item in made[:2]]
        changed = self.sf.restful("composite/sobjects", method="PATCH", json={"allOrNone": True, "records": changes})
        self.assertEqual([item["success"] for item in changed], [True, True])
        read = self.sf.restful("composite/sobjects/Contact", params={"ids": ids, "fields": "Title"})
        self.assertEqual([item["Title"] for item in read], ["Both", "Both"])
        gone = self.sf.restful("composite/sobjects", params={"ids": ids}, method="DELETE")
        self.assertEqual([item["success"] for item in gone], [True, True])

    def test_collection_upsert(self):
        key = f"py-{time.time_ns()}"
        for created in (True, False):
            records = [{"attributes": {"type": "Account"}, "External_Id__c": key, "Name": "Upserted"}]
            done = self.sf.restful(
                "composite/sobjects/Account/External_Id__c", method="PATCH", json={"allOrNone": True, "records": records})
            self.assertEqual((done[0]["success"], done[0]["created"]), (True, created))
        self.sf.Account.delete(done[0]["id"])

    def test_tree_and_batch(self):
        tree = {"records": [{
            "attributes": {"type": "Account", "referenceId": "a"}, "Name": "Tree",
            "Contacts": {"records": [{"attributes": {"type": "Contact", "referenceId": "c"}, "LastName": "Leaf"}]}}]}
        made = self.sf.restful("composite/tree/Account", method="POST", json=tree)
        self.assertEqual((made["hasErrors"], [item["referenceId"] for item in made["results"]]), (False, ["a", "c"]))
        root = f"v{VERSION}/sobjects"
        batch = self.sf.restful("composite/batch", method="POST", json={"batchRequests": [
            {"method": "GET", "url": f"{root}/Account/{made['results'][0]['id']}?fields=Name"},
            {"method": "GET", "url": f"{root}/Account/001000000000999"},
            {"method": "DELETE", "url": f"{root}/Account/{made['results'][0]['id']}"},
        ]})
        self.assertEqual([item["statusCode"] for item in batch["results"]], [200, 404, 204])
        self.assertEqual(batch["results"][0]["result"]["Name"], "Tree")

    def test_attachment(self):
        company = self.sf.Account.create({"Name": "With a file"})["id"]
        self.addCleanup(self.sf.Account.delete, company)
        contents = bytes(range(256)) * 300
        made = self.sf.Attachment.create(
            {"Name": "bytes.bin", "ParentId": company, "Body": base64.b64encode(contents).decode()})
        self.assertEqual(self.sf.Attachment.get_base64(made["id"]), contents)
        self.assertEqual(self.sf.Attachment.get(made["id"])["BodyLength"], len(contents))

    def test_apex_rest(self):
        made = self.sf.apexecute("simpleAccount", method="POST", data={"accountName": "By code"})
        self.assertEqual(self.sf.Account.get(made["accountId"])["Name"], "By code")
        self.sf.Account.delete(made["accountId"])

    def test_composite(self):
        root = f"/services/data/v{VERSION}/sobjects"
        answer = self.sf.restful("composite", method="POST", json={"allOrNone": True, "compositeRequest": [
            {"method": "POST", "url": f"{root}/Account", "referenceId": "company", "body": {"Name": "Composite"}},
            {"method": "POST", "url": f"{root}/Contact", "referenceId": "person",
             "body": {"LastName": "Of It", "AccountId": "@{company.id}"}},
        ]})
        self.assertEqual([item["httpStatusCode"] for item in answer["compositeResponse"]], [201, 201])
        company, person = (item["body"]["id"] for item in answer["compositeResponse"])
        self.assertEqual(self.sf.Contact.get(person)["AccountId"], company)
        self.sf.Account.delete(company)


class ErrorTests(OrgTests):
    def refused(self, exception, call, status, code=None):
        with self.assertRaises(exception) as caught:
            call()
        self.assertEqual(caught.exception.status, status)
        if code:
            self.assertEqual(caught.exception.content[0]["errorCode"], code)

    def test_malformed_request(self):
        sf = self.sf
        for code, call in [
            ("MALFORMED_QUERY", lambda: sf.query("SELECT Id FROM Contact WHERE")),
            ("INVALID_FIELD", lambda: sf.query("SELECT Nothing FROM Contact")),
            ("INVALID_TYPE", lambda: sf.query("SELECT Id FROM Nothing")),
            ("REQUIRED_FIELD_MISSING", lambda: sf.Contact.create({"FirstName": "Ada"})),
            ("JSON_PARSER_ERROR", lambda: sf.Contact.create({"LastName": "A", "Birthdate": "yesterday"})),
            ("INVALID_FIELD", lambda: sf.Contact.create({"LastName": "A", "Nothing": 1})),
            ("STRING_TOO_LONG", lambda: sf.Contact.create({"LastName": "A" * 81})),
            ("MALFORMED_SEARCH", lambda: sf.search("FIND {")),
            ("INVALID_QUERY_LOCATOR", lambda: sf.query_more("0r8000000000999AAA-2000")),
        ]:
            with self.subTest(code=code):
                self.refused(SalesforceMalformedRequest, call, 400, code)

    def test_resource_not_found(self):
        self.refused(SalesforceResourceNotFound, lambda: self.sf.Contact.get("003000000999999"), 404, "NOT_FOUND")
        self.refused(SalesforceResourceNotFound, lambda: self.sf.Nothing__c.describe(), 404, "NOT_FOUND")

    def test_more_than_one_record(self):
        rows = self.sf.UpsertTable__c
        self.refused(SalesforceMoreThanOneRecord, lambda: rows.get_by_custom_id("ExtId__c", "twice"), 300)
        self.refused(SalesforceMoreThanOneRecord, lambda: rows.upsert("ExtId__c/twice", {"Name": "Which?"}), 300)
        self.assertEqual(rows.get_by_custom_id("ExtId__c", "once")["Name"], "Three")

    def test_refused_request(self):
        stranger = Salesforce(session_id="garbage", instance_url=sandbox.url, session=sandbox.session())
        self.refused(SalesforceRefusedRequest, lambda: stranger.oauth2("userinfo"), 403)

    def test_expired_session(self):
        stranger = Salesforce(session_id="garbage", instance_url=sandbox.url, session=sandbox.session())
        self.refused(SalesforceExpiredSession, lambda: stranger.query("SELECT Id FROM User"), 401, "INVALID_SESSION_ID")
        # A session that was good is renewed by the client itself.
        sf = sandbox.signed_in()
        first = sf.session_id
        sf.session.get(f"{sandbox.url}/services/oauth2/revoke", params={"token": first})
        with self.assertRaises(SalesforceExpiredSession):
            stranger.limits()
        self.assertEqual(sf.query("SELECT COUNT() FROM User")["done"], True)
        self.assertNotEqual(sf.session_id, first)

    def test_other_errors(self):
        sf = self.sf
        made = sf.Account.create({"Name": "Changed since"})["id"]
        self.addCleanup(sf.Account.delete, made)
        early = {"If-Unmodified-Since": "Mon, 01 Jan 2001 00:00:00 GMT"}
        for status, call in [
            (405, lambda: sf.restful("limits", method="PATCH", json={})),
            (406, lambda: sf.query("SELECT Id FROM User", headers={"Accept": "application/xml"})),
            (410, lambda: sf.oauth2("../data/v20.0/limits")),
            (412, lambda: sf.Account.update(made, {"Name": "Too late"}, headers=early)),
            (415, lambda: sf.restful("sobjects/Account", method="POST", data="Name=A", headers={"Content-Type": "text/plain"})),
        ]:
            with self.subTest(status=status):
                self.refused(SalesforceGeneralError, call, status)


if __name__ == "__main__":
    unittest.main()
