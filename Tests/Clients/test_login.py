"""`tureen login` with a real browser: headless Chromium, from the address that the command gives to the session it keeps."""

import json
import os
import pty
import select
import shutil
import stat
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from ports import HeldPort

ROOT = Path(__file__).resolve().parents[2]
TUREEN = ROOT / ".build/debug/tureen"
SECONDS = 600

ANN, BOB, GUY, PASSWORD = "ann@acme.com", "bob@acme.com", "guy@acme.com", "h0pper & <co>"


class Terminal:
    """A command on a terminal of its own."""

    def __init__(self, arguments, environment):
        master, slave = pty.openpty()
        self.process = subprocess.Popen(
            arguments, stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True)
        os.close(slave)
        self.master, self.shown = master, ""

    def read(self):
        """What comes next; an empty text at the end."""
        if not select.select([self.master], [], [], 1)[0]:
            return None
        try:
            return os.read(self.master, 65536).decode(errors="replace").replace("\r\n", "\n")
        except OSError:
            return ""

    def wait_for(self, text):
        end = time.monotonic() + SECONDS
        while text not in self.shown:
            more = self.read()
            assert more != "" and time.monotonic() < end, f"'{text}' did not come: {self.shown}"
            self.shown += more or ""
        return self.shown

    def type(self, text):
        os.write(self.master, text.encode())

    def wait(self):
        end = time.monotonic() + SECONDS
        while (more := self.read()) != "" and time.monotonic() < end:
            self.shown += more or ""
        return self.process.wait(timeout=SECONDS)

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.master)


class LoginTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="tureen-login-")
        cls.held = HeldPort()
        cls.port = cls.held.number
        cls.redirect = f"http://localhost:{cls.port}/OauthRedirect"
        sign_in = Path(cls.folder.name, "sign-in.json")
        sign_in.write_text(json.dumps({
            "users": [{"username": name, "password": PASSWORD, "lastName": "Acme"} for name in (ANN, BOB, GUY)],
            "clients": [{"id": "browser app", "redirectURIs": [cls.redirect], "requiresPKCE": True}],
            "sites": [{"path": "/portal", "users": [GUY]}]}))
        cls.sandbox = subprocess.Popen(
            [TUREEN, "sandbox", "--home", f"{cls.folder.name}/sandbox", "--sign-in", sign_in], stdout=subprocess.PIPE, text=True)
        for line in cls.sandbox.stdout:
            if line.startswith("Sandbox org at "):
                cls.url = line.split()[-1]
            if line.startswith("Ctrl-C"):
                break

    @classmethod
    def tearDownClass(cls):
        cls.sandbox.terminate()
        cls.sandbox.wait(timeout=SECONDS)
        cls.sandbox.stdout.close()
        cls.held.close()
        cls.folder.cleanup()

    def setUp(self):
        self.place = tempfile.TemporaryDirectory(prefix="tureen-login-")
        self.addCleanup(self.place.cleanup)
        self.home = f"{self.place.name}/home"

    def browser(self, *arguments):
        options = webdriver.ChromeOptions()
        for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", *arguments):
            options.add_argument(argument)
        options.binary_location = shutil.which("chromium")
        held = HeldPort()
        self.addCleanup(held.close)
        # Named, so that nothing is looked for on the internet.
        driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver"), port=held.number))
        self.addCleanup(driver.quit)
        driver.set_page_load_timeout(SECONDS)
        return driver

    def login(self, *arguments, site=""):
        """`tureen login` on a terminal, and the address that it gives to the person's browser."""
        opened, program = Path(self.place.name, "opened"), Path(self.place.name, "open-address")
        program.write_text(f'#!/bin/sh\nprintf %s "$1" >"{opened}.new" && mv "{opened}.new" "{opened}"\n')
        program.chmod(0o700)
        environment = {"PATH": os.environ["PATH"], "DISPLAY": ":0", "BROWSER": str(program), "LANG": "C.UTF-8"}
        terminal = Terminal(
            [TUREEN, "login", "--home", self.home, "--org", "prod", "--url", self.url + site, "--client-id", "browser app", "--redirect",
             self.redirect, *arguments], environment)
        self.addCleanup(terminal.close)
        terminal.wait_for("/services/oauth2/authorize?")
        end = time.monotonic() + SECONDS
        while not opened.exists():
            assert time.monotonic() < end, terminal.shown
            time.sleep(0.01)
        return terminal, opened.read_text()

    def sign_in(self, driver, address, user=ANN, decision="allow"):
        driver.get(address)
        name = driver.find_element(By.NAME, "username")
        name.clear()
        name.send_keys(user)
        driver.find_element(By.NAME, "password").send_keys(PASSWORD)
        driver.find_element(By.CSS_SELECTOR, "form button").click()
        wait = WebDriverWait(driver, SECONDS)
        # A user who has allowed the app is not asked again.
        wait.until(lambda d: d.find_elements(By.NAME, "decision") or "/services/oauth2/authorize" not in d.current_url)
        if driver.find_elements(By.NAME, "decision"):
            driver.find_element(By.CSS_SELECTOR, f"button[value={decision}]").click()

    def ending(self, driver):
        """The address and the text of the page that the browser ends at."""
        WebDriverWait(driver, SECONDS).until(
            lambda d: d.current_url in (f"http://localhost:{self.port}/done", f"http://localhost:{self.port}/failed"))
        return driver.current_url.rsplit("/", 1)[1], driver.find_element(By.TAG_NAME, "body").text

    def session(self, user="ann%40acme%2Ecom"):
        return json.loads(Path(self.home, "orgs/prod", user, "session.json").read_text())

    def limits(self):
        """A request for data, by another command."""
        return subprocess.run(
            [TUREEN, "exec", "--home", self.home, "--quiet", "network", "sendRequest",
             '{"endPoint": "/services/data", "path": "/v66.0/limits", "method": "GET"}'], capture_output=True, text=True)

    def test_browser_from_the_address_to_the_kept_session(self):
        terminal, address = self.login()
        driver = self.browser()
        self.sign_in(driver, address)
        page, text = self.ending(driver)
        self.assertEqual(terminal.wait(), 0, terminal.shown)
        session = self.session()
        self.assertEqual(page, "done")
        for part in ("Signed in", ANN, session["orgId"]):
            self.assertIn(part, text)
        self.assertNotIn("code=", driver.current_url)
        self.assertIn(f"Signed in to prod as {ANN} ({session['orgId']}/{session['userId']})\n", terminal.shown)
        self.assertEqual((session["flow"], session["username"], session["clientId"]), ("browser", ANN, "browser app"))
        self.assertTrue(session["refreshToken"])
        folder = Path(self.home, "orgs/prod")
        for file in (folder / "org.json", folder / "ann%40acme%2Ecom/session.json", folder / "ann%40acme%2Ecom/credentials.json"):
            self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600, file)
        self.assertNotIn(session["refreshToken"], (folder / "ann%40acme%2Ecom/credentials.json").read_text() + terminal.shown)
        ended = self.limits()
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("DailyApiRequests", ended.stdout)

    def test_browser_person_denies(self):
        terminal, address = self.login("--prompt", "consent")
        driver = self.browser()
        self.sign_in(driver, address, decision="deny")
        page, text = self.ending(driver)
        self.assertEqual(terminal.wait(), 67, terminal.shown)
        self.assertEqual(page, "failed")
        self.assertIn("end-user denied authorization", text)
        self.assertFalse(Path(self.home, "orgs").exists())

    def test_browser_another_user_than_asked_for(self):
        terminal, address = self.login("--user", ANN)
        driver = self.browser()
        self.sign_in(driver, address, user=BOB)
        page, text = self.ending(driver)
        self.assertEqual(terminal.wait(), 67, terminal.shown)
        self.assertEqual(page, "failed")
        self.assertIn(f"{BOB} signed in, and not {ANN}", text)
        self.assertFalse(Path(self.home, "orgs/prod").exists())

    def test_browser_user_of_a_site(self):
        terminal, address = self.login(site="/portal")
        self.assertTrue(address.startswith(self.url + "/portal/services/oauth2/authorize?"), address)
        driver = self.browser()
        self.sign_in(driver, address, user=GUY)
        page, text = self.ending(driver)
        self.assertEqual((terminal.wait(), page), (0, "done"), terminal.shown)
        self.assertIn(GUY, text)
        self.assertEqual(self.session("guy%40acme%2Ecom")["communityURL"], self.url + "/portal")
        ended = self.limits()
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("DailyApiRequests", ended.stdout)

    def test_browser_on_another_machine_address_is_pasted(self):
        terminal, address = self.login()
        # Over there the port leads nowhere.
        driver = self.browser("--host-resolver-rules=MAP localhost 127.0.0.2")
        self.sign_in(driver, address)
        WebDriverWait(driver, SECONDS).until(lambda d: d.current_url.startswith(self.redirect))
        terminal.type("aPrx-a-code-alone\n")
        terminal.wait_for("a code alone does not say which sign-in it belongs to")
        terminal.type(driver.current_url + "\n")
        self.assertEqual(terminal.wait(), 0, terminal.shown)
        self.assertEqual(self.session()["username"], ANN)


if __name__ == "__main__":
    unittest.main()
