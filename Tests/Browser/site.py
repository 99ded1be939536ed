"""Opens the articles of the documentation's site in headless Chromium, from the first to all that links lead to: python3 site.py FOLDER

FOLDER is what Scripts/documentation made. Every link must lead to a page, every anchor to a place in it, every image must be shown, and no page may
have a word in the console. Pages of symbols are not opened, since docc makes them all alike, but must be there.
"""

import functools
import http.server
import json
import shutil
import sys
import threading
import time
from pathlib import Path
from urllib.parse import unquote, urldefrag

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

START = "documentation/heartwood"
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


def walk(folder, driver, address):
    """Opens all pages, and returns their number and what is wrong with them."""
    anchors, wanted, faults = {}, [], []
    waiting, known = [START], {START}
    while waiting:
        page = waiting.pop(0)
        shown = open_page(driver, address + page)
        anchors[page] = set(shown["anchors"])
        faults += [f"{page}: there is no image {image}" for image in shown["missing"]]
        faults += [f"{page}: {entry['message']}" for entry in driver.get_log("browser")]
        for link in shown["links"]:
            path, anchor = urldefrag(link)
            if not path.startswith(address):
                continue
            target = unquote(path.removeprefix(address)).rstrip("/")
            if anchor:
                wanted.append((page, target, unquote(anchor)))
            if target in known:
                continue
            known.add(target)
            symbol = is_symbol(folder, target)
            if symbol is None:
                faults.append(f"{page}: there is no page {target}")
            elif not symbol:
                waiting.append(target)
    # Not of symbols, which were not opened.
    faults += [f"{page}: {target} has no place {anchor}" for page, target, anchor in wanted if anchor not in anchors.get(target, {anchor})]
    return len(anchors), faults


def main(folder):
    address = serve(folder)
    driver = start_browser()
    began = time.monotonic()
    try:
        open_page(driver, address)
        assert driver.current_url.rstrip("/") == address + START, f"the site begins with {driver.current_url}"
        driver.get_log("browser")
        count, faults = walk(Path(folder), driver, address)
    finally:
        driver.quit()
    print(*faults, sep="\n")
    print(f"{count} pages, {time.monotonic() - began:.0f} s")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
