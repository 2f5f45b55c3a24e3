#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Proves that a built site can be read alone: every link and anchor leads somewhere, and nothing is fetched from elsewhere.

usage: check_site.py FOLDER
       check_site.py --self-test   shows that each kind of violation is found
"""
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser fetches by itself, by tag; links that a reader follows may lead elsewhere.
FETCHED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src"}


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.fetched = {""}, [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors.update(values[key] for key in ("id", "name") if values.get(key))
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        address = values.get(FETCHED.get(tag))
        if address and not address.startswith("data:"):
            self.fetched.append(address)


def problems_of(folder):
    pages = {path.resolve(): Page(path) for path in sorted(folder.rglob("*.html"))}
    for path, page in pages.items():
        where = path.relative_to(folder.resolve())
        for address in page.fetched:
            if urlsplit(address).scheme or address.startswith("//"):
                yield f"{where}: {address} is fetched from elsewhere"
        for address in [*page.links, *page.fetched]:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                yield f"{where}: a link to {address}, which is no file"
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{where}: a link to {address}, and there is no such anchor"
    for path in sorted(folder.rglob("*.css")):
        if "url(http" in path.read_text(encoding="utf-8").replace('"', ""):
            yield f"{path.relative_to(folder)}: something is fetched from elsewhere"
    if not pages:
        yield f"{folder}: there are no pages"


# What a page holds, and what must be said of it; None: nothing.
SELF_TEST = [
    ('<a href="#here" id="here">', None),
    ('<a href="https://example.org/">', None),
    ('<img src="data:image/png;base64,AA==">', None),
    ('<a href="#there">', "no such anchor"),
    ('<a href="other.html">', "is no file"),
    ('<img src="https://example.org/a.png">', "fetched from elsewhere"),
    ('<script src="//example.org/a.js">', "fetched from elsewhere"),
]


def self_test():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        assert ["there are no pages" in each for each in problems_of(folder)] == [True]
        for text, expected in SELF_TEST:
            (folder / "page.html").write_text(text, encoding="utf-8")
            found = list(problems_of(folder))
            assert len(found) == (expected is not None) and all(expected in each for each in found), (text, found)
        (folder / "a.css").write_text('@font-face { src: url("https://example.org/a.woff") }', encoding="utf-8")
        (folder / "page.html").write_text("", encoding="utf-8")
        assert ["fetched from elsewhere" in each for each in problems_of(folder)] == [True]


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return print("check_site: the self-test passed")
    folder = Path(sys.argv[1])
    found = list(problems_of(folder))
    print(*found, sep="\n", end="\n" if found else "")
    print(f"check_site: {len(list(folder.rglob('*.html')))} pages, {len(found)} violations")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
