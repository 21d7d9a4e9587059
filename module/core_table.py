#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
"""Write core_table.h: how many slots a key needs, and how many probes.

    ./core_table.py > core_table.h

The tables run over L = -log2(rate) in steps of a quarter of a bit. A step has
the number of probes k for its whole length, and the slots a key that this k
needs at its lower and at its upper end, in 16.16 fixed point, rounded up.
Between the ends core_geometry.c goes along the straight line. What a fixed k
needs is a convex function of L (where it is not, at rates near 1, the lower end
is raised, by two units more than sixteenths of the step need, since between them
less than that is missing), so that the line never promises more than it holds.

Blocked (and counting; a block is 512 slots whatever a slot is): a block gets a
number of keys i that is Poisson with mean 512 / c at c slots a key. Its i * k
throws with replacement leave D distinct slots set, a random number whose
distribution is a Markov chain over D. A key that is not there is "present" if
its own k throws, with replacement, all fall on those:

    rate(c, k) = sum_i Poisson(i; 512 / c) E[(D_ik / 512)^k]

This is exact up to the binomial being a Poisson, which is on the safe side: a
binomial is narrower. The widespread formula that puts the mean of D in place of
its distribution promises 2 to 7 % too much.

Classic: rate(c, k) = (1 - exp(-k / c))^k. The spread of the number of set bits,
which that leaves out, is below 0.2 % of a rate of 1e-6 in the smallest filter.

Of all k the least c decides, but a smaller k is taken where it costs at most
0.3 % more slots: the optimum is flat, and every probe costs time for ever.
"""

import math
import operator
import sys

BLOCK = 512
FRACTION = 16			# fraction bits of L and of slots a key
STEP = 4			# steps in a bit of L
PROBES_MAX = 64
TRADE = 1.003			# slots that a smaller k may cost
BLOCKED_BITS = 40		# the smallest rates: 2^-40, 2^-48
CLASSIC_BITS = 48
ONE = 1 << FRACTION
TINY = 1e-12			# of a rate: what may be left out of a sum


class Blocked:
    """The error rate of 512-slot blocks."""

    def __init__(self, throws):
        """Tabulate E[(D_ik / 512)^k] for all i * k up to @throws."""
        powers = [[(d / BLOCK) ** k for d in range(BLOCK + 1)]
                  for k in range(PROBES_MAX + 1)]
        stay = powers[1]
        move = [1 - s for s in stay]
        self.moments = [[0.0] for k in range(PROBES_MAX + 1)]
        dist = [1.0] + [0.0] * BLOCK
        for t in range(1, throws + 1):
            gone = [0.0] + list(map(operator.mul, dist, move))
            dist = list(map(operator.add, map(operator.mul, dist, stay), gone))
            for k in range(1, PROBES_MAX + 1):
                if t % k == 0:
                    self.moments[k].append(
                        sum(map(operator.mul, dist, powers[k])))

    def rate(self, slots, k):
        """The error rate at @slots a key with @k probes."""
        mean = BLOCK / slots
        moments = self.moments[k]
        log_mean = math.log(mean)
        total = 0.0
        for i in range(1, len(moments)):
            weight = math.exp(i * log_mean - mean - math.lgamma(i + 1))
            total += weight * moments[i]
            # Past the mean the weights fall at least as a geometric series.
            if i > 2 * mean and weight < TINY * total:
                return total
        # The tail beyond the table, as if those blocks were full.
        return total + 2 * weight if i > 2 * mean else 1.0


class Classic:
    """The error rate of bits anywhere."""

    def rate(self, slots, k):
        """The error rate at @slots a key with @k probes."""
        return (-math.expm1(-k / slots)) ** k


def least(model, bits, k, floor=1):
    """The least slots a key in 16.16, at least @floor, with a rate of 2^-bits."""
    target = 2.0 ** -bits
    low, high = floor - 1, max(2 * floor, ONE)
    while model.rate(high / ONE, k) > target:
        low, high = high, 2 * high
        if high > 4096 * ONE:
            return high
    while high - low > 1:
        mid = (low + high) // 2
        if model.rate(mid / ONE, k) > target:
            low = mid
        else:
            high = mid
    return high


def line(low, high, part):
    """What core_geometry.c reads off a step at @part of 16: rounded up."""
    return low + ((high - low) * part + 15) // 16


def steps(model, bits):
    """The table for one model down to 2^-bits."""
    probes, floor, rows = 1, 1, []
    for step in range(bits * STEP):
        lower, upper = step / STEP, (step + 1) / STEP
        # The best k grows with L, and so do the slots for any k.
        need = {}
        for k in range(probes, PROBES_MAX + 1):
            need[k] = least(model, upper, k, floor)
            if need[k] > 1.02 * min(need.values()):
                break
        floor = min(need.values())
        probes = min(k for k in need if need[k] <= TRADE * floor)
        high = need[probes]
        low = least(model, lower, probes) if step else 1
        for part in range(1, 16):
            at = lower + (upper - lower) * part / 16
            need_at = least(model, at, probes, low) + 2 * (upper <= 1)
            while line(low, high, part) < need_at:
                low += max(1, need_at - line(low, high, part))
        rows.append((probes, low, high))
    return rows


def show(name, rows):
    """Print one table."""
    print(f"static const struct size_step {name}[] = {{")
    for start in range(0, len(rows), 2):
        print("\t" + " ".join(f"{{ {k}, {low}, {high} }},"
                              for k, low, high in rows[start:start + 2]))
    print("};")


def main():
    """Print the header."""
    print("""\
/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Written by core_table.py, which says what this is; do not edit.
 *
 * An entry a quarter of a bit of L = -log2(rate), from L = 0: the probes, and
 * the slots a key at the lower and at the upper end of the step, in 16.16.
 */
#ifndef BLOOM_CORE_TABLE_H
#define BLOOM_CORE_TABLE_H

struct size_step {
	u32 probes;
	u32 lower;
	u32 upper;
};
""")
    print(f"#define SIZE_STEPS\t{STEP}\t/* in a bit of L */\n")
    show("blocked_steps", steps(Blocked(4096), BLOCKED_BITS))
    print()
    show("classic_steps", steps(Classic(), CLASSIC_BITS))
    print("\n#endif /* BLOOM_CORE_TABLE_H */")


if __name__ == "__main__":
    sys.exit(main())
