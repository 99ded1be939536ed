#!/usr/bin/env python3
"""Reads property list stores by README.md alone, with Python's plistlib: prints each record as a line of JSON.

    reader.py FILE          the records
    reader.py --check FILE  nothing but what is wrong; the status is 1 then
"""

import base64
import datetime
import decimal
import json
import pathlib
import plistlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Model"))
from model import Malformed, Model, expect, run  # noqa: E402

EPOCH = datetime.datetime(2001, 1, 1)
# From here on numbers of 32 bits would be rounded to infinity.
FLOAT_LIMIT = 2.0**128 - 2.0**103


def text_of(value):
    """A text, which in XML is data where XML cannot hold it."""
    if isinstance(value, bytes):
        value = value.decode("utf-8")
    expect(isinstance(value, str), "a value is no text")
    return value


def reference(value):
    expect(not isinstance(value, (bool, float)), "a reference is neither number nor text")
    return str(value) if isinstance(value, int) else text_of(value)


def target(value, destination, model):
    if isinstance(value, dict):
        expect(set(value) == {"$id", "$entity"}, "a reference has other keys than it should")
        expect(model.is_kind(value["$entity"], destination), "a relationship leads to another entity")
        value = value["$id"]
    return reference(value)


def number(value):
    if isinstance(value, float) and value != value:
        return "nan"
    if value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    return float(value)


def date(value):
    if isinstance(value, float):
        value = EPOCH + datetime.timedelta(seconds=value)
    fraction = f".{value.microsecond:06}".rstrip("0") if value.microsecond else ""
    return value.strftime("%Y-%m-%dT%H:%M:%S") + fraction + "Z"


def attribute(value, kind):
    if kind in ("integer16", "integer32", "integer64"):
        expect(type(value) is int, "a value is no integer")
        return value
    if kind == "boolean":
        expect(type(value) is bool, "a value is no boolean")
        return value
    if kind in ("double", "float"):
        expect(type(value) in (int, float), "a value is no number")
        too_large = kind == "float" and FLOAT_LIMIT <= abs(value) < float("inf")
        expect(not too_large, "a number is out of the range of a float")
        return number(value)
    if kind == "date":
        expect(isinstance(value, (float, datetime.datetime)), "a value is no date")
        return date(value)
    if kind in ("binary", "transformable"):
        expect(isinstance(value, bytes), "a value is no data")
        return base64.b64encode(value).decode()
    if kind == "decimal":
        found = decimal.Decimal(text_of(value))
        return "nan" if found.is_nan() else str(found)
    if kind == "uuid":
        expect(re.fullmatch("[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}", text_of(value)), "a value is no UUID")
    return text_of(value)


def member(value, each, model):
    if each["kind"] == "attribute":
        return None if value is None else attribute(value, each["type"])
    if not each.get("toMany"):
        return None if value is None else target(value, each["destination"], model)
    expect(value is None or isinstance(value, list), "a relationship to many objects is no array")
    return [target(one, each["destination"], model) for one in value or []]


def records(root):
    expect(isinstance(root, dict) and root.get("heartwoodVersion") == 1, "it is no store of version 1")
    expect(set(root) == {"heartwoodVersion", "metadata", "model", "records"}, "the keys are others")
    expect(re.fullmatch("[0-9A-F-]{36}", root["metadata"]["identifier"]), "the identifier is no UUID")
    model = Model(root["model"])
    expect(set(root["records"]) <= set(model.names), "there are records of an unknown entity")
    for name in model.names:
        seen = set()
        for record in root["records"].get(name, []):
            yield line(name, record, model, seen)


def line(name, record, model, seen):
    expect(isinstance(record, dict) and "$id" in record, "a record has no reference")
    properties = model.stored(name)
    expect(set(record) - {"$id"} <= {each["name"] for each in properties}, "a value has no property")
    own = reference(record["$id"])
    expect(own not in seen, "two records have the same reference")
    seen.add(own)
    result = {"$entity": name, "$id": own}
    for each in properties:
        result[each["name"]] = member(record.get(each["name"]), each, model)
    return json.dumps(result, ensure_ascii=False, separators=(",", ":"))


def read(path):
    with open(path, "rb") as file:
        return records(plistlib.load(file))


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:], read))
