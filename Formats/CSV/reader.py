#!/usr/bin/env python3
"""Reads CSV stores by README.md alone: prints each record as a line of JSON. The file does not tell its columns, so a model is given.

    reader.py MODEL FILE          the records; MODEL is of the form of Formats/Model
    reader.py --check MODEL FILE  nothing but the place and what is wrong; the status is 1 then
"""

import base64
import datetime
import decimal
import json
import pathlib
import re
import struct
import sys
import urllib.parse
from fractions import Fraction

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Model"))
from model import Malformed, Model, expect, run  # noqa: E402

UUID = "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
INTEGER = "0|-?[1-9][0-9]*"
NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?"
TWO = "([0-9]{2})"
DATE = rf"([0-9]{{4}})-{TWO}-{TWO}[ T]{TWO}:{TWO}:{TWO}(?:\.([0-9]+))? ?(?:Z|([-+]){TWO}:?{TWO})"
BOOLEANS = {"1": True, "0": False, "true": True, "false": False, "yes": True, "no": False}
RANGES = {"integer16": 15, "integer32": 31, "integer64": 63}
EPOCH = datetime.date(2001, 1, 1).toordinal()
FIRST_DAY, LAST_DAY = datetime.date.min.toordinal(), datetime.date.max.toordinal()


class Misplaced(Exception):
    """What is wrong, and where: an index into the text."""

    def __init__(self, index, what):
        super().__init__(what)
        self.index = index


class Field:
    def __init__(self, index, text, is_quoted):
        self.index = index
        self.text = text
        self.is_quoted = is_quoted

    @property
    def is_nil(self):
        return not self.is_quoted and not self.text


class Lines:
    """The text of a file, as fields."""

    def __init__(self, text, separator=",", has_space=False):
        self.text = text
        self.separator = separator
        self.has_space = has_space

    def line_end(self, index):
        """How many characters of a line's end are there; none where it does not end. The file's end is one, too."""
        if index == len(self.text) or self.text[index] == "\n":
            return 1
        return 2 if self.text.startswith("\r\n", index) else 0

    def without_blank_lines(self, index):
        while index < len(self.text) and self.line_end(index):
            index += self.line_end(index)
        return index

    def record(self, index):
        """The fields of the record there, and where the next line begins."""
        fields = []
        while True:
            if fields and self.has_space and self.text.startswith(" ", index):
                index += 1
            field, index = self.quoted(index) if self.text.startswith('"', index) else self.bare(index)
            fields.append(field)
            if self.line_end(index):
                return fields, index + self.line_end(index)
            index += 1

    def quoted(self, start):
        index = start + 1
        while True:
            index = self.text.find('"', index)
            if index < 0:
                raise Misplaced(start, "the quote is not closed")
            if not self.text.startswith('""', index):
                break
            index += 2
        if not self.line_end(index + 1) and self.text[index + 1] != self.separator:
            raise Misplaced(index + 1, "there is text behind the quote")
        return Field(start, self.text[start + 1 : index].replace('""', '"'), True), index + 1

    def bare(self, start):
        index = start
        while not self.line_end(index) and self.text[index] != self.separator:
            if self.text[index] in '"\r':
                raise Misplaced(index, "a quote or a carriage return is in a field without quotes")
            index += 1
        return Field(start, self.text[start:index], False), index


# Values


def reference(text):
    """A reference as the text that stands for it in JSON: an apostrophe is where a string reads as something else."""
    if re.fullmatch(UUID, text):
        return text.upper()
    if re.fullmatch(INTEGER, text) and -(1 << 63) <= int(text) < 1 << 63:
        return text
    expect(text.startswith("'"), "a reference is neither a UUID nor a number, and no apostrophe makes it a string")
    string = text[1:]
    is_number = re.fullmatch(INTEGER, string) and -(1 << 63) <= int(string) < 1 << 63
    is_uuid = re.fullmatch(UUID, string) and string == string.upper()
    return text if is_number or is_uuid or string.startswith("'") else string


def references(text):
    found = []
    for part in text.split(" "):
        expect(not re.search("%(?![0-9A-Fa-f]{2})", part), "a percent sign stands for no byte")
        if part:
            found.append(reference(urllib.parse.unquote(part, errors="strict")))
    return found


def shortest(value):
    """The double that is written as shortly as the single-precision `value`."""
    texts = (f"{value:.{digits}g}" for digits in range(1, 10))
    return next(float(text) for text in texts if struct.pack("f", float(text)) == struct.pack("f", value))


def number(text, is_float):
    if text in ("nan", "inf", "-inf"):
        return text
    expect(re.fullmatch(NUMBER, text), "a value is no number")
    value = float(text)
    expect(value not in (float("inf"), float("-inf")), "a number is too large")
    if not is_float:
        return value
    try:
        return shortest(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        raise Malformed("a number is too large")


def decimal_number(text):
    if text == "nan":
        return text
    expect(re.fullmatch(NUMBER, text), "a value is no decimal number")
    found = decimal.Decimal(text)
    digits = "".join(map(str, found.as_tuple().digits)).strip("0")
    is_whole = found == found.to_integral_value()
    expect(len(digits) <= 38 or is_whole and int(digits) < 1 << 128, "a decimal number has too many digits")
    return format(found, "f")


def day(year, month, of_month):
    """The number of a day. Python has no year 0, in which one of UTC's year 1 may begin; 400 years have as many days, always."""
    shift = 1 if year < 400 else 0
    try:
        return datetime.date(year + 400 * shift, month, of_month).toordinal() - 146097 * shift
    except ValueError:
        raise Malformed("there is no such day")


def date(text):
    match = re.fullmatch(DATE, text)
    expect(match, "a value is no date")
    found = day(*map(int, match.group(1, 2, 3)))
    hour, minute, second = map(int, match.group(4, 5, 6))
    expect(hour < 24 and minute < 60 and second < 60, "there is no such time")
    hours, minutes = int(match[9] or 0), int(match[10] or 0)
    expect(hours < 24 and minutes < 60, "there is no such offset from UTC")
    offset = (hours * 60 + minutes) * (-1 if match[8] == "-" else 1)
    seconds = (found - EPOCH) * 86400 + hour * 3600 + (minute - offset) * 60 + second
    expect((FIRST_DAY - EPOCH) * 86400 <= seconds < (LAST_DAY - EPOCH + 1) * 86400, "a date is out of range")
    return date_text(float(seconds + Fraction(int(match[7] or 0), 10 ** len(match[7] or ""))))


def date_text(seconds):
    """ISO 8601, with the fewest digits from which the same number comes back."""
    whole = seconds // 1
    places = 0
    while float(Fraction(round(Fraction(seconds) * 10**places), 10**places)) != seconds:
        places += 1
    days, rest = divmod(int(whole), 86400)
    text = datetime.date.fromordinal(EPOCH + days).isoformat()
    text += f"T{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    fraction = round((Fraction(seconds) - int(whole)) * 10**places)
    return text + (f".{fraction:0{places}}" if places else "") + "Z"


def attribute(text, kind):
    if kind == "boolean":
        expect(text.lower() in BOOLEANS, "a value is no boolean")
        return BOOLEANS[text.lower()]
    if kind in RANGES:
        expect(re.fullmatch("[-+]?[0-9]+", text), "a value is no integer")
        expect(-(1 << RANGES[kind]) <= int(text) < 1 << RANGES[kind], "an integer is out of range")
        return int(text)
    if kind in ("double", "float"):
        return number(text, kind == "float")
    if kind == "decimal":
        return decimal_number(text)
    if kind == "date":
        return date(text)
    if kind in ("binary", "transformable"):
        return base64.b64encode(base64.b64decode(text, validate=True)).decode()
    if kind == "uuid":
        expect(re.fullmatch(UUID, text), "a value is no UUID")
        return text.upper()
    return text


def member(field, each):
    if each["kind"] == "attribute":
        return None if field.is_nil else attribute(field.text, each["type"])
    if each.get("toMany"):
        return references(field.text)
    return None if field.is_nil else reference(field.text)


# Files


def columns(model, name):
    """The property of each column; None is the reference."""
    properties = [each for each in model.properties(name) if not each.get("transient")]
    listed = model.entities[name].get("userInfo", {}).get("heartwood.csv.columns")
    if not listed:
        return properties + [None]
    by_name = {each["name"]: each for each in properties} | {"#": None}
    return [by_name[title.strip()] for title in listed.split(",")]


def after_identifier(text):
    if not text.startswith("#"):
        raise Misplaced(0, "the first line has no identifier")
    if not re.match(UUID, text[1:37]):
        raise Misplaced(1, "the identifier is no UUID")
    index = 37
    lines = Lines(text)
    while not lines.line_end(index):
        if text[index] not in " \t,;":
            raise Misplaced(index, "text follows the identifier")
        index += 1
    return index + lines.line_end(index)


def first_record(lines, start):
    """The fields of the first record, or none where the text is not made of such."""
    try:
        return lines.record(start)
    except Misplaced:
        return [], start


def dialect(text, start, titles):
    """The lines as fields, and where the first record begins."""
    lines = Lines(text)
    start = lines.without_blank_lines(start)
    for separator in ",;\t":
        # A space behind the separator changes what a field is, and so whether a quote begins it.
        options = [Lines(text, separator, has_space) for has_space in (True, False)]
        if any(len(first_record(each, start)[0]) == len(titles) for each in options):
            lines = options[1]
            break
    fields, end = first_record(Lines(text, lines.separator, True), start)
    if [field.text.casefold() for field in fields] == titles:
        behind = lines.without_blank_lines(end)
        sample, start = (start if behind == len(text) else behind), behind
    else:
        sample = start
    return Lines(text, lines.separator, has_space(text, sample, lines.separator)), start


def has_space(text, start, separator):
    """Whether a space is behind the first separator there."""
    lines = Lines(text, separator)
    try:
        index = (lines.quoted(start) if text.startswith('"', start) else lines.bare(start))[1]
    except Misplaced:
        return False
    return text.startswith(separator + " ", index)


def records(text, model):
    names = [name for name in model.names if not model.entities[name].get("abstract")]
    expect(len(names) == 1, "a file has records of one entity")
    layout = columns(model, names[0])
    titles = [each["name"].casefold() if each else "#" for each in layout]
    lines, index = dialect(text, after_identifier(text), titles)
    places = []
    while (index := lines.without_blank_lines(index)) < len(text):
        fields, end = lines.record(index)
        if len(fields) != len(layout):
            raise Misplaced(index, f"there are {len(fields)} fields where {len(layout)} are expected")
        values = {each["name"] if each else None: value(field, each) for field, each in zip(fields, layout)}
        places.append((values[None], fields[layout.index(None)].index))
        yield line(names[0], values, model)
        index = end
    check_duplicates(places)


def value(field, each):
    try:
        if each:
            return member(field, each)
        expect(not field.is_nil, "the reference is missing")
        return reference(field.text)
    except (Malformed, ValueError) as error:
        raise Misplaced(field.index, f"{each['name'] if each else 'reference'}: {error}")


def check_duplicates(places):
    seen = set()
    for text, index in places:
        if text in seen:
            raise Misplaced(index, "another record has the same reference")
        seen.add(text)


def line(name, values, model):
    result = {"$entity": name, "$id": values[None]}
    for each in model.stored(name):
        result[each["name"]] = values[each["name"]]
    return json.dumps(result, ensure_ascii=False, separators=(",", ":"))


def decoded(data):
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        raise Misplaced(len(before), "a byte belongs to no character") from ValueError(before)


def place(text, index):
    before = text[:index]
    return f"{before.count(chr(10)) + 1}:{index - before.rfind(chr(10))}"


def read(path):
    text = ""
    try:
        model = Model(pathlib.Path(sys.argv[-2]).read_text(encoding="utf-8"))
        text = decoded(pathlib.Path(path).read_bytes())
        return list(records(text, model))
    except Misplaced as error:
        error.place = ":" + place(text or str(error.__cause__ or ""), error.index)
        raise


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:], read))
