#!/usr/bin/env python3
"""Reads encrypted stores by README.md alone: writes the file inside to standard output.

    reader.py --key HEX FILE          with the key of 32 bytes
    reader.py --passphrase TEXT FILE  with the passphrase
    reader.py --metadata FILE         the metadata of a file that leaves them readable, without a key

Nothing is written before all of it has been checked. What is wrong is told with its place, and the status is 1 then. ChaCha20 and Poly1305 are
those of RFC 8439, in plain Python: a megabyte takes seconds.
"""

import hashlib
import hmac
import struct
import sys

MAGIC = bytes.fromhex("48 57 45 4E 43 0D 0A 1A")
VERSION = 1
FIXED_LENGTH = 112
TAG_LENGTH = 32
PIECE_TAG_LENGTH = 16
HEADER_LIMIT = 16 << 20
SCRYPT_LIMIT = 1 << 30


class Malformed(Exception):
    def __init__(self, place, what):
        super().__init__(f"at byte {place}: {what}")


def expect(condition, place, what):
    if not condition:
        raise Malformed(place, what)


def rotated(word, count):
    return ((word << count) | (word >> (32 - count))) & 0xFFFFFFFF


def quarter_round(state, a, b, c, d):
    for first, second, third, count in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        state[first] = (state[first] + state[second]) & 0xFFFFFFFF
        state[third] = rotated(state[third] ^ state[first], count)


def key_block(key, counter, nonce):
    start = list(struct.unpack("<16I", b"expand 32-byte k" + key + struct.pack("<I", counter) + nonce))
    state = start[:]
    for _ in range(10):
        for places in ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)):
            quarter_round(state, *places)
        for places in ((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)):
            quarter_round(state, *places)
    return struct.pack("<16I", *((a + b) & 0xFFFFFFFF for a, b in zip(state, start)))


def poly1305(key, text):
    factor = int.from_bytes(key[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    sum_ = 0
    for place in range(0, len(text), 16):
        sum_ = (sum_ + int.from_bytes(text[place:place + 16] + b"\x01", "little")) * factor % ((1 << 130) - 5)
    return ((sum_ + int.from_bytes(key[16:], "little")) % (1 << 128)).to_bytes(16, "little")


def padded(text):
    return text + bytes(-len(text) % 16)


def opened(piece, key, nonce, data, place):
    """The text of a piece that was sealed with ChaCha20-Poly1305."""
    expect(len(piece) >= PIECE_TAG_LENGTH, place, "the piece is shorter than its tag")
    text, tag = piece[:-PIECE_TAG_LENGTH], piece[-PIECE_TAG_LENGTH:]
    lengths = struct.pack("<QQ", len(data), len(text))
    expected = poly1305(key_block(key, 0, nonce)[:32], padded(data) + padded(text) + lengths)
    expect(hmac.compare_digest(tag, expected), place, "the piece was altered or moved, since its tag does not hold")
    blocks = (key_block(key, number + 1, nonce) for number in range((len(text) + 63) // 64))
    stream = b"".join(blocks)
    return bytes(a ^ b for a, b in zip(text, stream))


def hkdf(master, salt, info, length):
    """RFC 5869 with SHA-256, for at most 32 bytes."""
    fresh = hmac.new(salt, master, hashlib.sha256).digest()
    return hmac.new(fresh, info + b"\x01", hashlib.sha256).digest()[:length]


class Header:
    def __init__(self, file):
        expect(len(file) >= FIXED_LENGTH, len(file), "the file is shorter than a header")
        expect(file[:8] == MAGIC, 0, "the file does not begin with the magic")
        self.version, self.least, self.length = struct.unpack_from("<HHI", file, 8)
        expect(self.least <= VERSION, 10, f"the file needs a reader of version {self.least}")
        expect(FIXED_LENGTH + TAG_LENGTH <= self.length <= HEADER_LIMIT, 12, "the length of the header cannot be")
        expect(len(file) >= self.length, len(file), "the file ends within the header")
        self.source, log_n, self.r, self.p, self.readable = struct.unpack_from("<5B", file, 16)
        expect(self.source in (0, 1), 16, "it is not known where the key comes from")
        expect(self.readable in (0, 1), 20, "it is not known whether the metadata are readable")
        expect(file[21:24] == bytes(3) and file[92:96] == bytes(4) and file[106:108] == bytes(2), 21, "a zero is none")
        self.n = 1 << log_n
        self.passphrase_salt, self.salt, self.check = file[24:40], file[40:72], file[72:88]
        (self.chunk_length,) = struct.unpack_from("<I", file, 88)
        expect(4 << 10 <= self.chunk_length <= 64 << 20, 88, "the length of a chunk cannot be")
        self.plain_length, type_length, _, metadata_length = struct.unpack_from("<QHHI", file, 96)
        expect(FIXED_LENGTH + type_length + metadata_length + TAG_LENGTH == self.length, 104, "the lengths do not add up")
        self.type = file[FIXED_LENGTH:FIXED_LENGTH + type_length].decode("utf-8")
        self.metadata_place = FIXED_LENGTH + type_length
        self.metadata = file[self.metadata_place:self.metadata_place + metadata_length]
        self.bytes, self.tag = file[:self.length - TAG_LENGTH], file[self.length - TAG_LENGTH:self.length]
        self.chunk_count = -(-self.plain_length // self.chunk_length)

    def master(self, secret, is_passphrase):
        expect(self.source == int(is_passphrase), 16, "the key is of the other kind: one is a passphrase")
        if not is_passphrase:
            return secret
        memory = 128 * self.r * self.n
        expect(1 < self.n and memory <= SCRYPT_LIMIT and 1 <= self.r <= 16 and 1 <= self.p <= 16, 17, "scrypt asks for too much")
        expect(self.n < 1 << (16 * self.r), 17, "scrypt has no such N")
        expect(hasattr(hashlib, "scrypt"), 17, "this Python has no scrypt, as where it was built with LibreSSL")
        # The library wants to be told how much it may take, with some room.
        return hashlib.scrypt(secret, salt=self.passphrase_salt, n=self.n, r=self.r, p=self.p, maxmem=memory + (64 << 20), dklen=32)


def file_inside(file, secret, is_passphrase):
    header = Header(file)
    master = header.master(secret, is_passphrase)

    def key(purpose, length=32):
        return hkdf(master, header.salt, b"heartwood/" + purpose, length)

    expect(hmac.compare_digest(key(b"check", 16), header.check), 72, "the key is another one")
    tag = hmac.new(key(b"header"), header.bytes, hashlib.sha256).digest()
    expect(hmac.compare_digest(tag, header.tag), header.length - TAG_LENGTH, "the header was altered")
    length = header.length + header.plain_length + PIECE_TAG_LENGTH * header.chunk_count
    expect(len(file) == length, min(len(file), length), f"the file has {len(file)} bytes, and the header says {length}")
    if not header.readable:
        opened(header.metadata, key(b"metadata"), bytes(12), b"", header.metadata_place)
    text, place = b"", header.length
    for number in range(header.chunk_count):
        count = min(header.chunk_length, header.plain_length - len(text)) + PIECE_TAG_LENGTH
        nonce = bytes(4) + struct.pack("<Q", number)
        text += opened(file[place:place + count], key(b"data"), nonce, header.tag, place)
        place += count
    return text


def readable_metadata(file):
    header = Header(file)
    expect(header.readable, 20, "the metadata are encrypted")
    return header.metadata


def read(arguments):
    with open(arguments[-1], "rb") as opened_file:
        file = opened_file.read()
    if arguments[0] == "--metadata":
        return readable_metadata(file)
    if arguments[0] == "--passphrase":
        return file_inside(file, arguments[1].encode("utf-8"), True)
    return file_inside(file, bytes.fromhex(arguments[1]), False)


def main(arguments):
    counts = {"--metadata": 2, "--passphrase": 3, "--key": 3}
    if not arguments or counts.get(arguments[0]) != len(arguments):
        print(__doc__, file=sys.stderr)
        return 64
    try:
        text = read(arguments)
    except Exception as error:
        print(f"{arguments[-1]}: {error or type(error).__name__}", file=sys.stderr)
        return 1
    sys.stdout.buffer.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
