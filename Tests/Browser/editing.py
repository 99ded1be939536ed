"""Changes records in the pages of `heartwood browse --write` in headless Chromium: python3 editing.py HEARTWOOD FOLDER

FOLDER gets stores of a shop, as XML, binary and SQLite, and a picture of each page. What is asked of the pages is the same as in pages.py: nothing in
the console, and no finding of axe.
"""

import json
import signal
import subprocess
import sys
from pathlib import Path

from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.common.action_chains import ActionChains

from pages import HOSTILE, Browser

model = Path(__file__).resolve().parent / "shop.json"


def make_newer_model(folder):
    """A version without the lists, in which the name of an item is its title and each item has an owner."""
    item = json.loads(model.read_text())["entities"][1]
    item["properties"] = [
        {**part, "name": "title", "renamingIdentifier": "name"} if part["name"] == "name" else part
        for part in item["properties"] if part["kind"] == "attribute"
    ] + [{"kind": "attribute", "name": "owner", "type": "string", "default": "nobody"}]
    newer = folder / "newer.json"
    newer.write_text(json.dumps({"format": 1, "entities": [item]}))
    return newer


def item(number):
    return (f'<object type="ITEM" id="z{110 + number}"><attribute name="name" type="string">item {number}</attribute>'
            f'<attribute name="count" type="int16">{number}</attribute><attribute name="isdone" type="bool">0</attribute>'
            '<relationship name="list" type="1/1" destination="LIST" idrefs="z102"></relationship></object>')


def make_stores(heartwood, folder):
    """Two lists, the first of which has three items."""
    first = folder / "shop.xml"
    references = " ".join(f"z{110 + number}" for number in range(1, 4))
    first.write_text(
        '<?xml version="1.0" standalone="yes"?>\n<!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">\n'
        "<database><databaseInfo><version>134481920</version><UUID>D35CF030-1EC1-4667-9666-70C8247A1010</UUID>"
        '<nextObjectID>120</nextObjectID><metadata><plist version="1.0"><dict/></plist></metadata></databaseInfo>'
        '<object type="LIST" id="z102"><attribute name="name" type="string">home</attribute>'
        f'<relationship name="items" type="0/0" destination="ITEM" idrefs="{references}"></relationship></object>'
        '<object type="LIST" id="z103"><attribute name="name" type="string">work</attribute></object>'
        + "".join(map(item, range(1, 4))) + "</database>\n")
    for path in folder.glob("*.backup"):
        path.unlink()
    for ending in ["heartwood", "sqlite"]:
        subprocess.run([heartwood, "convert", first, folder / f"shop.{ending}", "--model", model, "--force"], check=True, capture_output=True)
    return [folder / f"shop.{ending}" for ending in ["xml", "heartwood", "sqlite"]]


class Shop:
    """A store in the browser."""

    def __init__(self, heartwood, browser, base, index, store):
        self.heartwood, self.browser, self.base, self.index, self.store = heartwood, browser, base, index, store
        self.driver, self.name = browser.driver, store.suffix[1:]

    def stored(self, entity, condition):
        """What another process finds in the store."""
        run = subprocess.run([self.heartwood, "fetch", self.store, entity, "--where", condition, "--model", model, "--format", "json"], check=True, capture_output=True, text=True)
        return [json.loads(line) for line in run.stdout.splitlines()]

    def elsewhere(self, condition, *values):
        """Changes the store in another process."""
        command = [self.heartwood, "edit", self.store, "--entity", "Item", "--where", condition, "--model", model, "--no-backup"]
        subprocess.run(command + [part for value in values for part in ("--set", value)], check=True, capture_output=True)

    def wait(self, condition, what):
        """Waits, also while the page is made anew."""
        def holds(_):
            try:
                return condition()
            except (StaleElementReferenceException, StopIteration, IndexError):
                return False
        return self.browser.wait(holds, f"{self.name}: {what}")

    def status(self):
        return self.browser.texts("#edits output")[0]

    def press(self, label):
        """Clicks the button with a label in the bar."""
        script = "const node = [...document.querySelectorAll('#edits button')].find((node) => node.textContent === arguments[0] && !node.disabled); node?.click(); return node !== undefined"
        self.wait(lambda: self.driver.execute_script(script, label), f"the button {label}")

    def open(self, entity, label):
        self.driver.get(f"{self.base}#/{self.index}/entity/{entity}?sort=name")
        self.wait(lambda: any(label in row for row in self.browser.texts(".row")), f"the row of {label}")
        place = next(place for place, row in enumerate(self.browser.texts(".row")) if label in row)
        self.browser.click(".row", place)
        self.wait(lambda: self.browser.texts("main h2")[:1] == [label], f"the record {label}")

    def field(self, name):
        return self.driver.find_element(By.ID, f"value-{name}")

    def click(self, find):
        """Clicks an element away from the bar, which covers the end of the window."""
        def clicked():
            self.driver.execute_script("arguments[0].scrollIntoView({ block: 'center' })", find())
            find().click()
            return True
        self.wait(clicked, "something to click")

    def write(self, name, text):
        """Types in place of what is there, as a person does: clearing a field would be a change of its own."""
        self.field(name).send_keys(Keys.CONTROL, "a", Keys.NULL, text, Keys.TAB)

    def row(self, name):
        return next(row for row in self.browser.all(".values tr") if row.find_element(By.TAG_NAME, "th").text.startswith(name))

    def choose(self, name, label):
        """Takes a record from the dialog of a relationship."""
        self.click(lambda: self.row(name).find_element(By.CSS_SELECTOR, "button.choose"))
        self.wait(lambda: label in self.browser.texts("dialog .choices button"), f"{label} among the choices of {name}")
        search = self.driver.find_element(By.CSS_SELECTOR, "dialog input")
        search.send_keys(label)
        self.wait(lambda: self.browser.texts("dialog .choices button") == [label], f"{label} alone among the choices")
        self.browser.check(f"{self.name}-choose")
        self.browser.click("dialog .choices button")
        self.wait(lambda: label in self.row(name).text, f"{label} at {name}")


def change(shop):
    """Values with their rules, undo and redo."""
    shop.open("Item", "item 1")
    shop.wait(lambda: shop.status().startswith("No unsaved changes."), "nothing is unsaved")
    assert "at most 99" in shop.row("count").text
    shop.write("count", "100")
    shop.wait(lambda: "is above the greatest value, 99." in shop.row("count").text, "the rule at the field")
    assert shop.field("count").get_attribute("aria-invalid") == "true"
    shop.browser.check(f"{shop.name}-rule", refused=True)
    shop.write("count", "42")
    shop.wait(lambda: shop.status().startswith("1 record is not saved."), "one change")
    assert shop.field("count").get_attribute("aria-invalid") == "false"
    shop.write("memo", HOSTILE)
    shop.wait(lambda: "unsaved" in shop.row("memo").find_element(By.TAG_NAME, "th").get_attribute("class"), "a mark at the value")
    shop.browser.check(f"{shop.name}-changed")
    shop.press("Undo")
    shop.wait(lambda: shop.field("memo").get_attribute("value") == "" and shop.field("count").get_attribute("value") == "42", "the last step is undone")
    shop.click(lambda: shop.driver.find_element(By.CSS_SELECTOR, "main h2"))
    ActionChains(shop.driver).key_down(Keys.CONTROL).key_down(Keys.SHIFT).send_keys("z").key_up(Keys.SHIFT).key_up(Keys.CONTROL).perform()
    shop.wait(lambda: shop.field("memo").get_attribute("value") == HOSTILE.replace("\r", ""), "the step is done again")
    assert shop.stored("Item", "count == 42") == [], "something was written before the save"


def add(shop):
    """A new record, with what it lacks at the save, and its relationships."""
    shop.driver.get(f"{shop.base}#/{shop.index}/entity/Item?sort=name")
    shop.wait(lambda: "changed, not saved" in " ".join(shop.browser.texts(".row")), "the mark of a changed record")
    shop.browser.check(f"{shop.name}-table")
    script = "[...document.querySelectorAll('main form button')].find((node) => node.textContent === 'Add').click()"
    shop.driver.execute_script(script)
    shop.wait(lambda: "new, not saved" in shop.driver.find_element(By.TAG_NAME, "main").text, "the new record")
    shop.press("Save")
    shop.wait(lambda: "Item.name is required and has no value." in " ".join(shop.browser.texts(".faults li")), "what keeps it from being saved")
    shop.browser.check(f"{shop.name}-faults", refused=True)
    shop.browser.click(".faults a")
    shop.wait(lambda: shop.browser.all("#value-name"), "the record with the fault")
    shop.write("name", "brand new")
    shop.choose("list", "work")
    shop.choose("fans", "work")
    shop.open("List", "work")
    assert "brand new" in shop.row("items").text
    shop.choose("favourites", "item 3")
    shop.click(lambda: shop.row("favourites").find_element(By.CSS_SELECTOR, "button[aria-label='Move item 3 up']"))
    shop.wait(lambda: shop.row("favourites").text.index("item 3") < shop.row("favourites").text.index("brand new"), "the order")
    shop.browser.check(f"{shop.name}-relationships")


def remove(shop):
    """What a deletion takes along is said before, and it can be undone."""
    shop.open("List", "home")
    shop.browser.click("main .bar button")
    shop.wait(lambda: len(shop.browser.texts("dialog .cascade li")) == 3, "the records that are deleted too")
    shop.browser.check(f"{shop.name}-delete")
    shop.browser.click("dialog button.main")
    shop.wait(lambda: len(shop.browser.texts(".row")) == 1, "the list is gone from the table")
    shop.press("Undo")
    shop.wait(lambda: len(shop.browser.texts(".row")) == 2, "the list is back")
    shop.press("Review")
    shop.wait(lambda: len(shop.browser.all(".change")) >= 3, "the unsaved changes")
    assert HOSTILE in " ".join(shop.browser.texts(".change td"))
    shop.browser.check(f"{shop.name}-changes")


def save(shop):
    shop.press("Save")
    shop.wait(lambda: shop.status().startswith("Saved. Backup:"), "the place of the backup")
    assert Path(f"{shop.store}.backup").exists()
    assert shop.stored("Item", "name == 'item 1'")[0]["memo"] == HOSTILE
    favourites = shop.stored("List", "name == 'work'")[0]["favourites"]
    assert favourites == [record["$id"] for name in ["item 3", "brand new"] for record in shop.stored("Item", f"name == '{name}'")], favourites
    shop.driver.refresh()
    shop.open("Item", "item 1")
    assert shop.field("count").get_attribute("value") == "42" and shop.field("memo").get_attribute("value") == HOSTILE


def conflict(shop):
    """Others change what is changed here: both are shown, and a choice is made for a record, and for the values of another."""
    for number in [2, 3]:
        shop.open("Item", f"item {number}")
        shop.write("memo", f"mine {number}")
        shop.wait(lambda: shop.status().startswith(f"{number - 1} record"), "a change here")
    shop.open("Item", "item 2")
    shop.write("count", "55")
    shop.wait(lambda: "unsaved" in shop.row("count").find_element(By.TAG_NAME, "th").get_attribute("class"), "a second change of a record")
    shop.elsewhere("name == 'item 2' OR name == 'item 3'", "memo=theirs", "count=7")
    shop.click(lambda: shop.driver.find_element(By.CSS_SELECTOR, "main h2"))
    ActionChains(shop.driver).key_down(Keys.CONTROL).send_keys("s").key_up(Keys.CONTROL).perform()
    shop.wait(lambda: len(shop.browser.all(".conflicts .conflict")) == 2, "the records in conflict")
    cells = shop.browser.texts(".conflicts td")
    assert "theirs" in cells and {"mine 2", "mine 3"} & set(cells), cells
    shop.browser.check(f"{shop.name}-conflict", refused=True)
    for place, legend in enumerate(shop.browser.texts(".conflicts h3")):
        if "item 2" in legend:
            shop.browser.click(f"input[name=choice-{place}][value=theirs]")
            shop.browser.click(f"input[name=choice-{place}-memo][value=mine]")
            assert not shop.browser.all(f"input[name=choice-{place}]:checked"), "a record has a choice beside those of its values"
        else:
            shop.browser.click(f"input[name=choice-{place}][value=theirs]")
    shop.browser.check(f"{shop.name}-choices")
    shop.browser.click(".conflicts button.main:last-child")
    shop.wait(lambda: shop.status().startswith("Saved."), "the save with the choices")
    memos = {record["name"]: (record["memo"], record["count"]) for record in shop.stored("Item", "name BEGINSWITH 'item'")}
    assert memos["item 2"] == ("mine 2", 7) and memos["item 3"] == ("theirs", 7), memos


def discard(shop):
    shop.open("Item", "item 1")
    shop.write("memo", "not to be kept")
    shop.wait(lambda: shop.status().startswith("1 record"), "a change to discard")
    shop.press("Discard")
    shop.browser.click("dialog button.main")
    shop.wait(lambda: shop.field("memo").get_attribute("value") == HOSTILE, "the saved value")


def migration(shop):
    """What a newer model would do to the records."""
    shop.driver.get(f"{shop.base}#/{shop.index}/migration")
    shop.wait(lambda: "cannot be migrated" in shop.browser.texts("main [role=status]")[0], "the dry run of a migration")
    rows = [row.split("\n") for row in shop.driver.execute_script("return [...document.querySelectorAll('tbody tr')].map(row => [...row.cells].map(cell => cell.textContent).join('\\n'))")]
    assert ["List", "–", "removed", "2", "0"] in rows, rows
    assert any(row[0].startswith("List: 2 records left out") and row[1] == "only with --allow-loss" for row in rows), rows
    assert any(row[:2] == ["Item.title", "renamed"] for row in rows), rows
    shop.browser.check(f"{shop.name}-migration")


def main(heartwood, folder):
    folder.mkdir(parents=True, exist_ok=True)
    stores = make_stores(heartwood, folder)
    tool = subprocess.Popen([heartwood, "browse", *stores, "--model", model, "--to-model", make_newer_model(folder), "--write", "--no-open"], stdout=subprocess.PIPE, text=True)
    try:
        address = tool.stdout.readline().strip()
        base = address.split("#")[0]
        browser = Browser(folder)
        browser.driver.get(address)
        browser.wait(lambda _: len(browser.all("section h2")) == len(stores), "all stores")
        for index, store in enumerate(stores):
            shop = Shop(heartwood, browser, base, index, store)
            for step in [change, add, remove, save, conflict, discard, migration]:
                step(shop)
        browser.driver.quit()

        phone = Browser(folder, ["--force-dark-mode"], size=(420, 800))
        phone.driver.get(address)
        phone.wait(lambda _: phone.all("section"), "a narrow page")
        shop = Shop(heartwood, phone, base, 0, stores[0])
        shop.open("Item", "item 1")
        phone.check_narrow("narrow-record")
        phone.driver.quit()
    finally:
        tool.send_signal(signal.SIGINT)
        tool.wait(30)
    print(f"edited {len(stores)} types of stores, pictures in {folder}")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
