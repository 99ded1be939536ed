"""Changes the symbol graphs of several modules to those of a single module.

Usage: documentation.py FOLDER DESTINATION NAME MODULE...
"""

import json
import os
import sys


def main(folder, destination, name, *modules):
    for file in sorted(os.listdir(folder)):
        parts = file.removesuffix(".symbols.json").split("@")
        if parts[0] not in modules:
            continue
        with open(os.path.join(folder, file)) as source:
            graph = json.load(source)
        graph["module"]["name"] = name
        # An extension of one of the modules no longer extends another module.
        separator = "_" if len(parts) > 1 and parts[1] in modules else "@"
        with open(os.path.join(destination, separator.join(parts) + ".symbols.json"), "w") as target:
            json.dump(graph, target)


if __name__ == "__main__":
    main(*sys.argv[1:])
