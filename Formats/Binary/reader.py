#!/usr/bin/env python3
"""Reads a Heartwood binary store, from README.md alone: checks every byte of it and prints the records.

    reader.py FILE            a JSON object for each record, on a line of its own
    reader.py --history FILE  a JSON object for each transaction of the history
    reader.py --check FILE    nothing but a word on what is wrong

It needs Python 3.8 and its standard library. It is written to be read, not to be fast.
"""

import base64
import datetime
import decimal
import json
import math
import struct
import sys
import uuid

MAGIC = bytes.fromhex("894857420D0A1A0A")
SLOT_MAGIC, BLOCK_MAGIC = bytes.fromhex("894857530D0A1A0A"), bytes.fromhex("8948574C0D0A1A0A")
SLOTS, FRONT = (4096, 8192), 12288
MASK = (1 << 64) - 1
ATTRIBUTES = {1: "<h", 2: "<i", 3: "<q", 5: "<d", 6: "<f", 9: "<d"}
INTEGER16, INTEGER32, INTEGER64, DECIMAL, DOUBLE, FLOAT, STRING, BOOLEAN, DATE, BINARY, UUID, URI = range(1, 13)
TRANSFORMABLE, TO_ONE, TO_MANY = 18, 32, 33
TYPES = set(range(1, 13)) | {TRANSFORMABLE, TO_ONE, TO_MANY}
VARIABLE = {STRING, BINARY, URI, TRANSFORMABLE}
INTEGERS, UUIDS, TEXTS, MIXED = range(4)
INSERT, UPDATE, DELETE = range(3)


class Refused(Exception):
    """The file is not what the format says, at an offset."""

    def __init__(self, what, offset):
        super().__init__("%s (at byte %d)" % (what, offset))


def expect(condition, what, offset):
    if not condition:
        raise Refused(what, offset)


# XXH64, from xxhash_spec.md

P1, P2, P3, P4, P5 = (
    0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5,
)


def rotate(value, distance):
    return ((value << distance) | (value >> (64 - distance))) & MASK


def mix(lane, word):
    return rotate((lane + word * P2) & MASK, 31) * P1 & MASK


def xxh64(data):
    place = 0
    if len(data) >= 32:
        lanes = [(P1 + P2) & MASK, P2, 0, -P1 & MASK]
        while len(data) - place >= 32:
            words = struct.unpack_from("<4Q", data, place)
            lanes = [mix(lane, word) for lane, word in zip(lanes, words)]
            place += 32
        value = sum(rotate(lane, distance) for lane, distance in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            value = ((value ^ mix(0, lane)) * P1 + P4) & MASK
    else:
        value = P5
    value = (value + len(data)) & MASK
    while len(data) - place >= 8:
        value = (rotate(value ^ mix(0, struct.unpack_from("<Q", data, place)[0]), 27) * P1 + P4) & MASK
        place += 8
    if len(data) - place >= 4:
        value = (rotate(value ^ (struct.unpack_from("<I", data, place)[0] * P1 & MASK), 23) * P2 + P3) & MASK
        place += 4
    for byte in data[place:]:
        value = rotate(value ^ (byte * P5 & MASK), 11) * P1 & MASK
    value = (value ^ (value >> 33)) * P2 & MASK
    value = (value ^ (value >> 29)) * P3 & MASK
    return value ^ (value >> 32)


# Header, trailer, directory


class Cursor:
    """Reads the directory, or a part of the history, which begins at an offset of the file."""

    def __init__(self, data, start, what="the directory"):
        self.data, self.start, self.place, self.what = data, start, 0, what

    @property
    def offset(self):
        return self.start + self.place

    def take(self, form):
        size = struct.calcsize(form)
        expect(self.place + size <= len(self.data), self.what + " ends too early", self.offset)
        values = struct.unpack_from(form, self.data, self.place)
        self.place += size
        return values if len(values) > 1 else values[0]

    def name(self):
        length = self.take("<I")
        offset = self.offset
        expect(0 < length <= len(self.data) - self.place, "a name has no such length", offset)
        raw = self.data[self.place:self.place + length]
        self.place += length
        return text(raw, offset)

    @property
    def rest(self):
        return len(self.data) - self.place

    def bytes(self):
        length = self.take("<I")
        expect(length <= self.rest, self.what + " ends too early", self.offset)
        self.place += length
        return self.data[self.place - length:self.place]

    def text(self):
        offset = self.offset
        return text(self.bytes(), offset + 4)

    def part(self):
        """A cursor over a part, whose length comes first."""
        length = self.take("<Q")
        expect(length <= self.rest, "a part is longer than what it is part of", self.offset - 8)
        self.place += length
        start = self.place - length
        return Cursor(self.data[start:self.place], self.start + start, self.what)


def text(raw, offset):
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refused("bytes are not UTF-8", offset + error.start)


def padded(length):
    return (length + 63) // 64 * 64


def read_header(data):
    expect(data[:8] == MAGIC, "this is no binary store of Heartwood", 0)
    expect(len(data) >= 64, "the file ends in its header", len(data))
    version, least, identifier = struct.unpack_from("<II16s", data, 8)
    expect(struct.unpack_from("<Q", data, 56)[0] == xxh64(data[:56]), "the header's checksum does not hold", 0)
    expect(1 <= least <= version, "the version numbers contradict each other", 12)
    expect(least <= 4, "a reader of format version %d is needed" % least, 12)
    flags = struct.unpack_from("<I", data, 32)[0] if least >= 3 else int(least == 2)
    expect(flags <= (3 if least >= 4 else 1), "there are flags that no version has", 32)
    return uuid.UUID(bytes=identifier), least, flags & 1 == 1, flags & 2 == 2


def read_front(data):
    """The newest save that the front of a file names: its number, its end, the end of the base, and its chain."""
    expect(len(data) >= FRONT, "the file ends before its first section", len(data))
    zeros = [(64, SLOTS[0]), (SLOTS[0] + 64, SLOTS[1]), (SLOTS[1] + 64, FRONT)]
    for start, end in zeros:
        expect(not any(data[start:end]), "bytes that must be zero are not", start)
    slots = []
    for offset in SLOTS:
        slot = data[offset:offset + 64]
        if slot[:8] == SLOT_MAGIC and struct.unpack_from("<Q", slot, 56)[0] == xxh64(slot[:56]):
            slots.append(struct.unpack_from("<4Q", slot, 8))
    expect(slots, "no slot holds", SLOTS[0])
    number, end, base, chain = max(slots)
    expect(FRONT <= base <= end and base % 64 == end % 64 == 0, "there is no such end of a save", SLOTS[0])
    expect(end <= len(data), "the file is not %d bytes long" % end, len(data))
    return number, end, base, chain


def read_blocks(data, newest, checksum):
    """The bodies of the saves that were added to the file, each with its offset."""
    number, end, base, chain = newest
    found, bodies = (0, base, base, checksum), []
    while True:
        offset = found[1]
        head = data[offset:offset + 64]
        if len(head) < 64 or head[:8] != BLOCK_MAGIC or struct.unpack_from("<Q", head, 56)[0] != xxh64(head[:56]):
            break
        block, length, size, body_checksum, previous, zeros = struct.unpack_from("<6Q", head, 8)
        body = data[offset + 64:offset + 64 + size]
        fits = block == found[0] + 1 and previous == found[3] and zeros == 0 and length == 64 + padded(size)
        if not fits or offset + length > len(data) or xxh64(body) != body_checksum:
            break
        if any(data[offset + 64 + size:offset + length]):
            break
        bodies.append((body, offset + 64))
        found = (block, offset + length, base, struct.unpack_from("<Q", head, 56)[0])
    whole = found[0] > number or found == newest
    expect(whole, "save %d is not as it was written" % (found[0] + 1), found[1])
    return bodies


def read_trailer(data):
    start = len(data) - 64
    expect(start >= 64 and len(data) % 64 == 0, "the file does not end where a file ends", len(data))
    expect(data[start + 56:] == MAGIC[::-1], "the last bytes are not those of a file", start + 56)
    offset, length, checksum, size = struct.unpack_from("<4Q", data, start)
    expect(
        struct.unpack_from("<Q", data, start + 48)[0] == xxh64(data[start:start + 48]),
        "the trailer's checksum does not hold", start,
    )
    expect(size == len(data), "the file is not %d bytes long" % size, len(data))
    expect(offset % 64 == 0 and 64 <= offset and offset + padded(length) == start, "the directory is misplaced", start)
    return check(data, offset, length, checksum)


def check(data, offset, length, checksum):
    """The bytes of a section, once its checksum and the zeros behind it have been checked."""
    end = offset + length
    raw = data[offset:end]
    expect(xxh64(raw) == checksum, "a section's checksum does not hold", offset)
    expect(not any(data[end:offset + padded(length)]), "bytes behind a section are not zero", end)
    return raw, offset


def metadata_text(area, start):
    """The copy of the metadata that counts, of a file of version 3."""
    size = (len(area) - 64) // 2
    fits = size >= 64 and size % 64 == 0 and len(area) == 64 + 2 * size and not any(area[1:64])
    expect(fits and area[0] in (0, 0xFF), "the place of the metadata was changed", start)
    copies = [metadata_copy(area[64 + place * size:64 + place * size + size]) for place in (0, 1)]
    holding = [copy for copy in copies if copy is not None]
    expect(holding and (area[0] or copies[0] == copies[1]), "the checksum of the metadata does not hold", start)
    return holding[0]


def metadata_copy(raw):
    checksum, length = struct.unpack_from("<QQ", raw)
    holds = checksum == xxh64(raw[8:]) and length <= len(raw) - 16
    return raw[16:16 + length] if holds else None


class Column:
    def __init__(self, kind, name):
        self.kind, self.name = kind, name


class Table:
    def __init__(self, name):
        self.name, self.columns, self.groups = name, [], []


class History:
    def __init__(self, purged, counts):
        self.purged, self.counts = purged, counts


def read_directory(data, raw, start, first, has_area, has_history):
    """The sections as bytes and offsets, the tables, and the history or None."""
    cursor = Cursor(raw, start)
    section_count, table_count = cursor.take("<II")
    expect(section_count >= 2, "there is no metadata or no model", start)
    sections, end = [], first
    for number in range(section_count):
        offset, length, checksum = cursor.take("<QQQ")
        expect(offset == end and offset + padded(length) <= start, "a section is misplaced", cursor.offset - 24)
        if has_area and number == 0:
            expect(checksum == 0, "the directory has a checksum of the metadata", cursor.offset - 8)
            sections.append((metadata_text(data[offset:offset + length], offset), offset))
        else:
            sections.append(check(data, offset, length, checksum))
        end = offset + padded(length)
    expect(end == start, "bytes belong to no section", end)
    tables = [read_table(cursor, table_count) for _ in range(table_count)]
    history = read_history_entry(cursor) if has_history else None
    expect(cursor.place == len(raw), "the directory goes on too long", cursor.offset)
    expect(len({table.name for table in tables}) == table_count, "two tables have the same entity", start)
    return sections, tables, history


def read_history_entry(cursor):
    offset = cursor.offset
    purged, page_count = cursor.take("<qI")
    counts = [cursor.take("<I") for _ in range(page_count)]
    expect(purged >= 0 and all(counts) and purged + sum(counts) < 1 << 63, "the history is described incorrectly", offset)
    return History(purged, counts)


def read_table(cursor, table_count):
    table = Table(cursor.name())
    offset = cursor.offset
    row_count, column_count, group_count = cursor.take("<QII")
    for _ in range(column_count):
        kind = cursor.take("<B")
        expect(kind in TYPES, "a column is of an unknown type", cursor.offset - 1)
        table.columns.append(Column(kind, cursor.name()))
    expect(len({column.name for column in table.columns}) == column_count, "two columns have the same name", offset)
    expect(group_count <= 65536, "there are too many groups", offset)
    for _ in range(group_count):
        table.groups.append(read_group(cursor, table, table_count))
    expect(sum(group[0] for group in table.groups) == row_count, "the groups have other rows in all", offset)
    return table


def read_group(cursor, table, table_count):
    offset = cursor.offset
    rows, flags, layout, zeros = cursor.take("<IBBH")
    expect(1 <= rows <= 65536 and flags <= 1 and layout <= 3 and zeros == 0, "a group is described incorrectly", offset)
    return rows, flags, layout, [read_entry(cursor, column, rows, table_count) for column in table.columns]


def read_entry(cursor, column, rows, table_count):
    """How the values of a column lie."""
    offset = cursor.offset
    entry = cursor.take("<BBHII")
    column_flags, column_layout, zeros, entity, count = entry
    fits = column_flags <= 3 and column_layout <= 3 and zeros == 0
    if column.kind == TO_ONE:
        fits = fits and count == rows and entity < table_count
    elif column.kind == TO_MANY:
        fits = fits and not column_flags & 1 and entity < table_count
    else:
        fits = fits and column_flags <= 1 and entry[1:] == (0, 0, 0, 0)
    expect(fits, "a column is described incorrectly", offset)
    return entry


# Values


class Sections:
    """Hands out sections in the order in which they lie."""

    def __init__(self, sections):
        self.sections, self.next = sections, 2

    def take(self, length=None):
        expect(self.next < len(self.sections), "there are fewer sections than groups need", 0)
        raw, offset = self.sections[self.next]
        expect(length is None or len(raw) == length, "a section is not as long as its rows need", offset)
        self.next += 1
        return raw, offset

    @property
    def place(self):
        """The offset of what comes next."""
        return self.sections[min(self.next, len(self.sections) - 1)][1]

    def numbers(self, form, count):
        raw, _ = self.take(count * struct.calcsize(form))
        return [values[0] for values in struct.iter_unpack(form, raw)]

    def bits(self, count):
        raw, offset = self.take((count + 7) // 8)
        number = int.from_bytes(raw, "little")
        expect(number >> count == 0, "bits after the last row are set", offset + len(raw) - 1)
        return [bool(number >> row & 1) for row in range(count)]

    def offsets(self, count):
        place = self.place
        offsets = self.numbers("<I", count + 1)
        expect(offsets[0] == 0 and offsets == sorted(offsets), "offsets do not ascend from 0", place)
        return offsets

    def slices(self, count):
        """Runs of bytes of any length, each with its offset in the file."""
        offsets = self.offsets(count)
        raw, place = self.take()
        expect(offsets[-1] == len(raw), "the last offset is not the end", place)
        return [(raw[start:end], place + start) for start, end in zip(offsets, offsets[1:])]


class Parts(Sections):
    """Hands out the parts of a save, each of which has its length before it."""

    def __init__(self, cursor):
        self.cursor = cursor

    @property
    def place(self):
        return self.cursor.offset + 4

    def take(self, length=None):
        place = self.place
        raw = self.cursor.bytes()
        expect(length is None or len(raw) == length, "a part is not as long as its rows need", place)
        return raw, place


def read_references(sections, layout, count, valid):
    """Names of records: integers, UUIDs and texts; None where there is none."""
    if layout == INTEGERS:
        names = sections.numbers("<q", count)
    elif layout == UUIDS:
        names = [uuid.UUID(bytes=raw) for raw in sections.numbers("<16s", count)]
    elif layout == TEXTS:
        names = [text(raw, offset) for raw, offset in sections.slices(count)]
    else:
        slices = sections.slices(count)
        return [mixed_name(raw, offset) if valid[row] else None for row, (raw, offset) in enumerate(slices)]
    return [name if valid[row] else None for row, name in enumerate(names)]


def mixed_name(raw, offset):
    kind, name = raw[:1], raw[1:]
    if kind == b"\0" and len(name) == 8:
        return struct.unpack("<q", name)[0]
    if kind == b"\1" and len(name) == 16:
        return uuid.UUID(bytes=name)
    expect(kind == b"\2", "a reference is of an unknown kind", offset)
    return text(name, offset + 1)


def read_decimal(raw, offset):
    low, high, exponent, negative, special = struct.unpack("<QQhBB", raw)
    significand = low | high << 64
    expect(negative <= 1 and special <= 1 and -128 <= exponent <= 127, "bytes are not a decimal number", offset)
    if special:
        expect(raw == bytes(19) + b"\1", "bytes are not a decimal number", offset)
        return "nan"
    expect(significand or not negative, "zero is negative", offset)
    return decimal_text(-significand if negative else significand, exponent)


def read_column(sections, column, entry, rows, destinations):
    flags, layout, _, entity, count = entry
    valid = sections.bits(rows) if flags & 1 else [True] * rows
    if column.kind in (TO_ONE, TO_MANY):
        return read_relationship(sections, column, entry, rows, valid, destinations)
    if column.kind == BOOLEAN:
        values = sections.bits(rows)
    elif column.kind in VARIABLE:
        slices = sections.slices(rows)
        if column.kind in (STRING, URI):
            values = [text(raw, offset) for raw, offset in slices]
        else:
            values = [base64.b64encode(raw).decode("ascii") for raw, _ in slices]
    elif column.kind == UUID:
        values = [str(uuid.UUID(bytes=raw)).upper() for raw in sections.numbers("<16s", rows)]
    elif column.kind == DECIMAL:
        raw, offset = sections.take(rows * 20)
        values = [
            read_decimal(raw[row * 20:row * 20 + 20], offset + row * 20) if valid[row] else None for row in range(rows)
        ]
    else:
        values = sections.numbers(ATTRIBUTES[column.kind], rows)
        if column.kind == DATE:
            values = [date_text(value) for value in values]
        elif column.kind in (DOUBLE, FLOAT):
            values = [Number(number_text(value, column.kind == FLOAT)) for value in values]
    return [value if valid[row] else None for row, value in enumerate(values)]


def read_relationship(sections, column, entry, rows, valid, destinations):
    flags, layout, _, entity, count = entry
    if column.kind == TO_MANY:
        place = sections.place
        offsets = sections.offsets(rows)
        expect(offsets[-1] == count, "the last offset is not the number of references", place)
    else:
        offsets = None
    used = valid if column.kind == TO_ONE else [True] * count
    place = sections.place
    entities = sections.numbers("<I", count) if flags & 2 else [entity] * count
    expect(
        all(entity in destinations for entity, is_used in zip(entities, used) if is_used),
        "a reference is to an entity that is not a destination of the relationship", place,
    )
    names = read_references(sections, layout, count, used)
    texts = [None if name is None else reference_text(name) for name in names]
    if offsets is None:
        return texts
    return [texts[start:end] for start, end in zip(offsets, offsets[1:])]


# The model: which entities a relationship may lead to


class Model:
    def __init__(self, raw):
        model = json.loads(raw.decode("utf-8"))
        self.entities = model["entities"]
        self.by_name = {entity["name"]: entity for entity in self.entities}

    def property(self, entity_name, name):
        while entity_name is not None:
            entity = self.by_name[entity_name]
            for candidate in entity.get("properties", []):
                if candidate["name"] == name:
                    return candidate
            entity_name = entity.get("parent")
        return None

    def stored_names(self, entity_name):
        """The properties that the store keeps: those of the topmost ancestor first."""
        entity = self.by_name[entity_name]
        inherited = self.stored_names(entity["parent"]) if "parent" in entity else []
        return inherited + [p["name"] for p in entity.get("properties", []) if not p.get("transient")]

    def destinations(self, entity_name, name):
        """The indices of the entities to which a relationship may lead."""
        destination = self.property(entity_name, name)["destination"]
        return {
            index for index, entity in enumerate(self.entities)
            if not entity.get("abstract") and self.is_kind(entity["name"], destination)
        }

    def is_kind(self, name, ancestor):
        while name is not None and name != ancestor:
            name = self.by_name[name].get("parent")
        return name is not None


# Values as JSON


class Number:
    """A number whose text is what JSON shall have."""

    def __init__(self, json_text):
        self.json_text = json_text


class Members(list):
    """The members of a JSON object, in order."""


ESCAPES = {code: "\\u%04x" % code for code in range(32)}
ESCAPES.update({ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t", ord('"'): '\\"', ord("\\"): "\\\\"})


def decimal_text(significand, exponent):
    digits, sign = str(abs(significand)), "-" if significand < 0 else ""
    if significand == 0:
        return "0"
    if exponent >= 0:
        return sign + digits + "0" * exponent
    digits = digits.rjust(1 - exponent, "0")
    fraction = digits[exponent:].rstrip("0")
    return sign + digits[:exponent] + ("." + fraction if fraction else "")


def number_text(value, is_float):
    if math.isnan(value):
        return '"nan"'
    if math.isinf(value):
        return '"inf"' if value > 0 else '"-inf"'
    if not is_float:
        return repr(value)
    for precision in range(1, 10):
        shortest = "%.*g" % (precision, value)
        if struct.pack("<f", float(shortest)) == struct.pack("<f", value):
            return repr(float(shortest))
    return repr(value)


def date_text(seconds):
    """A date of the years 1 to 9999 as ISO 8601 in UTC, else its seconds."""
    if not -63_113_904_000 <= seconds < 252_423_993_600:
        return number_text(seconds, False).strip('"')
    exact = decimal.Decimal(repr(seconds))
    whole = math.floor(exact)
    fraction = format(exact - whole, "f")[1:].rstrip("0").rstrip(".")
    date = datetime.datetime(2001, 1, 1) + datetime.timedelta(seconds=whole)
    return date.isoformat(timespec="seconds") + fraction + "Z"


def reference_text(name):
    """Numbers as digits, UUIDs in capitals; a text that could be taken for one of them has an apostrophe before it."""
    if isinstance(name, int):
        return str(name)
    if isinstance(name, uuid.UUID):
        return str(name).upper()
    return "'" + name if name.startswith("'") or is_number(name) or is_uuid(name) else name


def is_number(name):
    digits = name[1:] if name.startswith("-") else name
    return digits.isascii() and digits.isdigit() and str(int(name)) == name and -1 << 63 <= int(name) < 1 << 63


def is_uuid(name):
    try:
        return str(uuid.UUID(name)).upper() == name
    except ValueError:
        return False


def json_text(value):
    if isinstance(value, Number):
        return value.json_text
    if isinstance(value, Members):
        return "{" + ",".join(json_text(name) + ":" + json_text(member) for name, member in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(json_text(element) for element in value) + "]"
    if isinstance(value, str):
        return '"' + value.translate(ESCAPES) + '"'
    return json.dumps(value)


# The history


def read_transactions(history, source):
    """The transactions of all pages, in order."""
    number = history.purged
    for count in history.counts:
        raw, offset = source.take()
        page = Cursor(raw, offset, "a page of the history")
        for _ in range(count):
            number += 1
            yield read_transaction(page.part(), number)
        expect(page.rest == 0, "bytes follow the last transaction", page.offset)


def read_transaction(cursor, number):
    offset = cursor.offset
    seconds = cursor.take("<d")
    expect(math.isfinite(seconds), "a transaction has no date", offset)
    author, context = cursor.text() or None, cursor.text() or None
    changes = []
    while cursor.rest:
        changes += read_run(cursor.part())
    expect(changes, "a transaction has no change", offset)
    return [("number", number), ("date", date_text(seconds)), ("author", author), ("context", context),
            ("changes", changes)]


def read_run(cursor):
    offset = cursor.offset
    kind, layout, zeros, count, property_count = cursor.take("<BBHII")
    fits = kind <= DELETE and layout <= MIXED and zeros == 0 and count > 0 and (kind != INSERT or property_count == 0)
    expect(fits, "changes are described incorrectly", offset)
    entity = cursor.name()
    names = [cursor.name() for _ in range(property_count)]
    expect(len(set(names)) == len(names), "a property is named twice", offset)
    changes = []
    for _ in range(count):
        change = [("kind", ("insert", "update", "delete")[kind]), ("entity", entity)]
        change.append(("id", reference_text(read_history_reference(cursor, layout))))
        if kind == UPDATE:
            change.append(("properties", names))
        if kind == DELETE:
            values = {name: read_history_value(cursor) for name in names}
            change.append(("tombstone", Members(sorted(values.items(), key=lambda item: item[0].encode("utf-8")))))
        changes.append(Members(change))
    expect(cursor.rest == 0, "bytes follow the last change", cursor.offset)
    return changes


def read_history_reference(cursor, layout):
    if layout == MIXED:
        layout = cursor.take("<B")
        expect(layout < MIXED, "a reference is of an unknown kind", cursor.offset - 1)
    if layout == INTEGERS:
        return cursor.take("<q")
    return uuid.UUID(bytes=cursor.take("<16s")) if layout == UUIDS else cursor.text()


def read_history_value(cursor):
    kind, offset = cursor.take("<B"), cursor.offset
    if kind == 0:
        return None
    if kind in (STRING, URI):
        return cursor.text()
    if kind == BINARY:
        return base64.b64encode(cursor.bytes()).decode("ascii")
    if kind == UUID:
        return str(uuid.UUID(bytes=cursor.take("<16s"))).upper()
    if kind == DECIMAL:
        return read_decimal(cursor.take("<20s"), offset)
    if kind == BOOLEAN:
        flag = cursor.take("<B")
        expect(flag <= 1, "a byte is neither true nor false", offset)
        return flag == 1
    expect(kind in (INTEGER64, DOUBLE, FLOAT, DATE), "a value is of an unknown type", offset - 1)
    value = cursor.take(ATTRIBUTES[kind])
    if kind == DATE:
        return date_text(value)
    return value if kind == INTEGER64 else Number(number_text(value, kind == FLOAT))


# The whole


class File:
    """A file whose directory has been read, and every checksum checked."""

    def __init__(self, data):
        identifier, least, has_history, has_log = read_header(data)
        newest = read_front(data) if has_log else None
        raw, self.start = read_trailer(data[:newest[2]] if has_log else data)
        first = FRONT if has_log else 64
        self.sections, self.tables, self.history = read_directory(
            data, raw, self.start, first, least >= 3, has_history
        )
        self.blocks = read_blocks(data, newest, xxh64(raw)) if has_log else []
        metadata = json.loads(self.sections[0][0].decode("utf-8"))
        same = uuid.UUID(metadata["identifier"]) == identifier
        expect(same, "header and metadata name different stores", self.sections[0][1])


def read(data):
    """The records and the transactions. For each record its entity, its reference and its values by property."""
    file = File(data)
    model = Model(file.sections[1][0])
    expect(
        [table.name for table in file.tables] == [entity["name"] for entity in model.entities],
        "the tables are not those of the model", file.start,
    )
    source = Sections(file.sections)
    for table in file.tables:
        names = [column.name for column in table.columns]
        expect(names == model.stored_names(table.name), "the columns are not those of the model", file.start)
        table.rows = []
        for group in table.groups:
            table.rows += group_rows(source, table, group, model)
    transactions = list(read_transactions(file.history, source)) if file.history else []
    expect(source.next == len(file.sections), "sections belong to no table", file.start)
    number = transactions[-1][0][1] if transactions else file.history.purged if file.history else 0
    for body, offset in file.blocks:
        for transaction in read_save(body, offset, file.tables, model, number):
            transactions.append(transaction)
            number += 1
    return [record for table in file.tables for record in table_records(table)], transactions


def table_records(table):
    # The attributes come first, and then the relationships.
    places = range(len(table.columns))
    order = sorted(places, key=lambda place: table.columns[place].kind in (TO_ONE, TO_MANY))
    for row in table.rows:
        if row is not None:
            values = [(table.columns[place].name, row[1][place]) for place in order]
            yield [("$entity", table.name), ("$id", reference_text(row[0]))] + values


def group_rows(source, table, group, model):
    """For each row its reference and its values, by column."""
    rows, flags, layout, entries = group
    references = read_references(source, layout, rows, [True] * rows)
    if flags & 1:
        check_versions(source.numbers("<Q", rows), 0)
    columns = [read_values(source, table, place, entries[place], rows, model) for place in range(len(entries))]
    return [[references[row], [values[row] for values in columns]] for row in range(rows)]


def check_versions(versions, offset):
    expect(all(1 <= version < 1 << 63 for version in versions), "a version is out of range", offset)


def read_values(source, table, place, entry, rows, model):
    column = table.columns[place]
    relationship = column.kind in (TO_ONE, TO_MANY)
    destinations = model.destinations(table.name, column.name) if relationship else None
    return read_column(source, column, entry, rows, destinations)


# Saves that were added to the file


def read_save(body, offset, tables, model, number):
    """Changes the rows of the tables as a save did, and returns its transaction, if it has one."""
    cursor = Cursor(body, offset, "a save")
    run_count, has_transaction, size, zeros = cursor.take("<4I")
    expect(has_transaction <= 1 and zeros == 0 and (has_transaction or not size), "a save is described incorrectly", offset)
    runs = [(cursor.offset, cursor.take("<IBBHIII")) for _ in range(run_count)]
    for place, (table, kind, layout, zeros, rows, columns, length) in runs:
        fits = table < len(tables) and kind <= DELETE and layout <= MIXED and zeros == 0 and 1 <= rows <= 65536
        expect(fits and length <= cursor.rest, "a save is described incorrectly", place)
        part = Cursor(body[cursor.place:cursor.place + length], cursor.offset, "a save")
        cursor.place += length
        read_save_run(part, tables, tables[table], kind, layout, rows, columns, model)
        expect(part.rest == 0, "a save goes on too long", part.offset)
    expect(cursor.rest == size, "a save goes on too long", cursor.offset)
    return [read_transaction(cursor.part(), number + 1)] if has_transaction else []


def read_save_run(cursor, tables, table, kind, layout, count, columns, model):
    place = cursor.offset
    wanted = {INSERT: len(table.columns), DELETE: 0}.get(kind, columns)
    expect(columns == wanted <= len(table.columns), "a save is described incorrectly", place)
    if kind == INSERT:
        references = read_references(Parts(cursor), layout, count, [True] * count)
        check_versions([cursor.take("<Q") for _ in range(count)], place)
        values = []
        for number, column in enumerate(table.columns):
            entry = read_entry(cursor, column, count, len(tables))
            values.append(read_values(Parts(cursor), table, number, entry, count, model))
        table.rows += [[references[row], [column[row] for column in values]] for row in range(count)]
        return
    rows = [cursor.take("<I") for _ in range(count)]
    expect(rows == sorted(set(rows)) and rows[-1] < len(table.rows), "the rows of a save are not in order", place)
    if kind == DELETE:
        for row in rows:
            expect(table.rows[row] is not None, "a record is deleted twice", place)
            table.rows[row] = None
        return
    check_versions([cursor.take("<Q") for _ in range(count)], place)
    for _ in range(columns):
        number, size = cursor.take("<II")
        expect(number < len(table.columns) and 1 <= size <= count, "a save is described incorrectly", place)
        places = [cursor.take("<I") for _ in range(size)] if size < count else list(range(count))
        fits = places == sorted(set(places)) and places[-1] < count
        expect(fits, "the rows of a save are not in order", place)
        entry = read_entry(cursor, table.columns[number], size, len(tables))
        values = read_values(Parts(cursor), table, number, entry, size, model)
        for index, value in zip(places, values):
            if table.rows[rows[index]] is not None:
                table.rows[rows[index]][1][number] = value


def main(arguments):
    options, paths = [a for a in arguments if a.startswith("--")], [a for a in arguments if not a.startswith("--")]
    if len(paths) != 1 or options not in ([], ["--check"], ["--history"]):
        print(__doc__, file=sys.stderr)
        return 64
    with open(paths[0], "rb") as file:
        data = file.read()
    try:
        records, transactions = read(data)
    except Refused as reason:
        print("%s: %s" % (paths[0], reason), file=sys.stderr)
        return 1
    if options != ["--check"]:
        lines = [json_text(Members(line)) for line in (transactions if options else records)]
        sys.stdout.buffer.write("".join(line + "\n" for line in lines).encode("utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
