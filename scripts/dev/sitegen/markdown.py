"""Converts Markdown to HTML with cmark-gfm, and adds an anchor to each heading."""
import html
import re
import subprocess


class Unusable(Exception):
    """cmark-gfm does not work as expected."""


def anchor_of(words, taken):
    """Returns the anchor that GitHub gives a heading, which scripts/dev/links checks."""
    plain = html.unescape(re.sub(r"<[^>]*>", "", words)).lower()
    anchor = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
    unique, number = anchor, 0
    while unique in taken:
        number += 1
        unique = f"{anchor}-{number}"
    taken.add(unique)
    return unique


def to_html(text, taken):
    """Returns the HTML of Markdown, and its headings as (level, anchor, HTML). Adds the anchors to `taken`."""
    run = subprocess.run(
        ["cmark-gfm", "--extension", "table", "--unsafe"], input=text, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise Unusable(f"cmark-gfm: {run.stderr.strip()}")
    headings = []

    def heading(match):
        anchor = anchor_of(match[2], taken)
        headings.append((int(match[1]), anchor, re.sub(r"</?a\b[^>]*>", "", match[2])))
        return (f'<h{match[1]} id="{anchor}">{match[2]}'
                f'<a class="anchor" href="#{anchor}" aria-label="Link to this section">#</a></h{match[1]}>')

    return re.sub(r"<h([1-6])>(.*?)</h\1>", heading, run.stdout, flags=re.S), headings


def plain(text):
    """Returns the text of HTML."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())
