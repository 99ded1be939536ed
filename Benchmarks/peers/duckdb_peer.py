"""DuckDB's side of the comparison: `import` reads a CSV file of to-dos into a database, `export` writes it out again,
`query` makes a query in memory, and `query-polars` lets polars do it.

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


QUERIES = {
    "filter": "select recordUUID from todo where done and contains(memo, 'tea') order by sortOrder limit 100",
    "group": "select done, sum(sortOrder) from todo group by done",
    "group-many": "select sortOrder, sum(sortOrder) from todo group by sortOrder",
}


def median_of(work):
    """The median duration of 21 calls after one that warms up, and the number of rows of the last."""
    rows = work()
    durations = []
    for _ in range(21):
        started = time.perf_counter()
        rows = work()
        durations.append(time.perf_counter() - started)
    return sorted(durations)[10], rows, {}


def in_memory(arguments):
    """The table in memory, so that no disk is measured."""
    connection = connect(":memory:", arguments.threads)
    connection.execute("attach '{}' as file (read_only)".format(arguments.source.replace("'", "''")))
    connection.execute("create table todo as select * from file.todo")
    return connection


def query_duckdb(arguments):
    connection = in_memory(arguments)
    query = QUERIES[arguments.query]
    return median_of(lambda: len(next(iter(connection.execute(query).fetchnumpy().values()))))


def query_polars(arguments):
    os.environ["POLARS_MAX_THREADS"] = str(arguments.threads)
    import polars

    columns = in_memory(arguments).execute("select done, memo, sortOrder from todo").fetchnumpy()
    frame = polars.DataFrame({name: values.tolist() for name, values in columns.items()}).with_row_index("id")
    matches = polars.col("done") & polars.col("memo").str.contains("tea", literal=True)
    query = frame.lazy().filter(matches).sort("sortOrder").head(100).select("id")
    return median_of(lambda: query.collect().height)


JOBS = {"import": import_csv, "export": export_csv, "query": query_duckdb, "query-polars": query_polars}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("job", choices=[*JOBS, "version"])
    parser.add_argument("source", nargs="?")
    parser.add_argument("destination", nargs="?")
    parser.add_argument("--query", choices=list(QUERIES), default="filter")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    if arguments.job == "version":
        print(duckdb.__version__)
        return
    seconds, rows, details = JOBS[arguments.job](arguments)
    print(json.dumps({"seconds": seconds, "rows": rows, "details": details}))


main()
