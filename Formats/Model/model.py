"""What the readers of formats with a model have in common: the model (Formats/Model), and how they tell what is in a file, or what is wrong."""

import json
import sys


class Malformed(Exception):
    pass


def expect(condition, what):
    if not condition:
        raise Malformed(what)


def run(arguments, read):
    """Prints the lines that `read` makes of the file that is named last, or with --check nothing. A fault may have a place."""
    path = arguments[-1]
    try:
        lines = list(read(path))
    except Exception as error:
        print(f"{path}{getattr(error, 'place', '')}: {error or type(error).__name__}", file=sys.stderr)
        return 1
    if arguments[:1] != ["--check"]:
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")
        for each in lines:
            print(each)
    return 0


class Model:
    """The model that a file holds: Formats/Model."""

    def __init__(self, text):
        entities = json.loads(text)["entities"]
        self.names = [entity["name"] for entity in entities]
        self.entities = {entity["name"]: entity for entity in entities}

    def properties(self, name):
        entity = self.entities[name]
        inherited = self.properties(entity["parent"]) if "parent" in entity else []
        return inherited + entity.get("properties", [])

    def stored(self, name):
        stored = [each for each in self.properties(name) if not each.get("transient")]
        return [each for each in stored if each["kind"] == "attribute"] + [
            each for each in stored if each["kind"] != "attribute"
        ]

    def under(self, name):
        found = [other for other in self.names if self.is_kind(other, name)]
        return [other for other in found if not self.entities[other].get("abstract")]

    def is_kind(self, name, other):
        while name != other and name is not None:
            name = self.entities[name].get("parent")
        return name == other
