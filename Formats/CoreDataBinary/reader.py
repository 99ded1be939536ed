#!/usr/bin/env python3
"""Reads binary stores of Core Data that hold their model by README.md alone, with Python's plistlib: prints each record as a line of JSON.

    reader.py FILE          the records
    reader.py --check FILE  nothing but what is wrong; the status is 1 then
"""

import base64
import datetime
import decimal
import json
import pathlib
import plistlib
import struct
import sys
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Model"))
from model import Model, expect, run  # noqa: E402

EPOCH = datetime.datetime(2001, 1, 1)


class Archive:
    """A keyed archive: objects that lead to each other by number."""

    def __init__(self, data):
        root = plistlib.loads(data, fmt=plistlib.FMT_BINARY)
        expect(root["$archiver"] == "NSKeyedArchiver", "it is no keyed archive")
        self.objects, self.top = root["$objects"], root["$top"]

    def value(self, value):
        if isinstance(value, plistlib.UID):
            value = self.objects[value.data]
        return None if value == "$null" else value

    def name(self, value):
        return self.value(value["$class"])["$classname"] if isinstance(value, dict) else None

    def items(self, value):
        return [self.value(item) for item in self.value(self.value(value)["NS.objects"])]

    def pairs(self, value):
        value = self.value(value)
        keys = [self.plain(key) for key in self.value(value["NS.keys"])]
        return dict(zip(keys, self.items(value)))

    def plain(self, value):
        """A text, data or number, whether it may be changed or not."""
        value = self.value(value)
        if self.name(value) in ("NSMutableString", "NSString"):
            return self.value(value["NS.string"])
        if self.name(value) in ("NSMutableData", "NSData"):
            return self.value(value["NS.data"])
        return None if self.name(value) == "NSNull" else value


def parts(path):
    with open(path, "rb") as file:
        data = file.read()
    expect(data[:8] == b"CoreData", "it does not begin as a binary store")
    version, _, *numbers = struct.unpack(">II6Q", data[8:64])
    expect(version == 1, "it is of another version")
    places = [numbers[0:2], numbers[2:4]]
    for start, count in places:
        expect(64 <= start and start + count <= len(data), "a part lies outside of the file")
    return [Archive(data[start : start + count]) for start, count in places]


def layout(model, name):
    """The attributes by position: those of the topmost entity by name, and so on."""
    entity = model.entities[name]
    above = layout(model, entity["parent"]) if "parent" in entity else []
    own = [each for each in entity.get("properties", []) if each["kind"] == "attribute" and not each.get("transient")]
    return above + sorted(own, key=lambda each: each["name"].encode())


def number(value):
    if value != value:
        return "nan"
    if value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    return float(value)


def date(seconds):
    value = EPOCH + datetime.timedelta(seconds=seconds)
    fraction = f".{value.microsecond:06}".rstrip("0") if value.microsecond else ""
    return value.strftime("%Y-%m-%dT%H:%M:%S") + fraction + "Z"


def exact(value, archive):
    units = archive.value(value["NS.mantissa"])
    digits = int.from_bytes(units, "little" if archive.value(value["NS.mantissa.bo"]) == 1 else "big")
    if digits == 0 and value["NS.negative"]:
        return "nan"
    with decimal.localcontext() as context:
        context.prec = 50
        found = decimal.Decimal(-digits if value["NS.negative"] else digits).scaleb(value["NS.exponent"])
        return format(found, "f")


def attribute(value, kind, archive):
    if kind == "boolean":
        return bool(value)
    if kind in ("double", "float"):
        return number(value)
    if kind == "date":
        return date(archive.value(value["NS.time"]))
    if kind in ("binary", "transformable"):
        return base64.b64encode(archive.plain(value)).decode()
    if kind == "decimal":
        return exact(value, archive)
    if kind == "uuid":
        return str(uuid.UUID(bytes=archive.value(value["NS.uuidbytes"]))).upper()
    if kind == "uri":
        return archive.value(value["NS.relative"])
    return archive.plain(value)


def lines(path):
    metadata, records = parts(path)
    model = Model(metadata.plain(metadata.pairs(metadata.top["metadata"])["HeartwoodModel"]))
    nodes = records.pairs(records.top["mapData"])
    names = {key: str(records.value(node.get("HeartwoodReference", key))) for key, node in nodes.items()}
    for missing in records.items(records.top["HeartwoodMissingRecords"]) if "HeartwoodMissingRecords" in records.top else []:
        key, _, name = records.items(missing)
        names[key] = str(name)
    for entity in model.names:
        for key, node in nodes.items():
            if records.value(node["NSEntityName"]) == entity:
                yield line(entity, key, node, model, names, records)


def line(entity, key, node, model, names, archive):
    expect(node["NSPrimaryKey64"] == key, "a record has two keys")
    attributes = layout(model, entity)
    values = archive.items(node["NSAttributeValues"])
    links = archive.pairs(node["NSRelatedNodes"]) if "NSRelatedNodes" in node else {}
    found = {each["name"]: archive.plain(value) for each, value in zip(attributes, values)}
    result = {"$entity": entity, "$id": names[key]}
    for each in model.stored(entity):
        name = each["name"]
        if each["kind"] == "attribute":
            result[name] = None if found[name] is None else attribute(found[name], each["type"], archive)
        else:
            targets = [names.get(target, str(target)) for target in archive.items(links[name])] if name in links else []
            result[name] = targets if each.get("toMany") else targets[0] if targets else None
    return json.dumps(result, ensure_ascii=False, separators=(",", ":"))


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:], lines))
