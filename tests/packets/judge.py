#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""judge.py GENERATED.pcap SENT.pcap PASSED.pcap COUNTERS.json WINDOW GENERATIONS FP_RATE

Was every packet that passed one that had to, and the other way round? SENT is
what went into the wire, with the times at which it did; an exact model, that
remembers every key for ever, says of each frame whether it must pass, must not,
or may do either. It must not if a copy was there less than WINDOW ago; it must if
as many generations as there are have ended since, which the COUNTERS, a line
every few milliseconds, tell: a busy machine rotates late. The same is asked of
editcap -w. If PASSED is "-", as what tc drops a tap has seen before, the counters
alone are judged. TAP on standard output.
"""
import bisect
import json
import os
import subprocess
import sys
import tempfile

import pcap

SLACK = 0.005   # between a frame's time and that of its program's run

tests = 0


def check(what, good, *notes):
    global tests
    tests += 1
    print(f"{'ok' if good else 'not ok'} {tests} - {what}")
    for note in notes:
        print(f"# {note}")


def read(path):
    """Our frames, less what else was on the wire."""
    return [(when, frame) for when, frame in pcap.read(path)[1] if pcap.serial(frame)]


def editcap(sent, window):
    """The numbers that editcap -w lets through, of frames in their common form."""
    with tempfile.TemporaryDirectory() as work:
        before, after = os.path.join(work, "before"), os.path.join(work, "after")
        pcap.write(before, [
            (when, b"%d%07d" % pcap.serial(frame) + pcap.key(frame))
            for when, frame in sent])
        subprocess.run(["editcap", "-F", "pcap", "-I", "8", "-w", str(window), before, after],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return {(frame[:1] == b"1", int(frame[1:8])) for _, frame in pcap.read(after)[1]}


def main():
    generated, sent = read(sys.argv[1]), read(sys.argv[2])
    with open(sys.argv[4], encoding="ascii") as file:
        lines = [json.loads(line) for line in file]
    counters = lines[-1]
    times = [line["time"] for line in lines]
    # Before the first line and after the last nothing is known.
    rotations = [-1e9] + [line["filter"]["rotations"] for line in lines] + [1e9, 1e9]

    def ended(since, until):
        """
        How many generations ended between, at least. The count is older than the
        time that is written beside it: the second line after @since is the first
        that surely knows.
        """
        return rotations[bisect.bisect(times, until)] - \
            rotations[bisect.bisect(times, since) + 2]

    window, generations, rate = float(sys.argv[5]), int(sys.argv[6]), float(sys.argv[7])

    seen = {}
    must, may, must_not = [], [], []
    for when, frame in sent:
        last = seen.get(pcap.key(frame))
        seen[pcap.key(frame)] = when
        if last is None or ended(last, when) >= generations:
            group = must
        elif when - last < window - SLACK:
            group = must_not
        else:
            group = may
        group.append(pcap.serial(frame))
    allowed = 3 + 3 * rate * len(must)

    check("all was sent", len(sent) == len(generated), f"{len(generated)} frames")
    check("the counters agree", counters["packets"] == len(sent) and counters["errors"] == 0,
          json.dumps(counters))
    check("about as many duplicates as there were",
          len(must_not) <= counters["duplicates"] <= len(must_not) + len(may) + allowed,
          f"{counters['duplicates']} found, {len(must_not)} for certain, "
          f"{len(may)} on the window's edge")
    if sys.argv[3] == "-":
        print(f"1..{tests}")
        return

    passed = read(sys.argv[3])
    through = {pcap.serial(frame) for _, frame in passed}
    lost = [s for s in must if s not in through]
    twice = [s for s in must_not if s in through]
    check("nothing came through twice or from nowhere",
          len(passed) == len(through) and through <= {pcap.serial(f) for _, f in sent})
    check("no unique packet was lost beyond the promised error", len(lost) <= allowed,
          f"of {len(must)} that had to pass {len(lost)} were lost, {allowed:.1f} allowed")
    check("no duplicate inside the window was let through", not twice,
          f"{len(must_not)} duplicates, {len(twice)} let through, "
          f"{len(may)} on the window's edge")
    theirs = editcap(sent, window)
    edge = set(may)
    check("as editcap -w, but for the window's edge",
          len((theirs ^ through) - edge - set(lost)) == 0,
          f"editcap passed {len(theirs)}, we {len(through)}, "
          f"{len((theirs ^ through) & edge)} differ on the edge")
    check("what was not a duplicate passed",
          counters["packets"] - counters["duplicates"] == len(passed))
    print(f"1..{tests}")


main()
