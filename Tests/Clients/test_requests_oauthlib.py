"""requests-oauthlib, unchanged, against the sandbox org: web server flow with PKCE, refresh, revocation, client credentials."""

import unittest

from oauthlib.oauth2 import BackendApplicationClient, InvalidGrantError, LegacyApplicationClient
from requests_oauthlib import OAuth2Session

from browser import Person
from sandbox import Sandbox

# oauthlib wants https wherever a code passes.
REDIRECT = "https://app.example.org/back"
CLIENTS = [
    {"id": "public", "redirectURIs": [REDIRECT], "requiresPKCE": True, "rotatesRefreshTokens": True},
    {"id": "confidential", "secret": "s+c/r%t", "requiresSecret": True, "redirectURIs": [REDIRECT], "scopes": ["api", "refresh_token"]},
]


def setUpModule():
    global sandbox
    sandbox = Sandbox("--contacts", "3", "--accounts", "1", clients=CLIENTS)


def tearDownModule():
    sandbox.stop()


class RequestsOAuthlibTests(unittest.TestCase):
    def setUp(self):
        self.base = f"{sandbox.url}/services/oauth2"

    def trusting(self, client):
        client.verify, client.trust_env = sandbox.authority, False
        return client

    def signed_in(self, client, **secret):
        url, _ = client.authorization_url(f"{self.base}/authorize", prompt="login")
        return client.fetch_token(f"{self.base}/token", authorization_response=Person(sandbox).sign_in(url), **secret)

    def assert_works(self, client):
        answer = client.get(f"{sandbox.url}/services/data/v60.0/query", params={"q": "SELECT COUNT() FROM Contact"})
        self.assertEqual((answer.status_code, answer.json().get("totalSize")), (200, 3))

    def revoke(self, client, token):
        url, headers, body = client._client.prepare_token_revocation_request(
            f"{self.base}/revoke", token, token_type_hint="refresh_token")
        return client.post(url, headers=headers, data=body, withhold_token=True)

    def test_requests_oauthlib_pkce_refresh_and_two_revocations(self):
        client = self.trusting(OAuth2Session("public", redirect_uri=REDIRECT, scope=["api", "refresh_token"], pkce="S256"))
        first = dict(self.signed_in(client))  # a public client: Basic with an empty secret
        self.assert_works(client)
        second = dict(client.refresh_token(f"{self.base}/token", client_id="public"))
        self.assertNotEqual(second["refresh_token"], first["refresh_token"])
        self.assert_works(client)
        self.assertEqual([self.revoke(client, second["refresh_token"]).status_code for _ in range(2)], [200, 400])
        with self.assertRaises(InvalidGrantError):
            client.refresh_token(f"{self.base}/token", client_id="public")

    def test_requests_oauthlib_secret_in_basic_or_form_or_both(self):
        for extra in ({}, {"include_client_id": True}, {"include_client_id": True, "auth": ("confidential", "s+c/r%t")}):
            with self.subTest(extra=list(extra)):
                client = self.trusting(OAuth2Session("confidential", redirect_uri=REDIRECT, scope=["api", "refresh_token"]))
                token = self.signed_in(client, client_secret="s+c/r%t", **extra)
                again = client.refresh_token(f"{self.base}/token", auth=("confidential", "s+c/r%t"))
                self.assertNotEqual(again["access_token"], token["access_token"])
                self.assertEqual(again["refresh_token"], token["refresh_token"])
                self.assert_works(client)

    def test_requests_oauthlib_client_credentials_and_password(self):
        robot = self.trusting(OAuth2Session(client=BackendApplicationClient(client_id=sandbox.client_id)))
        robot.fetch_token(f"{self.base}/token", client_secret=sandbox.client_secret)
        self.assert_works(robot)
        person = self.trusting(OAuth2Session(client=LegacyApplicationClient(client_id=sandbox.client_id)))
        person.fetch_token(
            f"{self.base}/token", username=sandbox.username, password=sandbox.password, client_secret=sandbox.client_secret)
        self.assert_works(person)
        with self.assertRaises(InvalidGrantError):
            person.fetch_token(
                f"{self.base}/token", username=sandbox.username, password="wrong", client_secret=sandbox.client_secret)


if __name__ == "__main__":
    unittest.main()
