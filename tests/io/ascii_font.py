"""A font that has the characters of ASCII, all alike, and no others: ascii_font.py FILE.ttf."""

import struct
import sys

UNITS, FIRST, LAST = 1000, 0x20, 0x7E
NAME = "ASCII boxes"


def make_tables():
    """The tables that a TrueType font has to have; glyph 0 is that of what is missing."""
    corners = [(100, 0), (100, 700), (500, 700), (500, 0)]
    steps = [(x - u, y - v) for (x, y), (u, v) in zip(corners, [(0, 0)] + corners)]
    glyph = struct.pack(">5h2H4B", 1, 100, 0, 500, 700, 3, 0, 1, 1, 1, 1)
    glyph += struct.pack(">4h", *(x for x, _ in steps)) + struct.pack(">4h", *(y for _, y in steps))
    glyph += bytes(-len(glyph) % 4)
    # Of format 4: one segment, in which a character's glyph is 1 (from a list), and the last one.
    count = LAST - FIRST + 1
    segments = struct.pack(">2HH2H2h2H", LAST, 0xFFFF, 0, FIRST, 0xFFFF, 0, 1, 4, 0)
    segments += struct.pack(f">{count}H", *[1] * count)
    names = [(1, NAME), (2, "Regular"), (4, NAME), (6, "ASCIIBoxes")]
    texts = [text.encode("utf-16-be") for _, text in names]
    records = b"".join(struct.pack(">6H", 3, 1, 0x409, number, len(text), sum(map(len, texts[:i])))
                       for i, ((number, _), text) in enumerate(zip(names, texts)))
    return {
        b"OS/2": struct.pack(">H h 3H 10h h 10s 4I 4s 3H 3h 2H 2I 2h 3H", 4, 600, 400, 5, 0, *[0] * 10, 0,
                             bytes(10), 1, 0, 0, 0, b"none", 64, FIRST, LAST, 800, -200, 0, 800, 200, 1, 0,
                             500, 700, 0, 32, 1),
        b"cmap": struct.pack(">4HI", 0, 1, 3, 1, 12)
        + struct.pack(">7H", 4, 14 + len(segments), 0, 4, 4, 1, 0) + segments,
        b"glyf": glyph + glyph,
        b"head": struct.pack(">4I2H2Q4h2H3h", 0x10000, 0x10000, 0, 0x5F0F3CF5, 3, UNITS, 0, 0, 100, 0, 500,
                             700, 0, 8, 2, 1, 0),
        b"hhea": struct.pack(">I3hH11hH", 0x10000, 800, -200, 0, 600, 100, 100, 500, 1, *[0] * 7, 2),
        b"hmtx": struct.pack(">HhHh", 600, 100, 600, 100),
        b"loca": struct.pack(">3I", 0, len(glyph), 2 * len(glyph)),
        b"maxp": struct.pack(">I14H", 0x10000, 2, 4, 1, 0, 0, 2, *[0] * 8),
        b"name": struct.pack(">3H", 0, len(names), 6 + len(records)) + records + b"".join(texts),
        b"post": struct.pack(">2I2h5I", 0x30000, 0, -100, 50, 0, 0, 0, 0, 0),
    }


def checksum(data):
    data += bytes(-len(data) % 4)
    return sum(struct.unpack(f">{len(data) // 4}I", data)) & 0xFFFFFFFF


tables = make_tables()
power = 1 << len(tables).bit_length() - 1
head = struct.pack(">I4H", 0x10000, len(tables), 16 * power, power.bit_length() - 1, 16 * (len(tables) - power))
place, body = len(head) + 16 * len(tables), b""
for tag, data in sorted(tables.items()):
    head += tag + struct.pack(">3I", checksum(data), place + len(body), len(data))
    body += data + bytes(-len(data) % 4)
with open(sys.argv[1], "wb") as file:
    file.write(head + body)
