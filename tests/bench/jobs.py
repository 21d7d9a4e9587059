# SPDX-License-Identifier: GPL-2.0
"""Whole jobs: what a person would run, against what he runs today.

Each has one CPU. Ours runs in User Mode Linux, which has the module, by its clock;
the others on the host, by the clock or by their CPU time, whichever is less: the
machine may have others to serve. In User Mode Linux they would be ten times
slower (gawk 299 s in place of 22), for each page of memory costs 60 us there.
"""
import contextlib
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
MEASURE = os.path.join(HERE, "measure")
CPU = str(max(os.sched_getaffinity(0)))
LANE = "a CPU each; ours by the clock in uml, the other's on the host or its CPU time, if less"


class Jobs:
    """The lines of the command line's jobs, and the UUIDs of Java's."""

    def __init__(self, bench):
        self.bench = bench
        self.n = bench.args.lines
        self.rounds = bench.args.job_rounds
        self.data = os.path.join(bench.out, "data")

    @contextlib.contextmanager
    def file(self, *what):
        """A file of test data, gone afterwards."""
        os.makedirs(self.data, exist_ok=True)
        path = os.path.join(self.data, what[0])
        with open(path, "w") as f:
            subprocess.run([self.bench.out + "/lines", *map(str, what)], stdout=f, check=True)
        try:
            yield path
        finally:
            os.unlink(path)

    def host(self, command, stdin):
        """Seconds and KiB of a command."""
        done = subprocess.run(["taskset", "-c", CPU, MEASURE, stdin, self.data + "/out", *command],
                              capture_output=True, text=True)
        if done.returncode:
            self.bench.wrong.append("%s: status %d" % (command, done.returncode))
        wall, cpu, kib = done.stdout.strip().split(",")[1:]
        return min(float(wall), float(cpu)), int(kib)

    def lines_out(self, command):
        """As many lines came out as there are different ones."""
        with open(self.data + "/out", "rb") as f:
            count = sum(block.count(b"\n") for block in iter(lambda: f.read(1 << 20), b""))
        if not 0.99999 * self.n / 2 <= count <= self.n / 2:
            self.bench.wrong.append("%s: %d lines out of %d" % (command, count, self.n))

    def in_uml(self, script, mem="5G"):
        """Output of a script that has the module."""
        return self.bench.uml("insmod %s/kmod-uml/bloom.ko %s\n%s" %
                              (self.bench.out, self.bench.caps(4), script), mem=mem, timeout=3600)

    def ours(self, urls):
        """Seconds, and KiB of the process and the filter: the median of three."""
        text = self.in_uml("""
mount -t tmpfs -o size=3G work /run; cp %s /run/urls; cd /run
for i in 1 2 3; do
  %s urls out %s/build/bin/bloomctl dedup --stats --json 2>&1
  echo "lines,$(wc -l <out)"
done
""" % (urls, MEASURE, self.bench.top))
        runs, filter_kib = [], 0
        for line in text.splitlines():
            if line.startswith("{"):
                filter_kib = json.loads(line)["bytes"] / 1024
            elif line.startswith("measure,"):
                wall, _, kib = line.split(",")[1:]
                runs.append((float(wall), int(kib) + filter_kib))
            elif line.startswith("lines,"):
                count = int(line.split(",")[1])
                if not 0.99999 * self.n / 2 <= count <= self.n / 2:
                    self.bench.wrong.append("dedup: %d lines" % count)
        return statistics.median_low(runs)

    def redis(self, what, n, question, low, high):
        """Requests of lines, pipelined by redis-cli, and what then must be so: (seconds, KiB)."""
        sock = self.data + "/redis.sock"
        server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", sock, "--save", "",
                                   "--appendonly", "no", "--dir", self.data],
                                  stdout=subprocess.DEVNULL)

        def cli(*words):
            return subprocess.run(["redis-cli", "-s", sock, *words], capture_output=True, text=True).stdout

        try:
            while "PONG" not in cli("ping"):
                if server.poll() is not None:
                    sys.exit("bench: redis-server ended with %d" % server.returncode)
                time.sleep(0.1)
            with self.file(what, n) as requests, open(requests) as i:
                start = time.monotonic()
                subprocess.run(["redis-cli", "-s", sock, "--pipe"], stdin=i, check=True,
                               stdout=subprocess.DEVNULL)
                wall = time.monotonic() - start
            with open("/proc/%d/stat" % server.pid) as f:
                ticks = f.read().rsplit(")")[1].split()
            cpu = (int(ticks[11]) + int(ticks[12])) / os.sysconf("SC_CLK_TCK")
            answer = cli(*question)
            if not low <= int(answer.split()[-1]) <= high:
                self.bench.wrong.append("redis, %s: %s, not %d to %d" % (what, answer, low, high))
            kib = int(re.search(r"used_memory:(\d+)", cli("info", "memory")).group(1)) / 1024
        finally:
            server.kill()
            server.wait()
        return min(wall, cpu), kib

    def redis_set(self):
        """All lines as members of a set."""
        return self.redis("sadd", self.n, ("scard", "s"), self.n // 2, self.n // 2)

    def redis_bits(self):
        """A filter that the client keeps in Redis: some of the lines, taken for all."""
        part = self.n // 20
        bits = part * 29 * (1 - math.exp(-part / 2 * 20 / (part * 29)))
        seconds, kib = self.redis("setbit", part, ("bitcount", "b"), 0.995 * bits, 1.005 * bits)
        return 20 * seconds, 20 * kib

    def dedup_round(self):
        """Each command once, on the same lines: {name: (seconds, KiB)}."""
        took = {}
        with self.file("urls", self.n) as urls:
            took["bloomctl"] = self.ours(urls)
            for name, command in (("gawk", ["gawk", "!seen[$0]++"]), ("mawk", ["mawk", "!seen[$0]++"]),
                                  ("sort", ["sort", "-u"])):
                took[name] = self.host(command, urls)
                self.lines_out(name)
            dcso = self.data + "/dcso"
            subprocess.run(["bloom", "create", "-n", str(self.n), "-p", "0.000001", dcso], check=True)
            took["dcso"] = self.host(["bloom", "insert", dcso], urls)
        took["redis"] = self.redis_set()
        took["redis-bits"] = self.redis_bits()
        took["awk"] = min(took["gawk"], took["mawk"])
        return took

    def dedup(self):
        """bloomctl dedup, its rivals on the command line, and Redis."""
        bench = self.bench
        rounds = [self.dedup_round() for _ in range(self.rounds)]
        for id, fast, small in (("awk", 15, 12), ("sort", 8, 20), ("dcso", 8, None), ("redis", 25, 15)):
            bench.goal("dedup-vs-" + id, [r[id][0] / r["bloomctl"][0] for r in rounds], fast, LANE)
            if small:
                bench.goal("dedup-vs-%s/memory" % id, [r[id][1] / r["bloomctl"][1] for r in rounds],
                           small, LANE)
        bench.goal("dedup-vs-redis-bits", [r["redis-bits"][0] / r["bloomctl"][0] for r in rounds], 1, LANE,
                   note="no goal was set")
        bench.table("dedup", "command,seconds,KiB",
                    [(name, *took) for r in rounds for name, took in r.items() if name != "awk"])
        shutil.rmtree(self.data)

    def uuids(self):
        """UUID strings made beforehand, added then asked, as Java's sets do it."""
        bench = self.bench
        with self.file("uuids", self.n) as path:
            text = self.in_uml("%s/job %d 0.01 36 %s %d" % (bench.out, self.n, path, self.rounds), mem="4G")
            ours = [tuple(map(float, line.split(",")[1:])) for line in text.splitlines()
                    if line.startswith("job,")]
            bench.parse(text)
            rows = [("bloom", *o) for o in ours]
            theirs = {}
            for name in ("HashSet",) * self.rounds + ("TreeSet", "BitSet"):
                done = subprocess.run(["java", "-Xms12g", "-Xmx12g", "-cp", bench.out, "Uuids", path, name, str(self.n)],
                                      capture_output=True, text=True)
                bench.parse(done.stdout)
                for line in done.stdout.splitlines():
                    if line.startswith("java,"):
                        theirs.setdefault(name, []).append(tuple(map(float, line.split(",")[2:])))
                        rows.append((name, *theirs[name][-1]))
                if done.returncode:
                    bench.wrong.append("java %s: %s" % (name, done.stderr[-300:]))
        for name, goals in (("HashSet", (25, 12, 100)), ("TreeSet", (1, 1, 1)), ("BitSet", (1, 1, 1))):
            for i, what in enumerate(("added", "asked", "memory")):
                bench.goal("uuid-vs-%s/%s" % (name.lower(), what),
                           [t[i] / statistics.median(o[i] for o in ours) for t in theirs.get(name, [])],
                           goals[i],
                           "ours by the clock in uml, Java's on the host",
                           note="" if name == "HashSet" else "no goal was set")
        self.bench.table("uuids", "set,ns_added,ns_asked,bytes", rows)
        shutil.rmtree(self.data)
