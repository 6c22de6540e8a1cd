"""glewlwyd, unchanged, as the authorization server of a connection: its client-credentials tokens open the data of another server."""

import gzip
import json
import sqlite3
import subprocess
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import requests

from ports import HeldPort
from rest_service import ROOT, ServiceCase, Way

SCHEMA = Path("/usr/share/doc/glewlwyd/database/init.sqlite3.sql.gz")
TOKEN = "/api/glwd/token"
# The plugin of plain OAuth 2, with nothing but client credentials, introspection and revocation.
PLUGIN = {
    "module": "oauth2-glewlwyd", "name": "glwd", "display_name": "OAuth 2", "parameters": {
        "url": "glwd", "jwt-type": "sha", "jwt-key-size": "256", "key": "a key that signs tokens of tests", "cert": "",
        "access-token-duration": 3600, "refresh-token-duration": 3600, "code-duration": 600, "refresh-token-rolling": False,
        "auth-type-code-enabled": False, "auth-type-implicit-enabled": False, "auth-type-password-enabled": False,
        "auth-type-client-enabled": True, "auth-type-refresh-enabled": False, "scope": [], "additional-parameters": [],
        "pkce-allowed": False, "introspection-revocation-allowed": True, "introspection-revocation-allow-target-client": True,
        "introspection-revocation-auth-scope": [],
    }}
CLIENT = {
    "client_id": "tureen", "password": "s3cret +/&", "confidential": True, "enabled": True, "name": "Tureen", "scope": ["data"],
    "authorization_type": ["client_credentials"], "token_endpoint_auth_method": ["client_secret_basic"],
}
# Asks for the items and tells what came, as often as it is told to.
READ = """
for _ = 1, given.times or 1 do
  local answer, err = await(tureen.network.sendRequest, { connection = "service", path = "/items", returnResponse = true })
  if answer then tell("items", answer.body.items)
  else tell("failed", { code = err.code, reason = err.reason, message = err.message, retryable = err.retryable }) end
end
"""


class Glewlwyd:
    """The server with a database of its own, which its administrator sets up as people do: over its API."""

    def __init__(self, folder):
        database, configuration = folder / "glewlwyd.db", folder / "glewlwyd.conf"
        with sqlite3.connect(database) as connection:
            connection.executescript(gzip.open(SCHEMA, "rt").read())
        self.held = HeldPort()
        self.url = f"http://localhost:{self.held.number}"
        modules = {"user_module": "user", "client_module": "client", "user_auth_scheme_module": "scheme", "plugin_module": "plugin"}
        lines = [f"port={self.held.number}", 'bind_address="127.0.0.1"', f'external_url="{self.url}"', 'api_prefix="api"', "cookie_secure=0",
                 'log_mode="console"', 'log_level="WARNING"', "login_api_enabled=true", 'session_key="SESSION"',
                 'static_files_path="/usr/share/glewlwyd/webapp/"', 'hash_algorithm="SHA512"', "use_secure_connection=false",
                 *(f'{name}_path="/usr/lib/glewlwyd/{where}"' for name, where in modules.items()),
                 # Read even where they are not used.
                 *(f'secure_connection_{name}_file="none"' for name in ("key", "pem", "ca")),
                 f'database = {{ type = "sqlite3" path = "{database}" }};']
        configuration.write_text("\n".join(lines) + "\n")
        self.password = CLIENT["password"]
        self.command = ["glewlwyd", f"--config-file={configuration}"]
        self.process = None
        self.start()
        self.session = requests.Session()
        self.ask("POST", "/auth/", {"username": "admin", "password": "password"})
        self.ask("POST", "/mod/plugin/", PLUGIN)
        self.ask("POST", "/scope/", {"name": "data", "display_name": "data", "password_required": False})
        self.ask("POST", "/client/", CLIENT)

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 600
        while True:
            try:
                requests.get(f"{self.url}/config", timeout=5)
                return
            except requests.ConnectionError:
                if self.process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError(f"glewlwyd did not start: {' '.join(self.command)}")
                time.sleep(0.05)

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=600)

    def ask(self, method, path, body=None):
        answer = self.session.request(method, f"{self.url}/api{path}", json=body)
        answer.raise_for_status()
        return answer

    def change_client(self, **fields):
        self.ask("PUT", "/client/tureen", {**self.ask("GET", "/client/tureen").json(), **fields})

    def of_client(self, path, token):
        auth = (CLIENT["client_id"], self.password)
        return requests.post(f"{self.url}/api/glwd/{path}", data={"token": token}, auth=auth, timeout=600)

    def revoke(self, token):
        self.of_client("revoke", token).raise_for_status()

    def is_good(self, token):
        """A client that is switched off may not even ask; its tokens are then worth nothing."""
        answer = self.of_client("introspect", token)
        return answer.ok and answer.json()["active"]


class Data:
    """A server that asks the authorization server about each token."""

    def __init__(self, is_good):
        data, self.tokens = self, []

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *arguments):
                pass

            def do_GET(self):
                token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
                data.tokens.append(token)
                content = json.dumps({"items": ["one", "two"]}).encode()
                good = bool(token) and is_good(token)
                self.send_response(200 if good else 401)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content) if good else 0))
                self.end_headers()
                self.wfile.write(content if good else b"")

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class GlewlwydTests(ServiceCase):
    def setUp(self):
        self.glewlwyd = Glewlwyd(self.folder())
        self.addCleanup(self.glewlwyd.stop)
        self.data = Data(self.glewlwyd.is_good)
        self.addCleanup(self.data.stop)
        # Between the client and the authorization server: counts what is asked.
        self.way, self.asked = Way(self.glewlwyd.url), []
        self.addCleanup(self.way.stop)
        self.way.passed = lambda method, path: self.asked.append(path)
        self.home = self.folder()
        self.write_secret(CLIENT["password"])
        self.set_up()

    def write_secret(self, text):
        secret = self.home / "secret"
        secret.write_text(text + "\n")
        secret.chmod(0o600)

    def set_up(self, **auth):
        auth = {"type": "clientCredentials", "tokenURL": self.way.url + TOKEN, "clientId": "tureen", "clientSecret": {"file": "secret"},
                "scopes": ["data"], **auth}
        settings = {"baseURL": self.data.url, "timeoutS": 600, "auth": auth, "cache": False}
        Path(self.home, "connections.json").write_text(json.dumps({"service": settings}))

    def read(self, times=1):
        """What a process of its own sees."""
        script = Path(self.home, "read.lua")
        given = json.dumps({"times": times})
        script.write_text(f"""
            local tureen = require "tureen"
            local await, given = tureen.await, tureen.json.decode('{given}')
            local function tell(kind, value) print(kind .. " " .. tureen.json.encode(value)) end
            tureen.main(function() {READ} end)
        """)
        run = subprocess.run([ROOT / ".build/debug/tureen", "run", "--home", self.home / "home", "--quiet", "--log-requests=debug",
                              script], capture_output=True, text=True, timeout=900)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        for secret in [CLIENT["password"], *filter(None, self.data.tokens)]:
            self.assertNotIn(secret, run.stdout + run.stderr)
        return [(kind, json.loads(value)) for kind, value in (line.split(" ", 1) for line in run.stdout.splitlines())]

    def assert_read(self, told):
        for one in told:
            self.assertEqual(one, ("items", ["one", "two"]))

    def assert_refused(self, told, reason, status):
        for kind, error in told:
            self.assertEqual((kind, error.get("code"), error.get("reason"), error.get("retryable")),
                             ("failed", "notAuthenticated", reason, False), error)
            for part in [f"status {status}", "'clientAuth' and 'scopes'"]:
                self.assertIn(part, error["message"])

    def test_glewlwyd_token_opens_the_data_of_all_processes(self):
        for _ in range(3):
            self.assert_read(self.read(times=5))
        self.assertEqual(self.asked, [TOKEN])
        self.assertEqual((len(self.data.tokens), len(set(self.data.tokens))), (15, 1))

    def test_glewlwyd_token_revoked_is_renewed_once(self):
        self.assert_read(self.read())
        self.glewlwyd.revoke(self.data.tokens[0])
        self.assert_read(self.read(times=3))
        self.assertEqual(self.asked, [TOKEN, TOKEN])
        # The refused request was sent once more, with the new token.
        first, second = self.data.tokens[0], self.data.tokens[-1]
        self.assertEqual(self.data.tokens, [first, first] + 3 * [second])

    def test_glewlwyd_client_switched_off_is_asked_once_until_its_secret_changes(self):
        self.assert_read(self.read())
        token = self.data.tokens[0]
        self.glewlwyd.revoke(token)
        self.glewlwyd.change_client(enabled=False)
        for _ in range(2):
            self.assert_refused(self.read(times=3), "wrongCredentials", 403)
        self.assertEqual(self.asked, [TOKEN, TOKEN])
        # Switched on again with another secret.
        self.glewlwyd.password = "another s3cret"
        self.glewlwyd.change_client(enabled=True, password=self.glewlwyd.password)
        self.write_secret(self.glewlwyd.password)
        self.assert_read(self.read())
        self.assertEqual(self.asked, [TOKEN, TOKEN, TOKEN])

    def test_glewlwyd_wrong_secret_is_asked_once(self):
        self.write_secret("not the secret")
        for _ in range(2):
            self.assert_refused(self.read(times=2), "wrongCredentials", 403)
        self.assertEqual(self.asked, [TOKEN])

    def test_glewlwyd_way_of_authentication_it_does_not_take_is_asked_once(self):
        self.set_up(clientAuth="body")
        self.assert_refused(self.read(times=2), "wrongCredentials", 403)
        self.assertEqual(self.asked, [TOKEN])

    def test_glewlwyd_unknown_scope_is_asked_once_within_the_back_off(self):
        self.set_up(scopes=["unknown"])
        for _ in range(2):
            told = self.read(times=2)
            self.assert_refused(told, "refused", 400)
            self.assertIn("scope_invalid", told[0][1]["message"])
        self.assertEqual(self.asked, [TOKEN])

    def test_glewlwyd_gone_is_retryable_and_nothing_is_remembered(self):
        self.glewlwyd.stop()
        self.set_up(tokenURL=self.glewlwyd.url + TOKEN)
        [(kind, error)] = self.read()
        self.assertEqual((kind, error["code"], error["retryable"]), ("failed", "noResponse", True), error)
        self.glewlwyd.start()
        self.assert_read(self.read())


if __name__ == "__main__":
    unittest.main()
