# SPDX-License-Identifier: GPL-2.0
"""How cost grows: with the array, the key, the batch, the kind, the error rate."""
import json
import statistics
import subprocess

SIZES = (1, 4, 16, 64, 256, 1024, 4096)
LENGTHS = (4, 8, 12, 16, 32, 64, 128, 256, 512, 1024)
BATCHES = (1, 4, 16, 64, 256, 1024, 4096)
KINDS = (("blocked", dict(kind=0)), ("classic", dict(kind=1)), ("counting", dict(kind=2)),
         ("window", dict(kind=0, generations=4)))
RATES = (0.1, 0.01, 0.001, 1e-4, 1e-5, 1e-6)
WHAT = ("hit", "miss", "new", "seen")


def medians(rows):
    """The loops' medians, ns a key."""
    loops = {}
    for r in rows:
        loops.setdefault(r.loop, []).append(r.ps / 1000)
    return {loop: statistics.median(v) for loop, v in loops.items()}


class Curves:
    """Tables for plots.gp; each row the medians of a few rounds."""

    def __init__(self, bench):
        self.bench = bench

    def runs(self, mem, runs):
        """Several runs of the module in one boot: medians of each."""
        script = "".join("echo next >/dev/kmsg;" + self.bench.insmod(rounds=self.bench.args.curve_rounds, **p)
                         for p in runs)
        text = self.bench.uml(script, mem=mem, timeout=3600)
        return [medians(self.bench.parse(part)) for part in text.split(" next\n")[1:]]

    def core(self, name, column, points, mem="6G"):
        """The filter's loops at each of @points, (label, parameters)."""
        found = self.runs(mem, [p for _, p in points])
        self.bench.table(name, column + "," + ",".join(WHAT),
                         [(label, *(m["core-" + w] for w in WHAT)) for (label, _), m in zip(points, found)])

    def all(self):
        """Every curve."""
        self.core("curve-size", "MiB",
                  [(s, dict(mib=s, count=min(1 << 20, s << 13))) for s in SIZES], mem="10G")
        self.core("curve-length", "key_bytes",
                  [(n, dict(mib=64, len=n, count=1 << 17)) for n in LENGTHS])
        self.core("curve-kind", "kind",
                  [(name, dict(mib=64, count=1 << 19, **p)) for name, p in KINDS])
        found = self.runs("4G", [dict(mib=64, batch=b, peers="batch", count=1 << 18) for b in BATCHES])
        self.bench.table("curve-batch", "keys,hit,miss,new",
                         [(b, *(m["batch-" + w] for w in WHAT[:3])) for b, m in zip(BATCHES, found)])
        self.memory()
        self.lifecycle()

    def memory(self):
        """Bits a key that a filter takes; ten million keys."""
        rows = []
        for rate in RATES:
            row = [str(rate)]
            for kind in ("blocked", "classic", "counting"):
                done = subprocess.run([self.bench.top + "/build/bin/bloomctl", "size", "-n", "10000000", "-p",
                                       str(rate), "--kind", kind, "--json"],
                                      check=True, capture_output=True, text=True)
                row.append(json.loads(done.stdout)["bytes"] * 8 / 1e7)
            rows.append(row)
        self.bench.table("curve-memory", "rate,blocked,classic,counting", rows)

    def lifecycle(self):
        """Making, emptying, dropping; User Mode Linux can't unmap so many pages."""
        text = self.bench.in_guest("lifecycle", "/in/lifecycle 3 1 4 16 64 256", "--parameters",
                                   self.bench.caps(1))
        cost = {}
        for line in text.splitlines():
            if line.startswith("lifecycle,"):
                field = line.split(",")
                cost.setdefault(int(field[1]), []).append(list(map(float, field[3:])))
        self.bench.table("curve-lifecycle", "MiB,ms_create,ms_clear,ms_close",
                         [(mib, *(statistics.median(c) for c in zip(*rounds))) for mib, rounds in cost.items()])
