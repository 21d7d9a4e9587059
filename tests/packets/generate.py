#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""generate.py OUT.pcap CAPTURE...

Make of real captures what a mirror port would deliver: the packets in several
rounds, many of them twice or more within milliseconds, a router's hop or a VLAN
tag apart, out of order. Every frame carries a number where copies may differ.
"""
import random
import struct
import sys

import pcap

ROUNDS = 2
ROUND_GAP = 1.5     # seconds; in the next round all is new again
SPACING = 0.002     # seconds between originals
DELAY = 0.012       # of a copy, at most
LONGEST = 1500


def checksum(header):
    total = sum(struct.unpack(f">{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def hop(frame):
    """As the frame looks behind a router: one hop less, another class."""
    _, at = pcap.layer3(frame)
    packet = bytearray(frame[at:])
    if pcap.ip_version(frame) == 4:
        size = (packet[0] & 15) * 4
        packet[8] = (packet[8] - 1) & 255
        packet[1] = random.randrange(256)
        packet[10:12] = b"\0\0"
        if size <= len(packet):
            packet[10:12] = struct.pack(">H", checksum(bytes(packet[:size])))
    elif pcap.ip_version(frame) == 6:
        packet[7] = (packet[7] - 1) & 255
    return frame[:at] + bytes(packet)


def tag(frame):
    return frame[:12] + struct.pack(">HH", 0x8100, random.randrange(4096)) + frame[12:]


def fragments(frame):
    """An IPv4 packet in two pieces."""
    _, at = pcap.layer3(frame)
    header, payload = bytearray(frame[at:at + 20]), frame[at + 20:]
    cut = len(payload) // 2 & ~7
    for offset, part, more in ((0, payload[:cut], 0x2000), (cut, payload[cut:], 0)):
        header[2:4] = struct.pack(">H", 20 + len(part))
        header[6:8] = struct.pack(">H", more | offset // 8)
        header[10:12] = b"\0\0"
        header[10:12] = struct.pack(">H", checksum(bytes(header)))
        yield frame[:at] + bytes(header) + part


def originals(paths):
    for path in paths:
        link, packets = pcap.read(path)
        if link != pcap.ETHERNET:
            continue
        for _, frame in packets:
            if not 18 <= len(frame) <= LONGEST:
                continue
            yield frame
            _, at = pcap.layer3(frame)
            if pcap.ip_version(frame) == 4 and frame[at] == 0x45 and len(frame) > at + 120:
                yield from fragments(frame)


def copy(frame):
    if random.random() < 0.6:
        frame = hop(frame)
    if random.random() < 0.4:
        frame = tag(frame)
    return frame


def main():
    random.seed(1)
    base = list(originals(sys.argv[2:]))
    out = []
    for i in range(ROUNDS):
        random.shuffle(base)
        start = i * (len(base) * SPACING + ROUND_GAP)
        for j, frame in enumerate(base):
            when = start + j * SPACING
            out.append((when, frame))
            for _ in range(random.choice((0, 0, 1, 1, 2, 3))):
                out.append((when + random.uniform(0.0001, DELAY), copy(frame)))
    out.sort(key=lambda packet: packet[0])
    numbers = [0, 0]
    frames = []
    for when, frame in out:
        is_ip = bool(pcap.ip_version(frame))
        frames.append((when, pcap.number(frame, numbers[is_ip])))
        numbers[is_ip] += 1
    assert numbers[0] < 65536
    pcap.write(sys.argv[1], frames)
    print(f"{len(base)} frames, {len(set(map(pcap.key, base)))} keys; "
          f"{ROUNDS} rounds, {len(frames)} frames in all")


main()
