"""Prints the coverage in a report of llvm-cov by module, and the uncovered lines of the store layer and the formats.

Usage: coverage.py REPORT ROOT
"""

import collections
import json
import os
import sys

LISTED = ("HeartwoodStore", "HeartwoodFormats")


def uncovered_lines(file):
    """Returns the lines of regions that were not executed."""
    lines = set()
    segments = file["segments"]
    for (line, _, count, has_count, _, is_gap), following in zip(segments, segments[1:]):
        if has_count and count == 0 and not is_gap:
            last = following[0] if following[1] > 1 else following[0] - 1
            lines.update(range(line, last + 1))
    return sorted(lines)


def ranges(lines):
    """Returns text in which consecutive numbers are combined in ranges."""
    groups = []
    for line in lines:
        if groups and groups[-1][1] == line - 1:
            groups[-1][1] = line
        else:
            groups.append([line, line])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in groups)


def main(report, root):
    with open(report) as file:
        files = json.load(file)["data"][0]["files"]
    sources = os.path.join(os.path.realpath(root), "Sources") + os.sep
    modules = collections.defaultdict(lambda: [0, 0, 0, 0])
    listed = []
    for file in files:
        path = os.path.realpath(file["filename"])
        if not path.startswith(sources):
            continue
        name = path[len(sources):]
        summary = file["summary"]
        module = modules[name.split(os.sep)[0]]
        for place, kind in enumerate(("lines", "regions")):
            module[2 * place] += summary[kind]["covered"]
            module[2 * place + 1] += summary[kind]["count"]
        if name.split(os.sep)[0] in LISTED:
            lines = uncovered_lines(file)
            if lines:
                listed.append((name, lines))
    print("| module | lines | reached | regions | reached |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, (lines, line_count, regions, region_count) in sorted(modules.items()):
        print(
            f"| {name} | {line_count} | {100 * lines / max(1, line_count):.1f} % "
            f"| {region_count} | {100 * regions / max(1, region_count):.1f} % |"
        )
    print()
    for name, lines in sorted(listed):
        print(f"{name}: {ranges(lines)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
