"""Authlib, unchanged, against the sandbox org: web server flow with PKCE, rotation, revocation, and assertions."""

import unittest
from urllib.parse import parse_qs, urlsplit

from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import AssertionSession, OAuth2Session
from authlib.common.security import generate_token

from browser import Person
from sandbox import Sandbox

REDIRECT = "http://localhost:1717/OauthRedirect"
CLIENTS = [
    {"id": "public", "redirectURIs": [REDIRECT], "requiresPKCE": True, "rotatesRefreshTokens": True},
    {"id": "confidential", "secret": "s+c/r%t", "requiresSecret": True, "redirectURIs": [REDIRECT], "requiresPKCE": True},
]


def setUpModule():
    global sandbox
    sandbox = Sandbox("--contacts", "3", "--accounts", "1", clients=CLIENTS)


def tearDownModule():
    sandbox.stop()


class AuthlibTests(unittest.TestCase):
    def setUp(self):
        self.base = f"{sandbox.url}/services/oauth2"

    def client(self, client_id, secret=None):
        client = OAuth2Session(
            client_id, secret, redirect_uri=REDIRECT, code_challenge_method="S256",
            token_endpoint_auth_method=None if secret else "none", scope="api refresh_token")
        client.verify, client.trust_env = sandbox.authority, False
        return client

    def signed_in(self, client):
        verifier = generate_token(48)
        url, state = client.create_authorization_url(f"{self.base}/authorize", code_verifier=verifier)
        back = Person(sandbox).sign_in(url)
        self.assertTrue(back.startswith(REDIRECT + "?code="))
        return client.fetch_token(f"{self.base}/token", authorization_response=back, state=state, code_verifier=verifier)

    def assert_works(self, client):
        answer = client.get(f"{sandbox.url}/services/data/v60.0/query", params={"q": "SELECT COUNT() FROM Contact"})
        self.assertEqual((answer.status_code, answer.json().get("totalSize")), (200, 3))

    def test_authlib_pkce_rotation_and_two_revocations(self):
        client = self.client("public")
        first = dict(self.signed_in(client))
        self.assertEqual(first["scope"], "api refresh_token")
        self.assert_works(client)
        second = dict(client.refresh_token(f"{self.base}/token", refresh_token=first["refresh_token"]))
        self.assertNotEqual(second["refresh_token"], first["refresh_token"])
        self.assert_works(client)
        revoked = [client.revoke_token(f"{self.base}/revoke", token=second["refresh_token"], token_type_hint="refresh_token")
                   for _ in range(2)]
        self.assertEqual([answer.status_code for answer in revoked], [200, 400])
        with self.assertRaises(OAuthError) as caught:
            client.refresh_token(f"{self.base}/token", refresh_token=second["refresh_token"])
        self.assertEqual(caught.exception.error, "invalid_grant")

    def test_authlib_reused_refresh_token_ends_the_line(self):
        client = self.client("public")
        old = self.signed_in(client)["refresh_token"]
        new = client.refresh_token(f"{self.base}/token", refresh_token=old)["refresh_token"]
        for token in (old, new):
            with self.assertRaises(OAuthError) as caught:
                client.refresh_token(f"{self.base}/token", refresh_token=token)
            self.assertEqual((caught.exception.error, caught.exception.description),
                             ("invalid_grant", "expired access/refresh token"))

    def test_authlib_confidential_client_by_basic_and_form(self):
        for method in ("client_secret_basic", "client_secret_post"):
            with self.subTest(method=method):
                client = self.client("confidential", "s+c/r%t")
                client.token_endpoint_auth_method = method
                token = self.signed_in(client)
                again = client.refresh_token(f"{self.base}/token", refresh_token=token["refresh_token"])
                self.assertNotEqual(again["access_token"], token["access_token"])
                self.assert_works(client)
                state = client.introspect_token(f"{self.base}/introspect", token=again["access_token"])
                self.assertEqual((state.json()["active"], state.json()["username"]), (True, sandbox.username))

    def test_authlib_person_denies(self):
        client = self.client("public")
        url, state = client.create_authorization_url(f"{self.base}/authorize", code_verifier=generate_token(48))
        person = Person(sandbox, sandbox.plain_username, sandbox.plain_password)
        back = person.sign_in(url, press="deny")
        answer = parse_qs(urlsplit(back).query)
        self.assertEqual((answer["error"], answer["state"]), (["access_denied"], [state]))
        # Without a code Authlib asks for client credentials all the same, and a public app has none.
        with self.assertRaises(OAuthError) as caught:
            client.fetch_token(f"{self.base}/token", authorization_response=back, state=state)
        self.assertEqual(caught.exception.error, "invalid_client")

    def test_authlib_client_credentials(self):
        client = OAuth2Session(sandbox.client_id, sandbox.client_secret)
        client.verify, client.trust_env = sandbox.authority, False
        token = client.fetch_token(f"{self.base}/token", grant_type="client_credentials")
        self.assertEqual(token["token_type"], "Bearer")
        self.assert_works(client)

    def test_authlib_assertion_of_an_hour(self):
        client = AssertionSession(
            f"{self.base}/token", sandbox.signing_id, sandbox.username, audience="https://login.salesforce.com",
            key=sandbox.private_key, header={"alg": "RS256"})
        client.verify, client.trust_env = sandbox.authority, False
        client.refresh_token()
        first = client.token["access_token"]
        self.assert_works(client)
        # Each assertion has an id of its own, so a second one is as good.
        client.refresh_token()
        self.assertNotEqual(client.token["access_token"], first)


if __name__ == "__main__":
    unittest.main()
