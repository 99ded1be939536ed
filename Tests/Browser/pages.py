"""Drives the pages of `heartwood browse` in headless Chromium: python3 pages.py HEARTWOOD FOLDER

FOLDER gets the stores, of every type that has files, and a picture of each page. Every page must be without a word in the console, and without a
finding of axe, if that is installed.
"""

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

try:
    from axe_selenium_python import Axe
except ImportError:
    Axe = None

HOSTILE = "</script><img src=x onerror=\"document.title='owned'\"> '\"& \u202e"
ENDINGS = ["csv", "heartwood", "xml", "plist", "sqlite", "coredata"]
COUNT = 5000
example = Path(__file__).resolve().parents[2] / "Examples/ToDo/ToDo.xcdatamodeld/ToDo.xcdatamodel"


def make_stores(heartwood, folder):
    """One store of each type, of the same records: the first one's text is hostile."""
    first = folder / "todo.csv"
    memos = ['"' + HOSTILE.replace('"', '""') + '"'] + [f"memo {n}" for n in range(1, COUNT)]
    lines = [f"{n % 2},{memo},{n},2016-09-17 18:15:00 +0000,00000000-0000-4000-8000-{n:012X}\n" for n, memo in enumerate(memos)]
    first.write_text("#D35CF030-1EC1-4667-9666-70C8247A1010\n" + "".join(lines))
    for ending in ENDINGS[1:]:
        subprocess.run([heartwood, "convert", first, folder / f"todo.{ending}", "--model", example, "--force"], check=True, capture_output=True)
    return [folder / f"todo.{ending}" for ending in ENDINGS]


class Browser:
    def __init__(self, folder, arguments=(), size=(1280, 860)):
        options = Options()
        for argument in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", f"--window-size={size[0]},{size[1]}", *arguments]:
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        # Several downloads in a row, without asking.
        options.add_experimental_option("prefs", {"download.default_directory": str(folder.resolve()), "profile.default_content_setting_values.automatic_downloads": 1})
        self.driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        self.folder = folder

    def wait(self, condition, what):
        try:
            return WebDriverWait(self.driver, 30, poll_frequency=0.05).until(lambda driver: condition(driver))
        except Exception as error:
            self.driver.save_screenshot(str(self.folder / "failed.png"))
            raise AssertionError(f"{what}: {self.driver.find_element(By.TAG_NAME, 'main').text[:500]}") from error

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def texts(self, selector):
        return self.driver.execute_script("return [...document.querySelectorAll(arguments[0])].map((node) => node.textContent)", selector)

    def choose(self, selector, label):
        Select(self.driver.find_element(By.CSS_SELECTOR, selector)).select_by_visible_text(label)

    def click(self, selector, place=0):
        """By a script, since rows are made anew while a table settles."""
        script = "const node = document.querySelectorAll(arguments[0])[arguments[1]]; node?.click(); return node !== undefined"
        self.wait(lambda driver: driver.execute_script(script, selector, place), f"something to click at {selector}")

    def check_narrow(self, name):
        """The page is no wider than the window."""
        width = self.driver.execute_script("return document.documentElement.scrollWidth - innerWidth")
        assert width <= 0, f"the page is {width} wider than a phone"
        self.check(name)

    def check(self, name, refused=False):
        """Nothing was said in the console but, if it is to be so, that a request was refused."""
        self.driver.save_screenshot(str(self.folder / f"{name}.png"))
        words = [entry["message"] for entry in self.driver.get_log("browser")]
        if refused:
            words = [word for word in words if not re.search(r"status of 4(00|09|22)", word)]
        assert not words, f"{name}: {words}"
        assert "owned" not in self.driver.title, name
        if Axe:
            axe = Axe(self.driver)
            axe.inject()
            findings = axe.run()["violations"]
            # This version knows a field with suggestions as ARIA 1.1 had it, and not as 1.2 has.
            for finding in findings:
                finding["nodes"] = [node for node in finding["nodes"] if 'role="combobox"' not in node["html"]]
            findings = [finding for finding in findings if finding["nodes"]]
            assert not findings, f"{name}: " + axe.report(findings)


def look(browser, base, index, store):
    name = store.suffix[1:]
    driver = browser.driver

    driver.get(f"{base}#/{index}/model")
    browser.wait(lambda _: browser.all(".diagram svg g"), f"{name}: the diagram")
    assert "ToDo" in browser.texts(".diagram text"), name
    browser.check(f"{name}-model")

    driver.get(f"{base}#/{index}/entity/ToDo?sort=sortOrder")
    browser.wait(lambda _: f"{COUNT:,} found" in driver.find_element(By.CSS_SELECTOR, "[role=status].dim").text, f"{name}: the number of records")
    browser.wait(lambda _: HOSTILE in "".join(browser.texts(".row")[:1]), f"{name}: the first record")
    assert len(browser.all(".row")) < 100, "rows out of sight are there"
    driver.find_element(By.CSS_SELECTOR, ".grid").send_keys(Keys.END)
    browser.wait(lambda _: f"memo {COUNT - 1}" in " ".join(browser.texts(".row")), f"{name}: the last record")
    browser.check(f"{name}-end")

    field = driver.find_element(By.CSS_SELECTOR, "input[role=combobox]")
    field.clear()
    field.send_keys("sortO", Keys.ARROW_DOWN, Keys.TAB)
    browser.wait(lambda _: field.get_attribute("value") == "sortOrder ", f"{name}: a key is completed")
    assert browser.texts(".suggestions li")[:3] == ["==", "!=", "<"], browser.texts(".suggestions li")
    browser.check(f"{name}-completion")
    field.send_keys(">= 10 AND sortOrder < 14 AND done == YES", Keys.ENTER)
    browser.wait(lambda _: browser.texts("[role=status].dim")[0].startswith("2 found"), f"{name}: the condition")
    browser.choose(".facets select", "memo")
    browser.wait(lambda _: len(browser.all(".facets li")) == 2, f"{name}: the values of a column")
    browser.check(f"{name}-found")
    browser.choose(".facets select", "sortOrder")
    browser.wait(lambda _: len(browser.all(".chart rect")) == 3 and len(browser.all(".facets > ol li")) == 2, f"{name}: the chart of a number")
    assert browser.all(".chart")[0].get_attribute("aria-label") == "Records by sortOrder: 3 bars from 11 to 13. The greatest is 1, at 11."
    browser.check(f"{name}-chart")
    browser.choose(".facets select", "creationDate")
    browser.wait(lambda _: browser.texts(".chart text") == ["2016-09-17T18"], f"{name}: the chart of a date")
    browser.choose(".facets select", "memo")
    browser.wait(lambda _: len(browser.all(".facets > ol li")) == 2 and not browser.all(".chart"), f"{name}: the values of a column again")
    browser.click(".facets li button")
    browser.wait(lambda _: browser.texts("[role=status].dim")[0].startswith("1 found"), f"{name}: a value as a condition")
    browser.choose(".facets select", "sortOrder")
    browser.click(".facets details button")
    browser.wait(lambda _: "sortOrder >= 1" in browser.all("input[role=combobox]")[0].get_attribute("value"), f"{name}: an interval as a condition")

    browser.wait(lambda _: browser.all(".row .cell.number"), f"{name}: the record that was found")
    browser.click(".row")
    browser.wait(lambda _: browser.all("table th"), f"{name}: the record")
    assert browser.texts("th") == ["creationDate", "done", "memo", "sortOrder"] or set(browser.texts("th")) == {"creationDate", "done", "memo", "sortOrder"}
    browser.check(f"{name}-record")

    group(browser, base, index, name)

    driver.get(f"{base}#/{index}/entity/ToDo?text=MEMO%2042")
    browser.wait(lambda _: browser.texts("[role=status].dim")[0].startswith("111 found"), f"{name}: a text anywhere")
    browser.click(".menu summary")
    browser.check(f"{name}-columns")
    browser.click(".menu input", 1)
    browser.wait(lambda _: "memo" not in browser.texts("[role=columnheader]"), f"{name}: a hidden column")
    driver.execute_script("sessionStorage.removeItem('hidden ToDo')")

    driver.get(f"{base}#/{index}/entity/ToDo?where={'sortOrdr > 1'}")
    browser.wait(lambda _: "sortOrdr" in browser.texts("#wrong")[0], f"{name}: the mistake in a condition")
    browser.check(f"{name}-mistake", refused=True)


GROUPS_IN_SWIFT = """\
var request = try FetchRequest<ManagedObject>(entityName: "ToDo", where: FetchPredicate(format: ####"sortOrder < 10"####))
let key = try ExpressionDescription(format: "done")
let amount = try ExpressionDescription(format: "sum(sortOrder)")
request.propertiesToGroupBy = [key]
request.propertiesToFetch = [key, .count(), amount]
let rows = try context.fetchRows(request)"""


def take_groups(browser, name):
    """The groups as Swift and as CSV. What would go to the clipboard and to a file is kept in the page instead."""
    browser.driver.execute_script("""
        window.taken = [];
        const make = URL.createObjectURL;
        navigator.clipboard.writeText = (text) => { taken.push(text); };
        URL.createObjectURL = (blob) => { blob.text().then((text) => taken.push(text)); return "#"; };
        for (const label of ["Copy as Swift", "Groups as CSV"]) [...document.querySelectorAll("button")].find((node) => node.textContent === label).click();
        URL.createObjectURL = make;
    """)
    wanted = [GROUPS_IN_SWIFT, "done,records,sum of sortOrder\ntrue,5,25\nfalse,5,20\n"]
    browser.wait(lambda driver: driver.execute_script("return taken") == wanted, f"{name}: the groups as Swift and CSV")


def group(browser, base, index, name):
    """Groups with a sum, as bars and as a table, and from one of them to its records."""
    browser.driver.get(f"{base}#/{index}/entity/ToDo?where=sortOrder < 10")
    browser.wait(lambda _: browser.texts("[role=status].dim")[0].startswith("10 found"), f"{name}: the records to group")
    for label, words in [("Group by", "done"), ("What is computed for each group", "sum of"), ("Column of the amount", "sortOrder")]:
        browser.choose(f"select[aria-label='{label}']", words)
    browser.click("form.bar + form.bar button")
    browser.wait(lambda _: browser.texts("table.groups tbody tr") == ["true525", "false520"], f"{name}: the sums of the groups")
    assert len(browser.all(".groups .chart rect")) == 2
    browser.check(f"{name}-groups")
    take_groups(browser, name)
    browser.click("table.groups a")
    browser.wait(lambda _: browser.texts("[role=status].dim")[0].startswith("5 found"), f"{name}: the records of a group")
    browser.driver.get(f"{base}#/{index}/entity/ToDo?where=sortOrder < 10&group=creationDate&amount=average:sortOrder&unit=year")
    browser.wait(lambda _: browser.texts("table.groups tbody tr") == ["2016104.5"], f"{name}: the average of a year")
    browser.check(f"{name}-years")
    browser.driver.get(f"{base}#/{index}/entity/ToDo?group=sortOrder&unit=interval")
    browser.wait(lambda _: len(browser.all(".groups .chart rect")) == 25, f"{name}: numbers in intervals")
    browser.check(f"{name}-intervals")


def export(browser, base, index, heartwood):
    """Downloads the found records as a store, which the tool reads."""
    browser.driver.get(f"{base}#/{index}/entity/ToDo?where=sortOrder < 3")
    browser.wait(lambda _: browser.texts("[role=status].dim")[0].startswith("3 found"), "the records to export")
    for ending, label in [("heartwood", "(.heartwood)"), ("sqlite", "(.sqlite)"), ("csv", "(.csv)")]:
        path = browser.folder / f"ToDo.{ending}"
        path.unlink(missing_ok=True)
        browser.wait(lambda driver: driver.execute_script(
            "const node = [...document.querySelectorAll('.menu button')].find((node) => node.textContent.endsWith(arguments[0])); node?.click(); return node !== undefined", label), f"the type {ending}")
        browser.wait(lambda _: path.exists(), f"the download {path.name}")
        found = subprocess.run([heartwood, "fetch", path, "ToDo", "--model", example, "--format", "json"], check=True, capture_output=True, text=True)
        assert sorted(json.loads(line)["sortOrder"] for line in found.stdout.splitlines()) == [0, 1, 2], found.stdout
    browser.check("export")


def main(heartwood, folder):
    folder.mkdir(parents=True, exist_ok=True)
    stores = make_stores(heartwood, folder)
    tool = subprocess.Popen([heartwood, "browse", *stores, "--model", example, "--no-open"], stdout=subprocess.PIPE, text=True)
    try:
        address = tool.stdout.readline().strip()
        base = address.split("#")[0]
        browser = Browser(folder)
        browser.driver.get(base)
        browser.wait(lambda _: "token" in browser.driver.find_element(By.TAG_NAME, "main").text, "a page without the token")
        browser.driver.get_log("browser")
        browser.driver.get(address)
        browser.wait(lambda _: len(browser.all("section")) == len(stores), "all stores")
        browser.check("stores")
        browser.click("section p button")
        browser.wait(lambda _: "All is well" in browser.texts("section")[0], "the health of a store")
        browser.click("form button")
        browser.wait(lambda _: "No differences." in browser.texts("main")[0], "the differences of a store and what it was converted to")
        browser.check("no-differences")
        browser.driver.get(f"{base}#/differences?first=0&second=4&match=reference")
        browser.wait(lambda _: browser.all("tbody tr"), "the differences of stores with other references")
        browser.check("differences")
        for index, store in enumerate(stores):
            look(browser, base, index, store)
        export(browser, base, 4, heartwood)
        # A page that an address in the fragment made up.
        browser.driver.get(f"{base}#/99/model")
        browser.wait(lambda _: browser.all("[role=alert]"), "a store that is not there")
        browser.driver.quit()

        phone = Browser(folder, ["--force-dark-mode"], size=(420, 800))
        phone.driver.get(address)
        phone.wait(lambda _: phone.all("section"), "a narrow page")
        phone.driver.get(f"{base}#/0/entity/ToDo")
        phone.wait(lambda _: phone.all(".row .cell.number"), "a narrow table")
        assert len(phone.all(".row")) < 100, "rows out of sight are there"
        phone.check_narrow("narrow")
        phone.driver.get(f"{base}#/0/entity/ToDo?group=done&amount=sum:sortOrder")
        phone.wait(lambda _: phone.all("table.groups td"), "narrow groups")
        phone.check_narrow("narrow-groups")
        phone.driver.quit()
    finally:
        tool.send_signal(signal.SIGINT)
        tool.wait(30)
    print(f"{len(stores)} types of stores, pictures in {folder}")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
