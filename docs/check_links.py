"""Check the built site: every link and picture leads to a file of the site, and every fragment to an id on its page.

    python docs/check_links.py build/site

The site must work offline, so nothing may be loaded from other sites. Links to other sites are not checked.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag


class Page(HTMLParser):
    """The ids of a page, its links, and the files that it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.loads: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the attributes of a tag."""
        found = {name: value or "" for name, value in attrs}
        self.ids |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.add(found["href"])
        elif tag in ("img", "script", "source", "iframe") and "src" in found:
            self.loads.add(found["src"])
        elif tag == "link" and found.get("rel") in ("stylesheet", "icon", "preload"):
            self.loads.add(found["href"])


def faults(site: Path) -> list[str]:
    """Return a message for each broken link, and for each file that is loaded from another site."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        name = path.relative_to(site)
        for link in sorted(page.links | page.loads):
            if "://" in link or link.startswith(("mailto:", "//")):
                if link in page.loads:
                    found.append(f"{name} loads {link} from another site.")
                continue
            if link.startswith("data:"):
                continue
            place, fragment = urldefrag(link)
            target = (path.parent / unquote(place.partition("?")[0])).resolve() if place else path
            if not target.exists():
                found.append(f"{name} links to {link}, which does not exist.")
            elif "=" in fragment:  # the state of the lab
                continue
            elif fragment and target in pages and unquote(fragment) not in pages[target].ids:
                found.append(f"{name} links to {link}, and that page has no such id.")
    return found


def main() -> None:
    """Check a site; exit with 1 if something is wrong."""
    site = Path(sys.argv[1]).resolve()
    wrong = faults(site)
    for message in wrong:
        print(message)
    print(f"{len(list(site.rglob('*.html')))} pages, {len(wrong)} faults.")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
