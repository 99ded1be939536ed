"""Takes the pictures of the README and of the guide: python3 pictures.py HEARTWOOD FOLDER

FOLDER gets three pictures of a made-up library, which is the same each time. To renew those of the guide, give its folder,
Sources/HeartwoodBrowser/HeartwoodBrowser.docc.
"""

import random
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from pages import Browser

model = Path(__file__).resolve().parent / "library.json"
MOST_BYTES = 150_000
DAY = 86_400
# 2026-01-01, in seconds since 2001-01-01.
START = 9131 * DAY


class Library:
    """Records of a library as an XML store."""

    def __init__(self):
        self.objects, self.links = {}, {}
        self.random = random.Random(7)
        pick = self.random.choice
        firsts, lasts = "Ada Bela Dora Frida Hanna Ida Jonas Mara Nils Uwe".split(), "Adler Baum Lind Moser Nagel Pohl Stein Thorn Vogel".split()
        authors = [self.add("AUTHOR", name=("string", f"{pick(firsts)} {pick(lasts)}")) for _ in range(40)]
        readers = [self.add("READER", name=("string", f"{pick(firsts)} {pick(lasts)}"), card=("int32", 1000 + n)) for n in range(200)]
        for _ in range(1500):
            self.add_book(pick(authors), readers)

    def add_book(self, author, readers):
        pick, number = self.random.choice, self.random.randint
        title = f"The {pick('Broken Distant Green Hidden Last Long Northern Quiet Second Silver'.split())} {pick('Bridge Garden Harbour Letter Mountain River Road Summer'.split())}"
        book = self.add("BOOK", title=("string", title), pages=("int32", number(80, 900)), price=("decimal", f"{number(99, 799) * 5 / 100:.2f}"), islent=("bool", number(0, 1)))
        self.link(book, "author", author, "books")
        for _ in range(number(0, 4)):
            # Most books are read in the dark months.
            month = pick([0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 10, 10, 10, 11, 11, 11])
            loan = self.add("LOAN", until=("date", START + (month * 30 + number(0, 29)) * DAY), fee=("decimal", f"{number(1, 8) * 25 / 100:.2f}"))
            self.link(loan, "book", book, "loans")
            self.link(loan, "reader", pick(readers), "loans")

    def add(self, kind, **values):
        name = f"z{101 + len(self.objects)}"
        self.objects[name] = kind, values
        return name

    def link(self, one, name, many, inverse):
        self.links.setdefault(one, {})[name] = "1/1", [many]
        self.links.setdefault(many, {}).setdefault(inverse, ("0/0", []))[1].append(one)

    def xml(self):
        lines = ['<?xml version="1.0" standalone="yes"?>\n<!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">\n'
                 "<database><databaseInfo><version>134481920</version><UUID>D35CF030-1EC1-4667-9666-70C8247A1010</UUID>"
                 f'<nextObjectID>{101 + len(self.objects)}</nextObjectID><metadata><plist version="1.0"><dict/></plist></metadata></databaseInfo>']
        for name, (kind, values) in self.objects.items():
            parts = [f'<attribute name="{key}" type="{kind}">{value}</attribute>' for key, (kind, value) in values.items()]
            for key, (type, others) in self.links.get(name, {}).items():
                destination = self.objects[others[0]][0]
                parts.append(f'<relationship name="{key}" type="{type}" destination="{destination}" idrefs="{" ".join(others)}"></relationship>')
            lines.append(f'<object type="{kind}" id="{name}">{"".join(parts)}</object>')
        return "\n".join([*lines, "</database>\n"])


def make_store(heartwood, folder):
    first = folder / "library.xml"
    first.write_text(Library().xml())
    store = folder / "library.sqlite"
    subprocess.run([heartwood, "convert", first, store, "--model", model], check=True, capture_output=True)
    return store


def take(browser, folder, name):
    browser.check(name)
    size = (folder / f"{name}.png").stat().st_size
    assert size < MOST_BYTES, f"{name}.png has {size} bytes"


def take_records(browser, base, folder):
    browser.driver.get(f"{base}#/0/entity/Book?where=title CONTAINS \"River\" AND pages > 200&sort=price:desc")
    browser.wait(lambda _: browser.all(".row .cell.number"), "the found books")
    browser.choose(".facets select", "price")
    browser.wait(lambda _: len(browser.all(".chart rect")) > 5, "the distribution of the prices")
    take(browser, folder, "browse-records")


def take_groups(browser, base, folder):
    browser.driver.get(f"{base}#/0/entity/Loan?group=until&amount=sum:fee&unit=month")
    browser.wait(lambda _: len(browser.all("table.groups tbody tr")) == 12, "the months")
    take(browser, folder, "browse-groups")


def take_model(browser, base, folder):
    browser.driver.get(f"{base}#/0/model")
    browser.wait(lambda _: browser.all(".diagram svg g"), "the diagram")
    take(browser, folder, "browse-model")


def main(heartwood, folder):
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        store = make_store(heartwood, Path(scratch))
        tool = subprocess.Popen([heartwood, "browse", store, "--no-open"], stdout=subprocess.PIPE, text=True)
        try:
            address = tool.stdout.readline().strip()
            browser = Browser(folder, size=(1100, 640))
            browser.driver.get(address)
            browser.wait(lambda _: browser.all("section"), "the store")
            for picture in [take_records, take_groups, take_model]:
                picture(browser, address.split("#")[0], folder)
            browser.driver.quit()
        finally:
            tool.send_signal(signal.SIGINT)
            tool.wait(30)
    print(f"3 pictures in {folder}")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
