"""The pages of the site, in the order of its navigation."""
import os
import re
from dataclasses import dataclass, field

from . import markdown

GUIDE, LOOK_UP, REFERENCE = "bridge-spec/guide", "Look things up", "Reference"
# Pages beside the guide. The guide's own order and groups are those of its README.
OTHERS = [
    ("CONTRIBUTING.md", "contributing.html", "Build on it"),
    ("bridge-spec/sandbox/README.md", "sandbox-reference.html", LOOK_UP), ("bridge-spec/schema.md", "schema.html", LOOK_UP),
    ("bridge-spec/deviations.md", "deviations.html", LOOK_UP), ("bridge-spec/parse-objects.md", "parse-objects.html", LOOK_UP),
    ("bridge-spec/README.md", "contract.html", LOOK_UP),
    ("CHANGELOG.md", "changelog.html", LOOK_UP),
]


@dataclass(eq=False)
class Page:
    source: str  # from the repository's folder
    url: str  # from the site's folder
    group: str
    html: str
    headings: list  # (level, anchor, HTML)
    title: str = ""
    anchors: set = field(default_factory=set)

    def __post_init__(self):
        self.title = self.title or markdown.plain(self.headings[0][2])
        self.anchors = {anchor for _, anchor, _ in self.headings}

    def entries(self):
        """Returns one search entry for each section: URL, page, heading, text."""
        found = []
        parts = re.split(r'<h[1-6] id="([^"]*)">(.*?)<a class="anchor".*?</h[1-6]>', self.html, flags=re.S)
        for anchor, heading, text in zip(parts[1::3], parts[2::3], parts[3::3]):
            where = self.url + ("" if anchor == self.headings[0][1] else f"#{anchor}")
            found.append([where, self.title, markdown.plain(heading), markdown.plain(text)])
        return found


def page(root, source, url, group, title=""):
    with open(os.path.join(root, source), encoding="utf-8") as file:
        html, headings = markdown.to_html(file.read(), set())
    return Page(source, url, group, html, headings, title)


def guide(root):
    """Returns the pages that the guide's README lists under its headings, in that order."""
    with open(os.path.join(root, GUIDE, "README.md"), encoding="utf-8") as file:
        lines = file.read().split("\n")
    found, group = [], ""
    for line in lines:
        if line.startswith("## "):
            group = line[3:]
        listed = re.match(r"\| \[[^\]]*\]\(([\w-]+)\.md\)", line)
        if listed:
            found.append(page(root, f"{GUIDE}/{listed[1]}.md", f"guide/{listed[1]}.html", group))
    return found


def reference(root):
    """Returns the reference, one file in the repository, as a page for each module and for events, actions and types."""
    source = "bridge-spec/reference.md"
    with open(os.path.join(root, source), encoding="utf-8") as file:
        parts = re.split(r"(?m)^(?=##? )", file.read())
    taken, found = set(), []
    for part in (part for part in parts if part.strip()):
        html, headings = markdown.to_html(part, taken)
        name = markdown.plain(headings[0][2])
        html = re.sub(r"<(/?)h2\b", r"<\1h1", html, count=2)  # the page's own heading
        url = "reference/index.html" if not found else f"reference/{re.sub(r'[^a-z]+', '-', name.lower())}.html"
        found.append(Page(source, url, REFERENCE, html, headings))
    return found


def read(root):
    """Returns all pages."""
    return [
        page(root, "README.md", "index.html", ""), page(root, f"{GUIDE}/README.md", "guide/index.html", ""), *guide(root),
        *(page(root, *other) for other in OTHERS), *reference(root),
    ]
