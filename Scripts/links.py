"""Checks that every relative link of the Markdown files of a folder leads to a file or folder, and to a heading if it names one.

Usage: links.py FOLDER

Catalogs of DocC are left out, since docc checks their links itself. Addresses of other sites are not looked up.
"""

import os
import re
import sys
from urllib.parse import unquote

FENCE = re.compile(r"^ *(```+|~~~+).*?^ *\1 *$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)|^ *\[[^\]]+\]:\s+(\S+)|(?:src|href)=\"([^\"]+)\"", re.MULTILINE)
HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)


def blank(match):
    """As many lines without text, so that the numbers of lines stay."""
    return "\n" * match.group().count("\n")


def markdown_files(root):
    for folder, folders, files in os.walk(root):
        hidden = [name for name in folders if name.startswith(".") and name != ".github"]
        folders[:] = sorted(set(folders) - set(hidden) - {name for name in folders if name.endswith(".docc")})
        yield from (os.path.join(folder, name) for name in sorted(files) if name.endswith(".md"))


def slugs(text):
    """The headings of a text, by the anchors that GitHub gives to them."""
    found, counts = {}, {}
    for heading in HEADING.findall(FENCE.sub(blank, text)):
        words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        number = counts.get(slug, 0)
        counts[slug] = number + 1
        found[f"{slug}-{number}" if number else slug] = words
    return found


def anchors(path):
    with open(path, encoding="utf-8") as file:
        return slugs(file.read())


def faults(path, root):
    with open(path, encoding="utf-8") as file:
        text = CODE.sub(blank, FENCE.sub(blank, file.read()))
    for match in LINK.finditer(text):
        link = unquote(next(group for group in match.groups() if group))
        if re.match(r"[a-z][a-z0-9+.-]*:", link):
            continue
        place = f"{os.path.relpath(path, root)}:{text.count(chr(10), 0, match.start()) + 1}"
        name, _, anchor = link.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
        if not os.path.exists(target):
            yield f"{place}: {link}: there is no {os.path.relpath(target, root)}"
        elif anchor and target.endswith(".md") and anchor not in anchors(target):
            yield f"{place}: {link}: {os.path.relpath(target, root)} has no heading with this anchor"


def main(root):
    found = [fault for path in markdown_files(root) for fault in faults(path, root)]
    for fault in found:
        print(fault, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
