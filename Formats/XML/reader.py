#!/usr/bin/env python3
"""Reads XML stores by README.md alone, with Python's xml.etree: prints each record as a line of JSON.

    reader.py FILE          the records
    reader.py --check FILE  nothing but what is wrong; the status is 1 then
"""

import base64
import datetime
import decimal
import json
import pathlib
import re
import struct
import sys
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Model"))
from model import Malformed, Model, expect, run  # noqa: E402

EPOCH = datetime.datetime(2001, 1, 1)
TYPES = {"int16": "integer16", "int32": "integer32", "int64": "integer64", "bool": "boolean"}
RANGES = {"integer16": 15, "integer32": 31, "integer64": 63}


def unescaped(text):
    def unit(match):
        return "\\" if match[0] == "\\\\" else chr(int(match[0][4:6] + match[0][2:4], 16))

    expect(not re.sub(r"\\\\|\\u[0-9a-fA-F]{4}", "", text).count("\\"), "an escape stands for no character")
    joined = re.sub(r"\\\\|\\u[0-9a-fA-F]{4}", unit, text)
    return joined.encode("utf-16", "surrogatepass").decode("utf-16")


def reference(token):
    """A reference as the text that stands for it in JSON."""
    kind, rest = token[:1], token[1:]
    if kind == "z":
        expect(re.fullmatch("-?[0-9]+", rest), "a reference is no number")
        return rest
    if kind == "u":
        expect(re.fullmatch("[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}", rest), "a reference is no UUID")
        return rest
    expect(kind == "s" and re.fullmatch("([0-9A-Za-z.-]|_[0-9A-F]{2})*", rest), "a reference is none")
    raw = re.sub("_(..)", lambda match: chr(int(match[1], 16)), rest).encode("latin-1")
    string = raw.decode("utf-8")
    looks_like_another = re.fullmatch("-?[0-9]+|[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}|'.*", string, re.S)
    return "'" + string if looks_like_another else string


def number(text, is_float):
    value = float(text)
    if value != value:
        return "nan"
    if value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    if is_float:
        value = struct.unpack("f", struct.pack("f", value))[0]
    return value


def date(text):
    value = EPOCH + datetime.timedelta(seconds=float(text))
    fraction = f".{value.microsecond:06}".rstrip("0") if value.microsecond else ""
    return value.strftime("%Y-%m-%dT%H:%M:%S") + fraction + "Z"


def attribute(text, kind):
    if kind in RANGES:
        expect(re.fullmatch("[-+]?[0-9]+", text), "a value is no integer")
        expect(-(1 << RANGES[kind]) <= int(text) < 1 << RANGES[kind], "an integer is out of range")
        return int(text)
    if kind == "boolean":
        expect(text in ("0", "1"), "a value is no boolean")
        return text == "1"
    if kind in ("double", "float"):
        return number(text, kind == "float")
    if kind == "date":
        return date(text)
    if kind in ("binary", "transformable"):
        return base64.b64encode(base64.b64decode("".join(text.split()), validate=True)).decode()
    if kind == "decimal":
        found = decimal.Decimal(text)
        return "nan" if found.is_nan() else str(found)
    return unescaped(text)


def plist(element):
    if element.tag == "dict":
        children = list(element)
        return {key.text or "": plist(value) for key, value in zip(children[::2], children[1::2])}
    if element.tag == "array":
        return [plist(child) for child in element]
    return element.text or ""


class Store:
    def __init__(self, root):
        expect(root.tag == "database" and root[0].tag == "databaseInfo", "it is no XML store")
        info = root[0]
        expect(info.findtext("version") == "134481920", "the version is another")
        expect(re.fullmatch("[0-9A-F-]{36}", info.findtext("UUID") or ""), "the identifier is no UUID")
        self.model = Model(plist(info.find("metadata/plist/dict"))["HeartwoodModel"])
        self.entities = {name.upper(): name for name in self.model.names}
        self.objects = {name: {} for name in self.model.names}
        for element in root[1:]:
            expect(element.tag == "object", "an element is no object")
            name = self.entities.get(element.get("type"))
            expect(name and not self.model.entities[name].get("abstract"), "the entity is unknown")
            expect(element.get("id") not in self.objects[name], "two objects have the same id")
            self.objects[name][element.get("id")] = element

    def lines(self):
        for name in self.model.names:
            for token, element in self.objects[name].items():
                yield self.line(name, token, element)

    def line(self, name, token, element):
        values = {}
        for child in element:
            expect(child.tag in ("attribute", "relationship"), "an element is no property")
            expect(child.get("name") not in values, "an object has a property twice")
            values[child.get("name")] = child
        result = {"$entity": name, "$id": reference(token)}
        for each in self.model.stored(name):
            result[each["name"]] = self.value(values.pop(each["name"].lower(), None), each)
        expect(not values, "a value has no property")
        return json.dumps(result, ensure_ascii=False, separators=(",", ":"))

    def value(self, child, each):
        if each["kind"] == "attribute":
            if child is None:
                return None
            kind = child.get("type")
            expect(child.tag == "attribute" and TYPES.get(kind, kind) == each["type"], "a value is of another type")
            return attribute(child.text or "", each["type"])
        expect(child is None or child.tag == "relationship", "a value is no relationship")
        tokens = [] if child is None else (child.get("idrefs") or "").split()
        targets = [self.target(token, each["destination"]) for token in tokens]
        if each.get("toMany"):
            return targets
        expect(len(targets) < 2, "a relationship to one object has several")
        return targets[0] if targets else None

    def target(self, token, destination):
        entity, colon, own = token.rpartition(":")
        candidates = self.model.under(destination)
        if colon:
            candidates = [name for name in candidates if name == self.entities.get(entity)]
        expect(candidates, "a relationship leads to no entity with records")
        return reference(own)


def read(path):
    with open(path, "rb") as file:
        return Store(ElementTree.parse(file).getroot()).lines()


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:], read))
