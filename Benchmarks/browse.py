"""Times the pages of `heartwood browse` beside those of Datasette and sqlite-web, over the same to-dos: python3 browse.py HEARTWOOD [COUNT]

The peers are asked for what their own pages ask for; they are left out if they are not installed (pip install datasette sqlite-web). Each figure is the
median of nine requests in turn, after one that is not counted. If Selenium and chromedriver are installed, the table is dragged from its beginning to its
end and back in headless Chromium, and the longest time between two frames is told.
"""

import http.client
import json
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
from pathlib import Path

MODEL = Path(__file__).resolve().parents[1] / "Examples/ToDo/ToDo.xcdatamodeld/ToDo.xcdatamodel"
WORDS = "tea milk bread letter garden window river clock paper lamp".split()
ROUNDS = 9


def write_csv(path, count):
    with open(path, "w") as file:
        file.write("#D35CF030-1EC1-4667-9666-70C8247A1010\n")
        for n in range(count):
            memo = f"{WORDS[n % 10]} {WORDS[n // 10 % 10]} {n}"
            file.write(f"{n % 3 == 0:d}, {memo}, {n * 7919 % count}, 2016-09-17 18:{n // 60 % 60:02}:{n % 60:02} +0000, 00000000-0000-4000-8000-{n:012X}\n")


class Server:
    def __init__(self, command, port, ready):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.port = port
        self.headers = ready(self) or {}

    def ask(self, path, question=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        headers = dict(self.headers)
        if question is not None:
            headers["Content-Type"] = "application/json"
        start = time.perf_counter()
        connection.request("GET" if question is None else "POST", path, None if question is None else json.dumps(question), headers)
        answer = connection.getresponse()
        content = answer.read()
        took = time.perf_counter() - start
        connection.close()
        assert answer.status == 200, (path, answer.status, content[:300])
        return took * 1000, content

    def time(self, path, question=None, rounds=ROUNDS):
        self.ask(path, question)
        return statistics.median(self.ask(path, question)[0] for _ in range(rounds))

    def memory(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"RssAnon:\s+(\d+)", status)[1]) / 1024

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)


def take_token(server):
    server.port, token = re.search(r":(\d+)/#t=(\S+)", server.process.stdout.readline()).groups()
    server.port = int(server.port)
    return {"Authorization": f"Bearer {token}"}


def wait_for_port(server):
    for _ in range(200):
        try:
            http.client.HTTPConnection("127.0.0.1", server.port, timeout=5).connect()
            return {}
        except OSError:
            time.sleep(0.1)
    raise SystemExit("A server does not start.")


def heartwood(tool, store, count):
    server = Server([tool, "browse", store, "--no-open"], 0, take_token)
    rows = "/api/stores/0/rows"
    found = {"entity": "ToDo", "condition": "done == YES AND memo CONTAINS 'tea'", "sort": [{"key": "sortOrder"}]}
    result = {
        "first page, 100 rows": server.time(rows, {"entity": "ToDo"}),
        "100 rows in the middle": server.time(rows, {"entity": "ToDo", "from": count // 2}),
        "done and memo contains tea, sorted": server.time(rows, found),
        "values of done": server.time("/api/stores/0/values", {"entity": "ToDo", "column": "done"}),
        "export of all as CSV": server.time("/api/stores/0/export", {"format": "csv", "records": {"entity": "ToDo"}}, rounds=3),
    }
    result["memory that is the process's own, MB"] = server.memory()
    result["longest frame while the table is dragged"] = longest_frame(server)
    server.stop()
    return result


DRAG = """
const done = arguments[0], grid = document.querySelector(".grid"), steps = 600, times = [];
let step = 0, last = performance.now();
function move(now) {
  if (step > 0) times.push(now - last);
  last = now;
  // There and back, at a speed that changes.
  grid.scrollTop = (grid.scrollHeight - grid.clientHeight) * (1 - Math.cos(2 * Math.PI * step / steps)) / 2;
  step += 1;
  if (step <= steps) requestAnimationFrame(move); else done(times);
}
requestAnimationFrame(move);
"""


def longest_frame(server):
    """Milliseconds; None if there is no browser to try it in."""
    try:
        from selenium import webdriver
        from selenium.webdriver.support.ui import WebDriverWait
    except ImportError:
        return None
    if not shutil.which("chromedriver"):
        return None
    options = webdriver.ChromeOptions()
    for argument in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1280,860"]:
        options.add_argument(argument)
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        base = f"http://127.0.0.1:{server.port}/"
        driver.get(f"{base}#t={server.headers['Authorization'].removeprefix('Bearer ')}")
        WebDriverWait(driver, 30).until(lambda driver: driver.find_elements("css selector", "section"))
        driver.get(f"{base}#/0/entity/ToDo")
        WebDriverWait(driver, 60).until(lambda driver: driver.find_elements("css selector", ".row .cell.number"))
        driver.set_script_timeout(120)
        times = driver.execute_async_script(DRAG)
        return max(times)
    finally:
        driver.quit()


def datasette(database, count):
    server = Server(["datasette", database, "-p", "8301", "--setting", "sql_time_limit_ms", "60000", "--setting", "facet_time_limit_ms", "60000"], 8301, wait_for_port)
    table = f"/{Path(database).stem}/ZTODO"
    where = urllib.parse.urlencode({"ZDONE": 1, "ZMEMO__contains": "tea", "_sort": "ZSORTORDER"})
    result = {
        "first page, 100 rows": server.time(table, rounds=3),
        "done and memo contains tea, sorted": server.time(f"{table}?{where}", rounds=3),
        "values of done": server.time(f"{table}?_facet=ZDONE&_size=1", rounds=3),
        "export of all as CSV": server.ask(f"{table}.csv?_stream=on&_size=max")[0] if count <= 1_000_000 else None,
    }
    result["memory that is the process's own, MB"] = server.memory()
    server.stop()
    return result


def sqlite_web(database, count):
    server = Server(["sqlite_web", "-p", "8302", "-x", "-r", database], 8302, wait_for_port)
    result = {
        "first page, 100 rows": server.time("/ZTODO/content/"),
        "100 rows in the middle": server.time(f"/ZTODO/content/?page={count // 100}"),
    }
    result["memory that is the process's own, MB"] = server.memory()
    server.stop()
    return result


def main(tool, count):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        write_csv(folder / "todo.csv", count)
        for name in ["todo.heartwood", "todo.sqlite"]:
            subprocess.run([tool, "convert", folder / "todo.csv", folder / name, "--model", MODEL], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        columns = {"browse, binary": heartwood(tool, folder / "todo.heartwood", count), "browse, SQLite": heartwood(tool, folder / "todo.sqlite", count)}
        # The peers cannot read what Core Data keeps beside its tables, and need not.
        if shutil.which("datasette"):
            columns["Datasette"] = datasette(folder / "todo.sqlite", count)
        if shutil.which("sqlite_web"):
            columns["sqlite-web"] = sqlite_web(folder / "todo.sqlite", count)
    print(f"{count:,} to-dos, milliseconds\n\n| case | " + " | ".join(columns) + " |\n| --- |" + " ---: |" * len(columns))
    for case in columns["browse, binary"]:
        figures = [column.get(case) for column in columns.values()]
        print(f"| {case} | " + " | ".join("–" if figure is None else f"{figure:,.1f}" for figure in figures) + " |")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000)
