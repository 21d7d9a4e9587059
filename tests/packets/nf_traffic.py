#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""nf_traffic.py OUT.pcap: for nf_dedup: 300 UDP packets, each twice, the second
with another TTL; and 100 without an id worth the name, twice as well. Of the 800
300 are duplicates."""
import struct
import sys

import pcap


def packet(port, ident, flags, ttl):
    udp = struct.pack(">4H", port, 9, 8 + 4, 0) + b"data"
    header = bytearray(struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), ident, flags,
                                   ttl, 17, 0, b"\x0a\0\0\1", b"\x0a\0\0\2"))
    total = sum(struct.unpack(">10H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    header[10:12] = struct.pack(">H", ~total & 0xFFFF)
    return b"\xff" * 6 + b"\x02\0\0\0\0\1" + b"\x08\0" + bytes(header) + udp


def main():
    frames = []
    for i in range(300):
        frames.append(packet(1000, i + 1, 0, 64))
        frames.append(packet(1000, i + 1, 0, 63))
    for i in range(100):
        frames.append(packet(2000 + i, 0, 0x4000, 64))
        frames.append(packet(2000 + i, 0, 0x4000, 63))
    pcap.write(sys.argv[1], [(i * 0.0002, frame) for i, frame in enumerate(frames)])


main()
