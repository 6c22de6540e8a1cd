"""The page of `tureen inspect` in headless Chromium: facts, keys, looks and news, on a home with a story."""

import base64
import json
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import axe_core_python
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from ports import HeldPort
from story import Story

ROOT = Path(__file__).resolve().parents[2]
TUREEN = ROOT / ".build/debug/tureen"
SHOTS = ROOT / ".build/inspector"
SECONDS = 300
AXE = (Path(axe_core_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
PAGES = [
    "overview", "unsent", "unsent/refused", "conflicts", "conflicts/contacts/3", "conflicts/contacts/14", "soups", "soups/contacts",
    "record/contacts/5", "record/contacts/3", "record/contacts/100", "runs", "runs/1", "runs/failed", "requests", "health",
    "find/Lindqvist",
]


class Inspected:
    """`tureen inspect` on a home, until `close()`."""

    def __init__(self, story, *options):
        self.process = subprocess.Popen(
            [TUREEN, "inspect", "--home", story.home, "--config", story.project, *options], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, env=story.environment)
        self.url = self.process.stdout.readline().strip()

    def close(self):
        self.process.send_signal(signal.SIGINT)
        status = self.process.wait(timeout=SECONDS)
        self.process.stdout.close()
        return status


class Page:
    """A browser on the page."""

    def __init__(self, url, port):
        options = webdriver.ChromeOptions()
        for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars"):
            options.add_argument(argument)
        options.binary_location = shutil.which("chromium")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver"), port=port))
        self.driver.set_script_timeout(SECONDS)
        self.url = url
        self.root = url.split("#")[0]

    def look_at(self, width=1280, scheme="light", **features):
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
        features = {"prefers-color-scheme": scheme, **{name.replace("_", "-"): value for name, value in features.items()}}
        self.driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": [{"name": name, "value": value} for name, value in features.items()]})

    def sign_in(self):
        self.driver.get("about:blank")
        self.driver.get(self.url)
        self.wait(lambda: self.js("return document.documentElement.dataset.ready"))

    def go(self, address):
        self.js("location.hash = arguments[0]", f"#/{address}")
        self.wait(lambda: self.js("return document.getElementById('content').dataset.shows") == f"#/{address}")
        # Charts are drawn once their width is known.
        self.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait(self, condition):
        end = time.monotonic() + SECONDS
        while not (found := condition()):
            assert time.monotonic() < end, f"{self.text()[:600]}\n{self.driver.get_log('browser')}"
            time.sleep(0.02)
        return found

    def text(self):
        return self.driver.find_element(By.TAG_NAME, "body").text

    def content(self):
        return self.driver.find_element(By.ID, "content").text

    def keys(self, *keys):
        self.driver.switch_to.active_element.send_keys(*keys)

    def focus(self):
        """What has the focus: its name, or its text."""
        return self.js("const e = document.activeElement; return e.getAttribute('aria-label') || e.id || e.textContent")

    def violations(self):
        self.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": AXE})
        found = self.driver.execute_cdp_cmd("Runtime.evaluate", {
            "expression": "axe.run(document, {resultTypes: ['violations']}).then((r) => JSON.stringify(r.violations.map("
                          "(v) => [v.id, v.nodes.map((n) => n.target.join(' '))])))", "awaitPromise": True})
        return json.loads(found["result"]["value"])

    def picture(self, path, height):
        picture = self.driver.execute_cdp_cmd("Page.captureScreenshot", {
            "captureBeyondViewport": True,
            "clip": {"x": 0, "y": 0, "width": self.js("return innerWidth"), "height": height, "scale": 1}})
        path.write_bytes(base64.b64decode(picture["data"]))

    def shot(self, name):
        SHOTS.mkdir(parents=True, exist_ok=True)
        height = min(self.js("return document.documentElement.scrollHeight"), 4000)
        self.picture(SHOTS / f"{name.replace('/', '-')}.png", height)

    def requested(self):
        """The addresses that were asked for since the last call."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]


class InspectorTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="tureen-inspector-")
        cls.story = Story(cls.folder.name, TUREEN).tell()
        cls.inspected = Inspected(cls.story)
        cls.held = HeldPort()
        cls.page = Page(cls.inspected.url, cls.held.number)

    @classmethod
    def tearDownClass(cls):
        cls.page.driver.quit()
        cls.held.close()
        cls.status = cls.inspected.close()
        cls.story.close()
        cls.folder.cleanup()

    def setUp(self):
        self.page.look_at()
        self.page.sign_in()

    def json(self, *words):
        ended = subprocess.run(
            [TUREEN, words[0], "--home", self.story.home, "--config", self.story.project, *words[1:]], env=self.story.environment,
            capture_output=True, text=True, check=False)
        return json.loads(ended.stdout)

    def writing(self):
        """An inspector with `--write`, and this test's page on it."""
        inspected = Inspected(self.story, "--write")
        self.addCleanup(inspected.close)
        held = HeldPort()
        self.addCleanup(held.close)
        page = Page(inspected.url, held.number)
        self.addCleanup(page.driver.quit)
        page.look_at()
        page.sign_in()
        return page

    # MARK: Facts

    def test_row49_facts_are_those_of_the_commands(self):
        page, store = self.page, self.json("status", "--json")["stores"][0]
        page.go("overview")
        unsent = sum(soup["dirty"] for soup in store["soups"])
        self.assertIn(f"{unsent} local changes are not on the server yet", page.content())
        for state, key in (("refused", "refused"), ("in conflict", "conflicts"), ("waiting", "waiting"), ("in doubt", "inDoubt")):
            number = sum(soup[key] for soup in store["soups"])
            self.assertIn(f"{number}\n{state}", page.js("return document.querySelector('.cards').innerText").replace(" \n", "\n"))
        labels = page.js("return [...document.querySelectorAll('svg a')].map((a) => a.getAttribute('aria-label'))")
        for soup in store["soups"]:
            self.assertTrue(any(label.startswith(f"{soup['soup']}, {soup['entries']:,} entries") for label in labels), labels)
        for sync in store["syncs"]:
            self.assertTrue(any(label.startswith(f"{sync['name']}, ") for label in labels), sync["name"])
        page.go("unsent")
        for entry in self.json("dirty", "--json"):
            if entry["state"] != "conflict":
                self.assertIn(entry["title"], page.content())
        for entry in self.json("dirty", "--json", "--refused"):
            self.assertIn(entry["reason"]["text"], page.content())
        conflict = self.json("conflicts", "--json", "contacts", "3")[0]
        page.go("conflicts/contacts/3")
        for name in conflict["localChanges"]:
            for side in ("base", "local", "server"):
                self.assertIn(conflict[side][name], page.content())

    def test_row49_commands_of_the_page_say_the_same(self):
        """Each command that the page shows runs as it is shown."""
        page = self.page
        for address in PAGES:
            page.go(address)
            shown = page.js("return [...document.querySelectorAll('.command code')].map((c) => c.textContent)")
            self.assertTrue(shown, address)
            for line in shown:
                if " resolve " in line:
                    continue
                ended = subprocess.run(
                    ["/bin/sh", "-c", line.replace("tureen", str(TUREEN), 1)], env=self.story.environment, capture_output=True,
                    text=True, check=False)
                self.assertIn(ended.returncode, (0, 2), f"{address}: {line}: {ended.stderr}")

    def test_a_stranger_finds_why_a_record_is_not_on_the_server(self):
        """From the overview by a card, the record and its reason: three steps."""
        page = self.page
        page.go("overview")
        page.driver.find_element(By.PARTIAL_LINK_TEXT, "refused").click()
        page.wait(lambda: page.driver.find_elements(By.LINK_TEXT, "Mei Weber"))
        self.assertIn("Email: invalid email address: not an address", page.content())
        self.assertIn("correct Email", page.content())
        page.driver.find_element(By.LINK_TEXT, "Mei Weber").click()
        page.wait(lambda: "Its row" in page.content() and page.focus() == page.js("return document.querySelector('h1').textContent"))
        self.assertIn("Mei Weber is refused: Email changed here by edits.lua", page.content())
        # And by its name.
        page.driver.find_element(By.ID, "find").send_keys("mei.weber", Keys.ENTER)
        page.wait(lambda: "Records with" in page.content())

    # MARK: Looks

    def test_row49_each_page_at_each_width_and_scheme(self):
        page, foreign = self.page, []
        page.requested()
        page.driver.get_log("browser")
        for width in (1280, 360):
            for scheme in ("light", "dark"):
                page.look_at(width, scheme)
                page.sign_in()
                for address in PAGES:
                    with self.subTest(address=address, width=width, scheme=scheme):
                        page.go(address)
                        page.shot(f"{address}-{width}-{scheme}")
                        wide = page.js("return document.documentElement.scrollWidth")
                        self.assertLessEqual(wide, width)
                        self.assertEqual(page.violations(), [])
                        self.assertEqual(page.driver.get_log("browser"), [])
                        self.assertTrue(page.driver.find_element(By.CSS_SELECTOR, "main h1").text)
                foreign += [url for url in page.requested() if not url.startswith((page.root, "about:", "data:"))]
        self.assertEqual(foreign, [])

    def test_motion_and_forced_colours(self):
        page = self.page
        page.look_at(prefers_reduced_motion="reduce", forced_colors="active")
        page.sign_in()
        for address in ("overview", "conflicts/contacts/3", "health"):
            page.go(address)
            page.shot(f"{address}-forced")
            self.assertEqual(page.js("return document.getAnimations().length"), 0)
            self.assertEqual(page.violations(), [])

    # MARK: Keys

    def test_row50_without_a_mouse(self):
        page = self.page
        page.go("overview")
        for letter, title in (("u", "Unsent changes"), ("c", "Conflicts"), ("s", "Soups"), ("r", "Runs"), ("q", "Requests"), ("h", "Health"), ("o", "Overview")):
            page.keys("g", letter)
            page.wait(lambda title=title: page.driver.title.startswith(title))
            self.assertEqual(page.js("return document.activeElement.tagName"), "H1")
        # A conflict: the list by j, a side by an arrow key, and the command follows.
        page.keys("g", "c")
        page.wait(lambda: page.driver.title.startswith("Conflicts"))
        page.keys("j")
        page.keys("j")
        self.assertIn("Yara Pereira", page.focus())
        page.keys(Keys.ENTER)
        page.wait(lambda: page.driver.find_elements(By.ID, "mine-Title"))
        page.js("document.getElementById('mine-Title').focus()")
        page.keys(Keys.ARROW_RIGHT)
        self.assertEqual(page.focus(), "theirs-Title")
        self.assertIn("--mine --field Title=theirs", page.content())
        # A search: / and Enter; then a query with Ctrl+Enter; Escape leaves the field.
        page.keys(Keys.ESCAPE)
        page.js("document.activeElement.blur()")
        page.keys("/")
        self.assertEqual(page.js("return document.activeElement.id"), "find")
        page.keys("Lindqvist", Keys.ENTER)
        page.wait(lambda: page.driver.title.startswith("Records with"))
        page.keys("j")
        page.keys(Keys.ENTER)
        page.wait(lambda: "Its row" in page.content())
        page.go("soups/contacts")
        page.js("document.getElementById('sql-contacts').focus()")
        page.keys(Keys.CONTROL, "a")
        page.keys("SELECT count(*) AS many FROM {contacts} WHERE {contacts:Title} = 'Nurse'")
        page.keys(Keys.CONTROL, Keys.ENTER)
        page.wait(lambda: "An index on Title" in page.content())
        self.assertEqual(page.focus(), "Smart SQL")
        page.keys(Keys.ESCAPE)
        page.keys("?")
        page.wait(lambda: page.driver.find_elements(By.CSS_SELECTOR, "dialog[open]"))
        self.assertEqual(page.violations(), [])
        page.keys(Keys.ESCAPE)
        page.wait(lambda: not page.driver.find_elements(By.CSS_SELECTOR, "dialog[open]"))

    def test_row50_tab_reaches_everything_and_shows_where_it_is(self):
        page = self.page
        page.go("overview")
        page.js("document.activeElement.blur(); scrollTo(0, 0)")
        seen = []
        for _ in range(200):
            page.keys(Keys.TAB)
            here = page.js("""const e = document.activeElement, s = getComputedStyle(e), m = e.querySelector?.('.box, .mark, .reach');
              const shown = s.outlineStyle !== 'none' || (m && (getComputedStyle(m).strokeWidth === '2px' || getComputedStyle(m).fill !== 'rgba(0, 0, 0, 0)'));
              return [e.tagName, e.getAttribute('aria-label') || e.textContent.trim() || e.placeholder || '', shown]""")
            if here[0] == "BODY":
                break
            seen.append(here)
        self.assertEqual(seen[0][1], "Skip to the content")
        self.assertTrue(all(name and shown for _, name, shown in seen), [one for one in seen if not (one[1] and one[2])])
        names = [name for _, name, _ in seen]
        self.assertTrue(any(name.startswith("contactsDown, fetches") for name in names), names)

    def test_row50_focus_stays_while_news_come(self):
        page = self.page
        page.go("soups/contacts")
        page.js("document.getElementById('sql-contacts').focus()")
        page.keys(Keys.END, " -- typed")
        before = self.json("query", "--json", "SELECT count(*) AS n FROM {contacts}")[0]["n"]
        self.story.script("touch.lua", TOUCH)
        page.wait(lambda: f"{before + 1} entries" in page.content())
        self.assertEqual(page.focus(), "Smart SQL")
        self.assertIn("-- typed", page.js("return document.activeElement.value"))

    # MARK: News

    def test_row51_another_process_shows_in_all_tabs(self):
        page, driver = self.page, self.page.driver
        page.go("soups/accounts")
        first = driver.current_window_handle
        tabs = [first]
        for _ in range(7):
            driver.switch_to.new_window("tab")
            tabs.append(driver.current_window_handle)
            # The other tabs know the token.
            driver.get(f"{page.root}#/soups/accounts")
            page.wait(lambda: page.js("return document.getElementById('content').dataset.shows") == "#/soups/accounts")
        before = self.json("query", "--json", "SELECT count(*) AS n FROM {accounts}")
        self.story.script("account.lua", ACCOUNT)
        # The stores are looked at four times a second; the rest is for a busy machine.
        written = time.monotonic()
        page.wait(lambda: f"{before[0]['n'] + 1} entries" in page.content())
        self.assertLess(time.monotonic() - written, 5)
        for tab in tabs:
            driver.switch_to.window(tab)
            page.wait(lambda: f"{before[0]['n'] + 1} entries" in page.content())
        for tab in tabs[1:]:
            driver.switch_to.window(tab)
            driver.close()
        driver.switch_to.window(first)

    # MARK: Writing

    def test_without_write_nothing_offers_to_change_data(self):
        page = self.page
        for address in ("unsent", "conflicts/contacts/3", "runs"):
            page.go(address)
            buttons = page.js("return [...document.querySelectorAll('#content button')].map((b) => b.textContent)")
            self.assertFalse([one for one in buttons if "…" in one], buttons)

    def test_write_resolves_after_a_question(self):
        page = self.writing()
        page.go("conflicts/contacts/8")
        page.driver.find_element(By.ID, "all-theirs").click()
        page.driver.find_element(By.ID, "resolve").click()
        question = page.wait(lambda: page.driver.find_elements(By.CSS_SELECTOR, "dialog[open]"))[0]
        self.assertIn("all local changes of the record are lost", question.text)
        self.assertEqual(page.focus(), "Cancel")
        page.keys(Keys.ENTER)
        page.wait(lambda: not page.driver.find_elements(By.CSS_SELECTOR, "dialog[open]"))
        self.assertEqual(len(self.json("conflicts", "--json", "contacts", "8")), 1)
        page.driver.find_element(By.ID, "resolve").click()
        page.wait(lambda: page.driver.find_elements(By.CSS_SELECTOR, "dialog[open] .loss"))[0].click()
        page.wait(lambda: page.js("return document.getElementById('content').dataset.shows") == "#/conflicts")
        self.assertEqual(self.json("conflicts", "--json", "contacts", "8"), [])
        entry = self.json("query", "--json", "SELECT {contacts:Title} AS t FROM {contacts} WHERE {contacts:_soupEntryId} = 8")
        self.assertEqual(entry[0]["t"], "Vice President")

    def test_write_discards_and_runs_after_a_question(self):
        page = self.writing()
        page.go("unsent/skipped")
        page.driver.find_element(By.XPATH, "//button[starts-with(., 'Discard')]").click()
        page.wait(lambda: page.driver.find_elements(By.CSS_SELECTOR, "dialog[open] .loss"))[0].click()
        page.wait(lambda: "No entry is skipped" in page.content() or "Nothing is unsent" in page.content())
        page.go("runs")
        page.driver.find_element(By.CSS_SELECTOR, "[aria-label='Run accountsDown']").click()
        page.wait(lambda: page.driver.find_elements(By.CSS_SELECTOR, "dialog[open] .go"))[0].click()
        page.wait(lambda: "accountsDown" in page.js("return document.getElementById('news').textContent"))


TOUCH = """
local tureen = require "tureen"
tureen.main(function()
  assert(tureen.await(tureen.smartstore.upsertSoupEntries, "contacts", { { LastName = "Touched" } }))
end)
"""
ACCOUNT = TOUCH.replace("contacts", "accounts").replace("LastName", "Name")
