"""Makes the pictures of the guide's page about the inspector, from a home with a story.

usage: pictures.py FOLDER
"""

import sys
import tempfile
from pathlib import Path

from ports import HeldPort
from story import Story
from test_inspector import TUREEN, Inspected, Page

PICTURES = {"inspector-overview": ("overview", 900), "inspector-conflict": ("conflicts/contacts/3", 640)}


def main(folder):
    with tempfile.TemporaryDirectory(prefix="tureen-pictures-") as place:
        story = Story(place, TUREEN).tell()
        held = HeldPort()
        inspected = Inspected(story)
        page = Page(inspected.url, held.number)
        try:
            page.look_at(1120)
            page.sign_in()
            for name, (address, height) in PICTURES.items():
                page.go(address)
                # Without the place of this temporary home.
                page.js("""document.querySelector('.where span').textContent = '~/job/home';
                  for (const code of document.querySelectorAll('code')) {
                    code.textContent = code.textContent.replace(/ --(home|config) \\S+/g, '');
                  }
                  document.activeElement.blur()""")
                page.picture(Path(folder, f"{name}.png"), height)
        finally:
            page.driver.quit()
            inspected.close()
            held.close()
            story.close()


if __name__ == "__main__":
    main(sys.argv[1])
