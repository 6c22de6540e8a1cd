"""Token requests in the forms of JSforce and the Mobile SDKs, with everything they send besides: answered as without it."""

import base64
import hashlib
import secrets
import unittest
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

from browser import Person
from sandbox import Sandbox

REDIRECT = "testsfdc:///mobilesdk/detect/oauth/done"
CLIENTS = [
    {"id": "phone", "redirectURIs": [REDIRECT], "requiresPKCE": True, "scopes": ["api", "web", "refresh_token", "id"]},
    {"id": "rotating", "redirectURIs": [REDIRECT], "rotatesRefreshTokens": True},
    {"id": "web", "secret": "s", "redirectURIs": [REDIRECT], "runsAs": Sandbox.username},
]
# JSforce: 128 random bytes make 171 characters.
VERIFIER = base64.urlsafe_b64encode(secrets.token_bytes(128)).decode().rstrip("=")
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")


def setUpModule():
    global sandbox
    sandbox = Sandbox("--contacts", "3", "--accounts", "1", clients=CLIENTS)


def tearDownModule():
    sandbox.stop()


class FormTests(unittest.TestCase):
    def setUp(self):
        self.session = sandbox.session()
        self.base = f"{sandbox.url}/services/oauth2"
        self.assertEqual(len(VERIFIER), 171)

    def post(self, resource, fields, query=None, **headers):
        return self.session.post(f"{self.base}/{resource}", data=fields, params=query, headers=headers)

    def code(self, client, **extra):
        query = urlencode({"response_type": "code", "client_id": client, "redirect_uri": REDIRECT, **extra})
        return parse_qs(urlsplit(Person(sandbox).sign_in(f"{self.base}/authorize?{query}")).query)["code"][0]

    def refresh_token(self, client):
        answer = self.post("token", {
            "grant_type": "authorization_code", "client_id": client, "redirect_uri": REDIRECT,
            "code": self.code(client, code_challenge=CHALLENGE), "code_verifier": VERIFIER})
        self.assertEqual(answer.status_code, 200, answer.text)
        return answer.json()["refresh_token"]

    def assert_same(self, plain, full):
        """The same members, and the same values where these are not new each time."""
        self.assertEqual((plain.status_code, full.status_code), (200, 200), full.text)
        new = ("access_token", "refresh_token", "signature", "issued_at", "id_token")
        kept = [{name: value for name, value in answer.json().items() if name not in new} for answer in (plain, full)]
        self.assertEqual(plain.json().keys(), full.json().keys())
        self.assertEqual(*kept)
        answer = self.session.get(
            f"{sandbox.url}/services/data/v60.0/limits", headers={"Authorization": "Bearer " + full.json()["access_token"]})
        self.assertEqual(answer.status_code, 200)

    # JSforce: no challenge method, the verifier beside every grant, errors of `revoke` as a form.

    def test_jsforce_code_without_a_challenge_method(self):
        plain = {"grant_type": "authorization_code", "client_id": "phone", "redirect_uri": REDIRECT, "code_verifier": VERIFIER}
        answers = [self.post("token", {**plain, "code": self.code("phone", code_challenge=CHALLENGE, **extra)})
                   for extra in ({"code_challenge_method": "S256"}, {})]
        self.assert_same(*answers)

    def test_jsforce_verifier_beside_every_grant(self):
        secret = {"client_id": "web", "client_secret": "s"}
        for plain in (
            {"grant_type": "refresh_token", "refresh_token": self.refresh_token("web"), **secret},
            {"grant_type": "client_credentials", **secret},
            {"grant_type": "password", "username": sandbox.username, "password": sandbox.password, **secret},
        ):
            with self.subTest(grant=plain["grant_type"]):
                self.assert_same(self.post("token", plain), self.post("token", {**plain, "code_verifier": VERIFIER}))

    def test_jsforce_revocation_error_is_a_form(self):
        token = self.refresh_token("phone")
        answers = [self.post("revoke", {"token": token}) for _ in range(2)]
        self.assertEqual([(answer.status_code, len(answer.content) > 0) for answer in answers], [(200, False), (400, True)])
        self.assertEqual(answers[1].headers["Content-Type"], "application/x-www-form-urlencoded")
        self.assertEqual(dict(parse_qsl(answers[1].text))["error"], "unsupported_token_type")

    # The Mobile SDKs: `device_id` in the query, `format`, an address beside a refresh, grants with `hybrid`, a reason to revoke.

    def test_mobile_sdk_android_code_refresh_and_revocation(self):
        query = {"device_id": "0123456789abcdef"}
        full = {"client_id": "phone", "format": "json", "redirect_uri": REDIRECT, "device_id": "0123456789abcdef"}
        plain = {"grant_type": "authorization_code", "client_id": "phone", "redirect_uri": REDIRECT, "code_verifier": VERIFIER}
        display = {"display": "touch", "scope": "api id refresh_token web", "code_challenge": CHALLENGE, **query}
        answers = [self.post("token", {**plain, "code": self.code("phone", **display)})]
        answers.append(self.post("token", {
            **full, "grant_type": "hybrid_auth_code", "code": self.code("phone", **display), "code_verifier": VERIFIER}, query))
        self.assert_same(*answers)
        tokens = [answer.json()["refresh_token"] for answer in answers]
        self.assert_same(
            self.post("token", {"grant_type": "refresh_token", "client_id": "phone", "refresh_token": tokens[0]}),
            self.post("token", {**full, "grant_type": "hybrid_refresh", "refresh_token": tokens[1]}, query))
        revoked = [
            self.post("revoke", {"token": tokens[0]}),
            self.post("revoke", {"token": tokens[1], "revoke_reason": "USER_LOGOUT"}, query)]
        self.assertEqual([answer.status_code for answer in revoked], [200, 200])

    def test_mobile_sdk_ios_refresh_of_a_rotating_app(self):
        token = self.refresh_token("rotating")
        plain = self.post("token", {"grant_type": "refresh_token", "client_id": "rotating", "refresh_token": token})
        full = self.post("token", {
            "grant_type": "hybrid_refresh", "client_id": "rotating", "refresh_token": plain.json()["refresh_token"],
            "redirect_uri": REDIRECT, "format": "json", "device_id": "A1B2"}, {"device_id": "A1B2"}, Accept="application/json")
        self.assert_same(plain, full)
        reason = {"token": full.json()["refresh_token"], "revoke_reason": "LOGOUT", "token_type_hint": "refresh_token"}
        self.assertEqual(self.session.get(f"{self.base}/revoke", params=reason).status_code, 200)

    def test_other_clients_scope_charset_and_query(self):
        fields = {"grant_type": "client_credentials", "client_id": "web", "client_secret": "s"}
        plain = self.post("token", fields)
        self.assert_same(plain, self.post("token", {**fields, "scope": "api"}))
        self.assert_same(plain, self.post("token", None, fields))
        self.assert_same(plain, self.session.post(
            f"{self.base}/token", data=urlencode(fields),
            headers={"Content-Type": "application/x-www-form-urlencoded; charset=UTF-8", "Accept": "application/json"}))


if __name__ == "__main__":
    unittest.main()
