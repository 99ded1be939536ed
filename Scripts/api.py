"""Lists the public declarations of modules as text, from their symbol graphs.

Usage: api.py GRAPHS DESTINATION MODULE...

A line is one declaration with its full name, so that each line of a difference can be read alone. Names that begin with an underscore,
what the compiler copies from protocols into types, and the witnesses that a conformance implies are left out.
"""

import glob
import json
import os
import sys

HEADER = """\
# The public API of {}. `Scripts/api --update` writes this file, and `Scripts/api` compares it with the sources.
# A requirement of a protocol that has a default implementation is listed twice, once without the word "requirement".

"""
# Nearly every type has these. They say nothing about it.
IMPLICIT = {"Copyable", "Escapable", "SendableMetatype"}
# The members that a conformance implies, whether the compiler makes them or the sources have them.
WITNESSES = {
    "Equatable": {"==(_:_:)"},
    "Hashable": {"hash(into:)", "hashValue"},
    "Encodable": {"encode(to:)"},
    "Decodable": {"init(from:)"},
}


class Module:
    """The symbols of one module, with what it adds to the types of others."""

    def __init__(self, folder, name):
        self.symbols, self.relationships = [], []
        for path in sorted(glob.glob(os.path.join(folder, f"{name}*.symbols.json"))):
            if os.path.basename(path).split(".")[0].split("@")[0] != name:
                continue
            with open(path) as file:
                graph = json.load(file)
            self.symbols += graph["symbols"]
            self.relationships += graph["relationships"]


def identifier(symbol):
    return symbol["identifier"]["precise"]


def constraints(items):
    """Generic constraints as Swift writes them after `where`."""
    relations = {"sameType": " == "}
    return ", ".join(sorted({i["lhs"] + relations.get(i["kind"], " : ") + i["rhs"] for i in items or []}))


def names_of_types(modules):
    """The name of each type by its identifier; of types of other packages, those that have a member here."""
    names = {}
    for module in modules.values():
        symbols = {identifier(symbol): symbol for symbol in module.symbols}
        names.update((key, ".".join(symbol["pathComponents"])) for key, symbol in symbols.items())
        for relation in module.relationships:
            if relation["kind"] == "memberOf" and relation["source"] in symbols:
                owner = symbols[relation["source"]]["pathComponents"][:-1]
                names.setdefault(relation["target"], ".".join(owner))
    return names


def parents(module, names):
    """The superclass and the protocols of each type, by the type's identifier, with the constraints of the conformance."""
    found = {}
    for relation in module.relationships:
        if relation["kind"] not in ("conformsTo", "inheritsFrom"):
            continue
        target = relation["target"]
        name = names.get(target) or relation.get("targetFallback", target).split(".")[-1]
        if name in IMPLICIT or name.startswith("_"):
            continue
        where = constraints(relation.get("swiftConstraints"))
        # A superclass is written first.
        order = (relation["kind"] == "conformsTo", name)
        found.setdefault(relation["source"], set()).add((where, order))
    return found


def declaration(symbol):
    """The declaration with the full name of what it declares."""
    path = symbol["pathComponents"]
    text, named = "", False
    for fragment in symbol["declarationFragments"]:
        spelling = fragment["spelling"]
        if not named and fragment["kind"] == "identifier":
            spelling, named = ".".join(path[:-1] + [spelling]), True
        elif not named and fragment["kind"] == "keyword" and spelling in ("init", "subscript"):
            spelling, named = ".".join(path[:-1] + [spelling]), True
        text += spelling
    text = " ".join(text.split())
    if symbol["accessLevel"] == "open":
        text = "open " + text
    for availability in symbol.get("availability", []):
        if availability.get("isUnconditionallyDeprecated"):
            text = "@available(*, deprecated) " + text
        if availability.get("isUnconditionallyUnavailable"):
            text = "@available(*, unavailable) " + text
    return text


def is_listed(symbol, types, implied):
    path = symbol["pathComponents"]
    if "::SYNTHESIZED::" in identifier(symbol) or any(part.startswith("_") for part in path):
        return False
    return path[-1] not in implied.get(types.get(identifier(symbol)), ())


def lines(module, names):
    conformances = parents(module, names)
    members = {r["source"]: r["target"] for r in module.relationships if r["kind"] in ("memberOf", "requirementOf")}
    requirements = {r["source"] for r in module.relationships if r["kind"] == "requirementOf"}
    implied = {
        key: set().union(*(WITNESSES.get(name, set()) for _, (_, name) in of)) for key, of in conformances.items()
    }
    # The declaration of a protocol names those that it refines.
    protocols = {identifier(symbol) for symbol in module.symbols if symbol["kind"]["identifier"] == "swift.protocol"}
    entries = set()
    for symbol in module.symbols:
        if not is_listed(symbol, members, implied):
            continue
        path = symbol["pathComponents"]
        notes = ["requirement"] if identifier(symbol) in requirements else []
        where = constraints(symbol.get("swiftExtension", {}).get("constraints"))
        notes += ["where " + where] if where else []
        text = declaration(symbol) + ("  // " + ", ".join(notes) if notes else "")
        entries.add((tuple(path), False, text))
    for key, of in conformances.items():
        name = names.get(key, key)
        if key in protocols or any(part.startswith("_") for part in name.split(".")):
            continue
        for where in {where for where, _ in of}:
            supertypes = ", ".join(parent for condition, (_, parent) in sorted(of) if condition == where)
            text = f"extension {name} : {supertypes}" + (" where " + where if where else "")
            entries.add((tuple(name.split(".")), True, text))
    return [text for _, _, text in sorted(entries)]


def main(folder, destination, *names):
    modules = {name: Module(folder, name) for name in names}
    types = names_of_types(modules)
    os.makedirs(destination, exist_ok=True)
    for name, module in modules.items():
        with open(os.path.join(destination, name + ".txt"), "w") as file:
            file.write(HEADER.format(name) + "".join(line + "\n" for line in lines(module, types)))


if __name__ == "__main__":
    main(*sys.argv[1:])
