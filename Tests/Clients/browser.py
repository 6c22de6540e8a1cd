"""A person at the sandbox's sign-in pages: fields and buttons are found by the ids that the pages promise."""

from html.parser import HTMLParser
from urllib.parse import urljoin


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.action = None
        self.fields = {}
        self.names = {}
        self.values = {}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag == "form":
            self.action = given["action"]
        if given.get("type") == "hidden":
            self.fields[given["name"]] = given["value"]
        if "id" in given:
            self.names[given["id"]] = given.get("name")
            self.values[given["id"]] = given.get("value")


class Person:
    """One browser. `sign_in` follows a client's URL to the end and gives the address that it ends at, without going there."""

    def __init__(self, sandbox, username=None, password=None):
        self.session = sandbox.session()
        self.username = username or sandbox.username
        self.password = password or sandbox.password

    def sign_in(self, url, press="allow"):
        answer = self.session.get(url, allow_redirects=False)
        page = Page(answer.text)
        if answer.status_code == 200 and "username" in page.names:
            page.fields[page.names["username"]] = self.username
            page.fields[page.names["password"]] = self.password
            answer = self._submit(answer.url, page)
            page = Page(answer.text)
        if answer.status_code == 200 and press in page.names:
            page.fields[page.names[press]] = page.values[press]
            answer = self._submit(answer.url, page)
        assert answer.status_code == 302, answer.text
        return answer.headers["Location"]

    def _submit(self, url, page):
        return self.session.post(urljoin(url, page.action), data=page.fields, allow_redirects=False)
