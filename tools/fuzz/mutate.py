"""Damage to bytes and to archives, by a generator with a seed."""

import io
import struct
import zipfile
import zlib

ODD = [
    b"\xff\xff\xff\xff",
    b"\xff\xff\xff\x7f",
    b"\x00\x00\x00\x80",
    b"\x00\x00\x00\x00",
    b"\xff" * 8,
    b"999999999999",
    b"-1",
    b"nan",
    b"../../../../etc/passwd",
    b"|O",
]


def mutate(data, rng):
    """Flip bits, cut, insert, overwrite by odd values, or copy a piece elsewhere."""
    out = bytearray(data)
    how = rng.randrange(8)
    place = rng.randrange(max(1, len(out)))
    if how == 0:
        return bytes(out[:place])
    if how == 1:
        del out[place : place + rng.randrange(1, 40)]
    elif how == 2:
        out[place:place] = rng.randbytes(rng.randrange(1, 20))
    elif how == 3:
        odd = rng.choice(ODD)
        out[place : place + len(odd)] = odd
    elif how == 4:
        other, length = rng.randrange(max(1, len(out))), rng.randrange(1, 64)
        out[place : place + length] = out[other : other + length]
    elif out:
        for _ in range(rng.choice([1, 1, 2, 8, 64])):
            out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


def members(data):
    """Content of an archive by name."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive(content):
    """Bytes of an archive with this content, its checksums right."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name, data in content.items():
            file.writestr(name, data)
    return out.getvalue()


def inside_zip(data, rng):
    """Damage one member, not the archive."""
    content = members(data)
    hit = rng.choice(list(content))
    return archive({**content, hit: mutate(content[hit], rng)})


def inside_mat(data, rng):
    """Damage the variables, not their compression."""
    out, place = bytearray(data[:128]), 128
    while place + 8 <= len(data):
        kind, length = struct.unpack("<II", data[place : place + 8])
        content = zlib.decompress(data[place + 8 : place + 8 + length])
        if rng.random() < 0.3:
            content = mutate(content, rng)
        packed = zlib.compress(content)
        out += struct.pack("<II", kind, len(packed)) + packed
        place += 8 + length
    return bytes(out)
