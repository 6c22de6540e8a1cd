"""aiosalesforce, unchanged, against the sandbox org. It takes addresses of Salesforce's domains alone: its transport leads them here."""

import ssl
import tempfile
import unittest
from pathlib import Path
from urllib.parse import urlsplit

import httpx
from aiosalesforce import Salesforce
from aiosalesforce.auth import ClientCredentialsFlow, JwtBearerFlow, SoapLogin
from aiosalesforce.exceptions import AuthenticationError, NotFoundError, SalesforceError

from sandbox import Sandbox

CONTACTS = 2_150


def setUpModule():
    global sandbox
    sandbox = Sandbox("--contacts", str(CONTACTS), "--accounts", "20")


def tearDownModule():
    sandbox.stop()


class ToTheSandbox(httpx.AsyncHTTPTransport):
    async def handle_async_request(self, request):
        target = urlsplit(sandbox.url)
        request.url = request.url.copy_with(host=target.hostname, port=target.port)
        request.headers["Host"] = sandbox.netloc
        return await super().handle_async_request(request)


class AioSalesforceTests(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        trust = ssl.create_default_context(cafile=sandbox.authority)
        self.http = await self.enterAsyncContext(httpx.AsyncClient(transport=ToTheSandbox(verify=trust), trust_env=False))
        self.sf = self.client(SoapLogin(sandbox.plain_username, sandbox.plain_password, ""))

    def client(self, auth):
        return Salesforce(self.http, "https://sandbox.my.salesforce.com", auth)

    async def count(self, client):
        return len([row async for row in client.query("SELECT Id FROM Contact WHERE Email != null")])

    async def test_sign_in(self):
        self.assertEqual(await self.count(self.sf), CONTACTS)
        self.assertEqual(await self.count(self.client(ClientCredentialsFlow(sandbox.client_id, sandbox.client_secret))), CONTACTS)
        with tempfile.TemporaryDirectory() as folder:
            # Its assertions are good for five minutes, which is more than Salesforce documents and less than it takes.
            key = Path(folder, "key.pem")
            key.write_text(sandbox.private_key)
            self.assertEqual(await self.count(self.client(JwtBearerFlow(sandbox.signing_id, sandbox.username, key))), CONTACTS)
        with self.assertRaises(AuthenticationError) as caught:
            await self.count(self.client(SoapLogin(sandbox.plain_username, "wrong", "")))
        self.assertEqual(caught.exception.error_code, "INVALID_LOGIN")

    async def test_records(self):
        accounts = self.sf.sobject
        id = await accounts.create("Account", {"Name": "Aio", "External_Id__c": "aio"})
        await accounts.update("Account", id, {"Phone": "1"})
        found = await accounts.get("Account", id, fields=["Name", "Phone"])
        self.assertEqual((found["Name"], found["Phone"]), ("Aio", "1"))
        again = await accounts.upsert("Account", "aio", "External_Id__c", {"Phone": "2"})
        self.assertEqual((again.id, again.created), (id, False))
        with self.assertRaises(SalesforceError) as caught:
            await accounts.update("Account", id, {"NumberOfEmployees": "many"})
        self.assertEqual(caught.exception.error_code, "JSON_PARSER_ERROR")
        self.assertRegex(str(caught.exception), r"at \[line:1, column:\d+\]")
        await accounts.delete("Account", id)
        with self.assertRaises(NotFoundError):
            await accounts.get("Account", id)
        self.assertLess((await self.sf.get_limits())["DailyApiRequests"]["Remaining"], 15_000)

    async def test_composite(self):
        async with self.sf.composite(all_or_none=True, autoraise=True) as call:
            account = call.sobject.create("Account", {"Name": "Aio composite"})
            contact = call.sobject.create("Contact", {"LastName": "Child", "AccountId": str(account.reference.id)})
            query = call.query(f"SELECT Name, (SELECT LastName FROM Contacts) FROM Account WHERE Id = '{account.reference.id}'")
        self.assertEqual(query.records[0]["Contacts"]["records"][0]["LastName"], "Child")
        async with self.sf.composite.batch() as call:
            gone = [call.sobject.delete(type, id) for type, id in [("Contact", contact.id), ("Account", account.id)]]
            refused = call.sobject.delete("Account", "001000000000000AAA")
        self.assertEqual([item.is_success for item in gone + [refused]], [True, True, False])

    async def test_bulk(self):
        rows = [{"LastName": f"Aio bulk {number}"} for number in range(60)] + [{"LastName": "x", "Email": "nowhere"}]
        results = [result async for result in self.sf.bulk_v2.ingest.perform_operation("insert", "Contact", rows, polling_interval=0.05)]
        self.assertEqual((len(results[0].successful_results), len(results[0].failed_results)), (60, 1))
        self.assertEqual(results[0].job_info.state, "JobComplete")
        ids = [{"Id": row["sf__Id"]} for row in results[0].successful_results]
        gone = [result async for result in self.sf.bulk_v2.ingest.perform_operation("delete", "Contact", ids, polling_interval=0.05)]
        self.assertEqual(len(gone[0].successful_results), 60)
