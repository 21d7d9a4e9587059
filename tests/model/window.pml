/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A window of two live generations and a spare, rotated while a key is added and
 * asked for, by QUERY under rcu_read_lock or, -DMAPPED, by a reader of the mapping.
 *
 * Holds: a key whose ADD began in generation g and that is renewed before
 * rotation g + G is found by whoever asks meanwhile; so it is remembered for G - 1
 * whole periods at least. A mapped reader's "absent" counts only if seq was even
 * and what it knows, before it looked and after.
 *
 * -DNO_GRACE (zeroing without a grace period) and -DNO_SECOND_CHECK (a mapped
 * reader that does not compare seq after it looked) must make spin find an error.
 * The model is sequentially consistent. See module/window.c, module/set.c.
 */
#define GENERATIONS	2
#define RING		3
#define ROTATIONS	3

typedef Layer { bool slot[2] };
Layer layer[RING];

byte current;			/* set->current_layer */
byte seq;			/* bloom_head.seq */
byte generation;		/* how often current was moved */

byte reading[2];		/* read-side sections: odd while inside */
#define ADDER	0
#define READER	1

byte added = 255;		/* the generation when ADD began, once it returned */
bool lapsed;			/* it was not renewed in time */

inline zero(l) {
	layer[l].slot[0] = false;
	layer[l].slot[1] = false
}

/* Wait for everybody who was inside. */
inline synchronize_rcu(i, seen) {
	i = 0;
	do
	:: i == 2 -> break
	:: else ->
		seen = reading[i];
		if
		:: seen % 2 == 1 -> reading[i] != seen
		:: else
		fi;
		i++
	od
}

proctype rotate() {
	byte next, i, seen;

	do
	:: generation == ROTATIONS -> break
	:: else ->
		/* The spare is empty: the last round saw to it. */
		next = (current + 1) % RING;
		seq++;
		d_step {
			current = next;
			generation++;
			if
			:: added != 255 && generation >= added + GENERATIONS ->
				lapsed = true
			:: else
			fi
		}
		seq++;
#ifndef NO_GRACE
		synchronize_rcu(i, seen);
#endif
		zero((next + 1) % RING)
	od
}

inline look(cur, j, seen) {
	seen = false;
	j = 0;
	do
	:: j == GENERATIONS || seen -> break
	:: else ->
		if
		:: layer[(cur + RING - j) % RING].slot[0] ->
			if
			:: layer[(cur + RING - j) % RING].slot[1] -> seen = true
			:: else
			fi
		:: else
		fi;
		j++
	od
}

/* The key is added, and later renewed. */
proctype add() {
	byte cur, start, times;

	do
	:: times == 2 -> break
	:: else ->
		start = generation;
		reading[ADDER]++;
		cur = current;
		layer[cur].slot[0] = true;
		layer[cur].slot[1] = true;
		reading[ADDER]++;
		d_step {
			added = start;
			if
			:: generation >= start + GENERATIONS -> lapsed = true
			:: else
			fi
		}
		times++
	od
}

proctype query() {
	byte cur, j;
	bool seen;

	added != 255;
	reading[READER]++;
	cur = current;
	look(cur, j, seen);
	reading[READER]++;
	assert(seen || lapsed)
}

/* INFO was asked at any time before; it tells seq and current together. */
proctype mapped() {
	byte known, before, cur, j;
	bool seen;

	d_step { known = seq; cur = current }
	added != 255;
	before = seq;
	look(cur, j, seen);
	if
	:: seen
	:: else ->
#ifdef NO_SECOND_CHECK
		assert(before != known || known % 2 == 1 || lapsed)
#else
		assert(before != known || seq != known || known % 2 == 1 ||
		       lapsed)
#endif
	fi
}

init {
	atomic {
		run rotate();
		run add();
#ifdef MAPPED
		run mapped()
#else
		run query()
#endif
	}
}
