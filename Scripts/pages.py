"""Makes articles of a DocC catalog of the Markdown pages that the repository has beside its catalogs, so that the site holds them too.

Usage: pages.py ROOT CATALOG [ADDRESS]

Links between the pages, and to articles, become links of the site. Those to other files go to ADDRESS, where the files of the repository can
be read; without it, their text stays and the link is dropped.
"""

import os
import posixpath
import re
import sys

from links import FENCE, anchors

LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
FOLDERS = {
    "Documentation/Decisions": ("Decisions", "Why Heartwood is as it is, one decision to a page."),
    "Formats": ("File formats", "How each format keeps its records, well enough described to write a second implementation."),
    "Examples": ("Examples", "Packages that use Heartwood, each with its tests."),
}


def sources(root):
    """The pages, by the paths of their files."""
    for folder in ["Documentation", "Documentation/Decisions"]:
        yield from (f"{folder}/{name}" for name in sorted(os.listdir(os.path.join(root, folder))) if name.endswith(".md"))
    for folder in ["Formats", "Examples"]:
        paths = (f"{folder}/{name}/README.md" for name in sorted(os.listdir(os.path.join(root, folder))))
        yield from (path for path in paths if os.path.exists(os.path.join(root, path)))
    yield from ["Benchmarks/README.md", "CHANGELOG.md", "CONTRIBUTING.md"]


def name_of(path):
    """The name of the article: DocC knows articles by the names of their files alone."""
    return path.removesuffix(".md").removesuffix("/README").replace("/", "-")


def article(path, names):
    """The article that a file or folder of the repository is on the site."""
    catalog = re.fullmatch(r"Sources/\w+/\w+\.docc/(\w+)\.md", path)
    return catalog.group(1) if catalog else names.get(path) or names.get(path + "/README.md")


def linked(text, path, root, names, address):
    def link(match):
        label, target = match.groups()
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            return match.group()
        file, _, anchor = target.partition("#")
        file = posixpath.normpath(posixpath.join(posixpath.dirname(path), file)) if file else path
        found = article(file, names)
        if not found:
            return f"[{label}]({address}/{file})" if address else label
        # DocC makes the anchor of a heading of its words as they are.
        heading = anchors(os.path.join(root, file))[anchor] if anchor else ""
        fragment = "#" + re.sub(r"\s+", "-", re.sub(r"[`'\"]", "", heading)) if anchor else ""
        return f"[{label}](doc:{found}{fragment})"

    return LINK.sub(link, text)


def outside_fences(text, change):
    """The text with what is no block of code changed."""
    parts, end = [], 0
    for fence in FENCE.finditer(text):
        parts += [change(text[end : fence.start()]), fence.group()]
        end = fence.end()
    return "".join(parts + [change(text[end:])])


def main(root, catalog, address=""):
    names = {path: name_of(path) for path in sources(root)}
    pages = dict(names)
    names |= {folder: name_of(folder) for folder in FOLDERS}
    for path, name in pages.items():
        with open(os.path.join(root, path), encoding="utf-8") as source:
            text = outside_fences(source.read(), lambda part: linked(part, path, root, names, address))
        with open(os.path.join(catalog, name + ".md"), "w", encoding="utf-8") as target:
            target.write(text)
    for folder, (title, abstract) in FOLDERS.items():
        topics = "".join(f"- <doc:{name}>\n" for path, name in pages.items() if path.startswith(folder + "/"))
        with open(os.path.join(catalog, name_of(folder) + ".md"), "w", encoding="utf-8") as target:
            target.write(f"# {title}\n\n{abstract}\n\n## Topics\n\n### Pages\n\n{topics}")


if __name__ == "__main__":
    main(*sys.argv[1:])
