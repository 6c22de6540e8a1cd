"""A sandbox org for the tests of one file: the built `tureen sandbox --tls`, with users and clients of its own."""

import json
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import requests
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from requests.adapters import HTTPAdapter
from simple_salesforce import Salesforce

ROOT = Path(__file__).resolve().parents[2]
VERSION = "60.0"

# An object whose external id is not unique, as some orgs have.
SCHEMA = {"objects": [{
    "name": "UpsertTable__c", "label": "Upsert Table",
    "fields": [{"name": "ExtId__c", "type": "string", "length": 40, "externalId": True}],
}]}
SEED = "Name,ExtId__c\nOne,twice\nTwo,twice\nThree,once\n"


class SalesforceHosts(HTTPAdapter):
    """Takes requests for Salesforce's hosts, which clients have built in, to the sandbox. It still sees which one was meant."""

    def __init__(self, netloc):
        self.netloc = netloc
        super().__init__()

    def send(self, request, **options):
        url = urlsplit(request.url)
        if url.hostname.endswith(".salesforce.com"):
            request.headers["Host"] = url.netloc
            request.url = urlunsplit(url._replace(netloc=self.netloc))
        return super().send(request, **options)


class Sandbox:
    username = "grace@example.org"
    password = "h0pper & <co>"
    # For clients that put names and passwords into XML as they are.
    plain_username = "plain@example.org"
    plain_password = "plain"
    client_id = "python"
    client_secret = "not so secret"
    signing_id = "python signing"

    def __init__(self, *options, tls=True, clients=()):
        self.folder = tempfile.TemporaryDirectory(prefix="tureen-clients-")
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        form = serialization.PrivateFormat.PKCS8
        self.private_key = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()
        self.process = None
        self.further_clients = list(clients)
        self._start(key.public_key(), [*(["--tls"] if tls else []), *options])

    def _start(self, public_key, options):
        public = serialization.PublicFormat.SubjectPublicKeyInfo
        sign_in = Path(self.folder.name, "sign-in.json")
        sign_in.write_text(json.dumps({
            "users": [
                {"username": self.username, "password": self.password, "lastName": "Hopper"},
                {"username": self.plain_username, "password": self.plain_password, "lastName": "Plain"},
            ],
            "clients": [
                {"id": self.client_id, "secret": self.client_secret, "runsAs": self.username},
                {"id": self.signing_id, "approval": "administrator",
                 "certificate": public_key.public_bytes(serialization.Encoding.PEM, public).decode()},
                *self.further_clients,
            ]}))
        schema, seed = Path(self.folder.name, "schema.json"), Path(self.folder.name, "UpsertTable__c.csv")
        schema.write_text(json.dumps(SCHEMA))
        seed.write_text(SEED)
        command = [
            ROOT / ".build/debug/tureen", "sandbox", "--home", self.folder.name, "--sign-in", sign_in,
            "--schema", schema, "--seed", seed]
        self.process = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True)
        said = {}
        for line in self.process.stdout:
            if line.startswith("Sandbox org at "):
                said["url"] = line.split()[-1]
            elif line.startswith("Forge "):
                said["forge"] = line.split()[-1]
            elif line.startswith("  token of "):
                said.setdefault("tokens", {})[line.split()[2]] = line.split()[3]
            elif line.startswith("Parse server at "):
                said["parse"] = line.split()[-1]
            elif line.startswith(("  application id ", "  REST API key ", "  client key ", "  JavaScript key ", "  master key ")):
                said.setdefault("parse_keys", {})[" ".join(line.split()[:-1])] = line.split()[-1]
            elif line.startswith("  control token"):
                said["control"] = line.split()[-1]
            elif line.startswith("Certificate to trust"):
                said["authority"] = line.rsplit(": ", 1)[1].strip()
            elif line.startswith("Ctrl-C"):
                break
        self.url = said["url"]
        self.netloc = urlsplit(self.url).netloc
        self.authority = said.get("authority")
        # The forge beside the org: the base address of its API, and a token of each of its users.
        self.forge = said["forge"]
        self.tokens = said["tokens"]
        # The Parse server beside it: its address, and "application id", "master key" and the clients' keys.
        self.parse = said["parse"]
        self.parse_keys = said["parse_keys"]
        self.control_token = said["control"]

    def session(self):
        """A session that trusts the sandbox's certificate and finds Salesforce's login hosts there."""
        session = requests.Session()
        session.verify = self.authority
        session.trust_env = False  # else a REQUESTS_CA_BUNDLE of the machine comes first
        session.mount("https://", SalesforceHosts(self.netloc))
        return session

    def control(self, action, **arguments):
        """Calls an action of the control interface."""
        answer = self.session().post(
            f"{self.url}/__sandbox/{action}", json=arguments, headers={"Authorization": f"Bearer {self.control_token}"})
        answer.raise_for_status()
        return answer.json()

    def signed_in(self):
        return Salesforce(
            username=self.username, password=self.password, security_token="", session=self.session(), version=VERSION)

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait(timeout=600)
            self.process.stdout.close()
        self.folder.cleanup()
