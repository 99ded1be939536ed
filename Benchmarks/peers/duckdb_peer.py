"""DuckDB's side of the comparison: `import` reads a CSV file of to-dos into a database, `export` writes it out again.

Prints one JSON object. `seconds` is what the work took from connecting to the closed database: the start of Python
and the import of the module are not in it. DuckDB flushes a database to the disk, but not an exported file.
"""

import argparse
import json
import os
import time

import duckdb

# The fastest way that DuckDB reads this form. Its TIMESTAMP WITH TIME ZONE refuses an offset without minutes or colon.
READ = """
create table todo as select * from read_csv(
  $path, auto_detect = false, header = false, skip = 1, delim = ', ', quote = '"', escape = '"',
  columns = {'done': 'BOOLEAN', 'memo': 'VARCHAR', 'sortOrder': 'INTEGER', 'creationDate': 'TIMESTAMP', 'recordUUID': 'UUID'}
)
"""

WRITE = "copy todo to '{path}' (header false, delimiter ', ')"


def connect(path, threads, read_only=False):
    return duckdb.connect(path, read_only=read_only, config={"threads": threads})


def import_csv(arguments):
    for leftover in (arguments.destination, arguments.destination + ".wal"):
        if os.path.exists(leftover):
            os.remove(leftover)
    started = time.perf_counter()
    connection = connect(arguments.destination, arguments.threads)
    connection.execute(READ, {"path": arguments.source})
    connection.execute("checkpoint")
    rows = connection.execute("select count(*) from todo").fetchone()[0]
    connection.close()
    return time.perf_counter() - started, rows, {}


def export_csv(arguments):
    if os.path.exists(arguments.destination):
        os.remove(arguments.destination)
    started = time.perf_counter()
    connection = connect(arguments.source, arguments.threads, read_only=True)
    rows = connection.execute(WRITE.format(path=arguments.destination.replace("'", "''"))).fetchone()[0]
    connection.close()
    seconds = time.perf_counter() - started
    flush(arguments.destination)
    return seconds, rows, {"and made durable by fsync": time.perf_counter() - started}


def flush(path):
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("job", choices=["import", "export", "version"])
    parser.add_argument("source", nargs="?")
    parser.add_argument("destination", nargs="?")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    if arguments.job == "version":
        print(duckdb.__version__)
        return
    seconds, rows, details = (import_csv if arguments.job == "import" else export_csv)(arguments)
    print(json.dumps({"seconds": seconds, "rows": rows, "details": details}))


main()
