# SPDX-License-Identifier: GPL-2.0
"""Read and write classic pcap files; tell what two copies of a packet share."""
import gzip
import struct

ETHERNET = 1
VLANS = (0x8100, 0x88A8)


def read(path):
    """Link type and [(seconds, frame)]; what is damaged ends the file."""
    opener = gzip.open if str(path).endswith(".gz") else open
    with opener(path, "rb") as file:
        data = file.read()
    magics = {
        b"\xd4\xc3\xb2\xa1": ("<", 1e6), b"\xa1\xb2\xc3\xd4": (">", 1e6),
        b"\x4d\x3c\xb2\xa1": ("<", 1e9), b"\xa1\xb2\x3c\x4d": (">", 1e9),
    }
    if data[:4] not in magics:
        return None, []
    order, unit = magics[data[:4]]
    link = struct.unpack(order + "I", data[20:24])[0]
    packets = []
    at = 24
    while at + 16 <= len(data):
        sec, sub, kept, _ = struct.unpack(order + "4I", data[at:at + 16])
        at += 16
        if kept > 65535 or at + kept > len(data):
            break
        packets.append((sec + sub / unit, data[at:at + kept]))
        at += kept
    return link, packets


def write(path, packets):
    with open(path, "wb") as file:
        file.write(struct.pack("<4sHHiIII", b"\x4d\x3c\xb2\xa1", 2, 4, 0, 0, 262144, ETHERNET))
        for when, frame in packets:
            nano = round(when * 1e9)
            file.write(struct.pack("<4I", nano // 10**9, nano % 10**9, len(frame), len(frame)))
            file.write(frame)


def layer3(frame):
    """(protocol, offset) of what is behind the VLAN tags, at most two."""
    proto, at = struct.unpack(">H", frame[12:14])[0], 14
    for _ in range(2):
        if proto not in VLANS or len(frame) < at + 4:
            break
        proto, at = struct.unpack(">H", frame[at + 2:at + 4])[0], at + 4
    return proto, at


def ip_version(frame):
    proto, at = layer3(frame)
    if proto == 0x0800 and len(frame) >= at + 20:
        return 4
    if proto == 0x86DD and len(frame) >= at + 40:
        return 6
    return 0


def key(frame):
    """What all copies have in common: xdp_dedup's default, written anew."""
    proto, at = layer3(frame)
    version = ip_version(frame)
    if version == 0:
        return frame[:12] + frame[at - 2:]
    packet = bytearray(frame[at:])
    if version == 4:
        total = struct.unpack(">H", packet[2:4])[0]
        packet[1] = 0           # TOS
        packet[8] = 0           # TTL
        packet[10:12] = b"\0\0"  # checksum
    else:
        total = struct.unpack(">H", packet[4:6])[0]
        total = 40 + total if total else 0
        packet[0] &= 0xF0       # traffic class, flow label
        packet[1:4] = b"\0\0\0"
        packet[7] = 0           # hop limit
    if 0 < total < len(packet):
        packet = packet[:total]
    return frame[at - 2:at] + bytes(packet)


# Of every frame that we make, in what no copy need have in common: the source
# address of an IP packet, the outer VLAN tag of anything else.
MAC = b"\x02\xb1"


def number(frame, serial):
    if ip_version(frame):
        return frame[:6] + MAC + struct.pack(">I", serial) + frame[12:]
    return frame[:12] + struct.pack(">HH", 0x88A8, serial) + frame[12:]


def serial(frame):
    """(is IP, number), or None if it is not one of ours."""
    if len(frame) < 18:
        return None
    if ip_version(frame):
        return (True, struct.unpack(">I", frame[8:12])[0]) if frame[6:8] == MAC else None
    tag, value = struct.unpack(">HH", frame[12:16])
    return (False, value) if tag == 0x88A8 else None
