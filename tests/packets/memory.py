#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""memory.py [BLOOMCTL]

What it takes to remember every packet of the last while: a window filter of four
generations, as 'bloomctl size' computes it, beside a BPF LRU hash with keys of 16
bytes and times of 8. Frames are 500 bytes on average, 20 bytes of gap and
preamble included.
"""
import json
import subprocess
import sys

FRAME = 500
GENERATIONS = 4
RATE = "1e-4"
# struct htab_elem is 48 bytes, the key 16, the time 8; and a bucket of 16 bytes
# for each, their number rounded up to a power of two.
ELEMENT, BUCKET = 48 + 16 + 8, 16


def filter_bytes(ctl, packets):
    capacity = max(1, -(-packets // (GENERATIONS - 1)))
    out = subprocess.run(
        [ctl, "size", "--json", "--window", str(GENERATIONS), "--period", "1s",
         "-n", str(capacity), "-p", RATE], check=True, capture_output=True, text=True).stdout
    return json.loads(out)["bytes"]


def lru_bytes(packets):
    return packets * ELEMENT + (1 << (packets - 1).bit_length()) * BUCKET


def human(n):
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if n < 1024 or unit == "TiB":
            return f"{n:.3g} {unit}" if n < 1000 else f"{n:.0f} {unit}"
        n /= 1024
    return ""


def main():
    ctl = sys.argv[1] if len(sys.argv) > 1 else "bloomctl"
    print("| link | window | packets | filter | LRU hash | ratio |")
    print("|---|---|---|---|---|---|")
    for gbit in (1, 10, 100):
        for seconds in (0.05, 1, 60):
            packets = round(gbit * 1e9 / 8 / FRAME * seconds)
            ours, theirs = filter_bytes(ctl, packets), lru_bytes(packets)
            print(f"| {gbit} Gbit/s | {seconds:g} s | {packets:,} | {human(ours)} | "
                  f"{human(theirs)} | {theirs / ours:.1f} |")


main()
