"""Opens the articles of the documentation's site in headless Chromium, from the first to all that links lead to: python3 site.py FOLDER

FOLDER is what Scripts/documentation made. Every link must lead to a page, every anchor to a place in it, every image must be shown, and no page may
have a word in the console. Pages of symbols are not opened, since docc makes them all alike, but must be there.
"""

import functools
import http.server
import json
import os
import queue
import shutil
import sys
import threading
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path
from urllib.parse import unquote, urldefrag

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

START = "documentation/heartwood"
# The number of pages that are opened at once.
BROWSERS = min(4, os.cpu_count() or 1)
# What a page shows once it is complete: its links and its images that are not there; and its anchors.
SHOWN = """
return {
  title: document.querySelector("main h1")?.innerText ?? "",
  links: [...document.querySelectorAll("main a[href]")].map(link => link.href),
  missing: [...document.images].filter(image => image.complete && !image.naturalWidth).map(image => image.src),
  waiting: [...document.images].some(image => !image.complete),
  anchors: [...document.querySelectorAll("[id]")].map(element => element.id)
}
"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *arguments):
        # The browser goes on to the next page before it has read all of one.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(*arguments)


def serve(folder):
    server = Server(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


def start_browser():
    options = Options()
    for argument in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1280,1000"]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


def open_page(driver, address):
    driver.get(address)
    # The title is there before the text is.
    return WebDriverWait(driver, 30, poll_frequency=0.05).until(
        lambda driver: (shown := driver.execute_script(SHOWN)) and shown["title"] and not shown["waiting"] and shown
    )


def is_symbol(folder, page):
    """Whether the page is one that docc made of a declaration; None if there is no such page."""
    data = folder / "data" / f"{page}.json"
    if not data.exists():
        return None
    with open(data) as file:
        return json.load(file)["kind"] == "symbol" and page != START


class Walk:
    """Opens all pages, several at once, and finds out what is wrong with them."""

    def __init__(self, folder, address):
        self.folder, self.address = folder, address
        self.anchors, self.wanted, self.faults = {}, [], []
        self.known = {START}
        self.drivers = queue.SimpleQueue()

    def run(self):
        """Returns the number of pages and the faults."""
        for _ in range(BROWSERS):
            self.drivers.put(start_browser())
        try:
            with ThreadPoolExecutor(BROWSERS) as pool:
                opening = {pool.submit(self.open, START)}
                while opening:
                    done, opening = wait(opening, return_when=FIRST_COMPLETED)
                    for page in done:
                        opening |= {pool.submit(self.open, target) for target in self.look(*page.result())}
        finally:
            while not self.drivers.empty():
                self.drivers.get().quit()
        # Not of symbols, which were not opened.
        self.faults += [
            f"{page}: {target} has no place {anchor}"
            for page, target, anchor in self.wanted
            if anchor not in self.anchors.get(target, {anchor})
        ]
        return len(self.anchors), self.faults

    def open(self, page):
        """Returns a page, what it shows, and the words in its console."""
        driver = self.drivers.get()
        try:
            return page, open_page(driver, self.address + page), driver.get_log("browser")
        finally:
            self.drivers.put(driver)

    def look(self, page, shown, console):
        """Notes what is wrong with a page, and returns the pages that it is the first to lead to."""
        self.anchors[page] = set(shown["anchors"])
        self.faults += [f"{page}: there is no image {image}" for image in shown["missing"]]
        self.faults += [f"{page}: {entry['message']}" for entry in console]
        new = []
        for link in shown["links"]:
            path, anchor = urldefrag(link)
            if not path.startswith(self.address):
                continue
            target = unquote(path.removeprefix(self.address)).rstrip("/")
            if anchor:
                self.wanted.append((page, target, unquote(anchor)))
            if target in self.known:
                continue
            self.known.add(target)
            symbol = is_symbol(self.folder, target)
            if symbol is None:
                self.faults.append(f"{page}: there is no page {target}")
            elif not symbol:
                new.append(target)
        return new


def check_start(address):
    """The address of the site itself leads to its first page."""
    driver = start_browser()
    try:
        open_page(driver, address)
        assert driver.current_url.rstrip("/") == address + START, f"the site begins with {driver.current_url}"
    finally:
        driver.quit()


def main(folder):
    address = serve(folder)
    began = time.monotonic()
    check_start(address)
    count, faults = Walk(Path(folder), address).run()
    print(*faults, sep="\n")
    print(f"{count} pages, {time.monotonic() - began:.0f} s")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
