#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
"""Write golden.h: what the hashes and the slots of some keys must be, for ever.

    ./golden.py > golden.h

A reference written from the papers and not from module/core_*, slow and plain:
lookup3 on a key padded with zero bytes to whole blocks of 12, SipHash-2-4 on
lists of integers, slots by Python's unlimited integers. Its own check values
(lookup3.c's driver5, the SipHash authors' vectors) are asserted on every run.
"""

import sys

MASK32 = 2 ** 32 - 1
MASK64 = 2 ** 64 - 1
GOLDEN_RATIO = 0x9e3779b97f4a7c15

# The SipHash authors' vectors: key 00 01 .. 0f, message 00 01 .. of 0 to 15
# bytes; the last is the one in the paper.
SIPHASH_OFFICIAL = [
    0x726fdb47dd0e0e31, 0x74f839c593dc67fd, 0x0d6c8009d9a94f5a,
    0x85676696d7fb7e2d, 0xcf2794e0277187b7, 0x18765564cd99a68d,
    0xcbc9466e58fee3ce, 0xab0200f58b01d137, 0x93f5f5799a932462,
    0x9e0082df0ba9e4b0, 0x7a5dbbc594ddb9f3, 0xf4b32f46226bada7,
    0x751e8fbc860ee5fb, 0x14ea5627c0843d90, 0xf723ca908e7af2ee,
    0xa129ca6149be45e5,
]


def rot(x, n, bits):
    """Rotate left."""
    return (x << n | x >> (bits - n)) & (2 ** bits - 1)


def lookup3(key, initval):
    """Both words of Bob Jenkins' hashlittle2(), (c, b), with *pb = 0."""
    a = b = c = (0xdeadbeef + len(key) + initval) & MASK32
    if not key:
        return c, b
    padded = key + bytes(-len(key) % 12)
    words = [int.from_bytes(padded[i:i + 4], "little")
             for i in range(0, len(padded), 4)]
    for i in range(0, len(words), 3):
        a = (a + words[i]) & MASK32
        b = (b + words[i + 1]) & MASK32
        c = (c + words[i + 2]) & MASK32
        if i + 3 < len(words):
            for n in (4, 6, 8, 16, 19, 4):	# mix()
                a = (a - c) & MASK32 ^ rot(c, n, 32)
                c = (c + b) & MASK32
                a, b, c = b, c, a
        else:
            for n in (14, 11, 25, 16, 4, 14, 24):	# final()
                c = ((c ^ b) - rot(b, n, 32)) & MASK32
                a, b, c = b, c, a
            # Seven turns of three names: undo the odd one.
            a, b, c = c, a, b
    return c, b


def fmix64(x):
    """MurmurHash3's 64-bit finaliser."""
    for factor in (0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53, 1):
        x ^= x >> 33
        x = x * factor & MASK64
    return x


def jhash64(key, seed):
    """The 64-bit hash by jhash."""
    c, b = lookup3(key, seed[0] & MASK32)
    return fmix64((b << 32 | c) ^ seed[1])


def siphash(key, seed):
    """SipHash-2-4."""
    v = [seed[0] ^ 0x736f6d6570736575, seed[1] ^ 0x646f72616e646f6d,
         seed[0] ^ 0x6c7967656e657261, seed[1] ^ 0x7465646279746573]

    def half(a, b, s, t):
        v[a] = (v[a] + v[b]) & MASK64
        v[b] = rot(v[b], s, 64) ^ v[a]
        if t:
            v[a] = rot(v[a], t, 64)

    def rounds(count):
        for _ in range(count):
            half(0, 1, 13, 32)
            half(2, 3, 16, 0)
            half(0, 3, 21, 0)
            half(2, 1, 17, 32)

    last = bytes(-(len(key) + 1) % 8) + bytes([len(key) & 255])
    message = key + last
    for i in range(0, len(message), 8):
        word = int.from_bytes(message[i:i + 8], "little")
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 255
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def block_slots(value, count):
    """Slots inside a block: 9-bit slices, 7 of every folded product."""
    slots = []
    while len(slots) < count:
        product = value * GOLDEN_RATIO
        value = product >> 64 ^ product & MASK64
        slots += [value >> 9 * i & 511 for i in range(7)]
    return slots[:count]


def scale(value, size):
    """A 64-bit value scaled to 0 .. size - 1."""
    return value * size // 2 ** 64


def classic_slots(value, size, count):
    """Slots of a classic filter."""
    return [scale(fmix64((value + i * GOLDEN_RATIO) & MASK64), size)
            for i in range(1, count + 1)]


def assert_reference():
    """The reference against what its inventors published."""
    score = b"Four score and seven years ago"
    assert lookup3(b"", 0) == (0xdeadbeef, 0xdeadbeef)
    assert lookup3(score, 0) == (0x17770551, 0xce7226e6)
    assert lookup3(score, 1) == (0xcd628161, 0x6cbea4b3)
    key = bytes(range(16))
    seed = [int.from_bytes(key[i:i + 8], "little") for i in (0, 8)]
    for length, value in enumerate(SIPHASH_OFFICIAL):
        assert siphash(key[:length], seed) == value, length


def array(name, kind, rows):
    """Print an array of initialisers."""
    print(f"\nstatic const {kind} {name} = {{")
    for row in rows:
        print("\t" + row + ",")
    print("};")


def main():
    """Print the header."""
    assert_reference()
    print("""\
/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Written by golden.py, which says what this is; do not edit.
 *
 * For host and kernel: include core_shim.h first, for the types.
 */
#ifndef BLOOM_TESTS_GOLDEN_H
#define BLOOM_TESTS_GOLDEN_H

#define GOLDEN_KEY_MAX\t64
#define GOLDEN_BLOCK\t24
#define GOLDEN_CLASSIC\t4

/* The first @len bytes of golden_keys[key], with golden_seeds[seed]. */
struct golden_hash {
	u32 key;
	u32 len;
	u32 seed;
	u64 jhash;
	u64 siphash;
};

/*
 * golden_official[len]: the SipHash authors' vectors; seed 1, and the message is
 * the bytes 00 01 02 ...
 */

/* The first slots of @hash in a block. */
struct golden_block {
	u64 hash;
	u16 slots[GOLDEN_BLOCK];
};

/* bloom_range(hash, size); the first slots in a classic filter of that size. */
struct golden_range {
	u64 hash;
	u64 size;
	u64 range;
	u64 slots[GOLDEN_CLASSIC];
};""")
    stream = b"".join(fmix64(i + 1).to_bytes(8, "little") for i in range(8))
    keys = [stream, bytes(255 - i for i in range(64))]
    seeds = [(0, 0), (0x0706050403020100, 0x0f0e0d0c0b0a0908),
             (MASK64, MASK64), (0x123456789abcdef0, 0xfedcba9876543210)]
    array("golden_keys[][GOLDEN_KEY_MAX]", "u8",
          ["{\n" + "".join("\t\t" + " ".join(f"0x{b:02x}," for b in k[i:i + 8])
                           + "\n" for i in range(0, 64, 8)) + "\t}"
           for k in keys])
    array("golden_seeds[][2]", "u64",
          [f"{{ 0x{a:016x}ULL, 0x{b:016x}ULL }}" for a, b in seeds])
    array("golden_hashes[]", "struct golden_hash",
          [f"{{ {k}, {n}, {s}, 0x{jhash64(keys[k][:n], seeds[s]):016x}ULL, "
           f"0x{siphash(keys[k][:n], seeds[s]):016x}ULL }}"
           for k in range(len(keys)) for n in range(65)
           for s in range(len(seeds))])
    array("golden_official[]", "u64",
          [f"0x{v:016x}ULL" for v in SIPHASH_OFFICIAL])
    hashes = [0, 1, MASK64, 2 ** 63, GOLDEN_RATIO] + [
        fmix64(i) for i in range(100, 108)]
    rows = []
    for value in hashes:
        slots = [str(s) for s in block_slots(value, 24)]
        rows.append(f"{{ 0x{value:016x}ULL, {{\n\t\t"
                    + ", ".join(slots[:12]) + ",\n\t\t"
                    + ", ".join(slots[12:]) + " }\n\t}")
    array("golden_blocks[]", "struct golden_block", rows)
    sizes = [1, 511, 512, 32768, 1000003, 2 ** 33 + 7, 2 ** 46]
    rows = []
    for value in hashes[:8]:
        for size in sizes:
            slots = ", ".join(f"{s}ULL"
                              for s in classic_slots(value, size, 4))
            rows.append(f"{{ 0x{value:016x}ULL, {size}ULL, "
                        f"{scale(value, size)}ULL,\n\t  {{ {slots} }} }}")
    array("golden_ranges[]", "struct golden_range", rows)
    print("\n#endif /* BLOOM_TESTS_GOLDEN_H */")


if __name__ == "__main__":
    sys.exit(main())
