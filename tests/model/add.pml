/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ADD of one key by two callers, beside growth, CLEAR and other keys.
 *
 * A key has two bits in a layer. A layer can be grown; CLEAR publishes a set of
 * fresh layers. Another stripe's key may set the first bit of the first layer (a
 * classic array: words are shared, no lock excludes it). Callers look without the
 * lock, and again with it; see module/ops.c.
 *
 * Holds: without CLEAR exactly one caller is told "absent"; the key is present
 * afterwards, at every moment after an ADD has returned.
 *
 * -DNO_SECOND_LOOK and -DSTALE_SET leave out what makes it so; then spin must
 * find an error. The model is sequentially consistent.
 */
#define LAYERS	4			/* two of the first set, two after CLEAR */

typedef Layer { bool slot[2] };
Layer layer[LAYERS];

byte first = 0;				/* the published set: layers first .. */
byte count = 1;				/* .. first + count - 1 */
bool locked;				/* the stripe */
byte target;				/* __guarded_by(locked) */
byte target_first;			/* the epoch of target */
byte absent, returned;
bool cleared;

/* Look in the set (f, n), the newest layer first. */
inline look(f, n, i, seen) {
	seen = false;
	i = n;
	do
	:: i == 0 || seen -> break
	:: else ->
		i--;
		if
		:: layer[f + i].slot[0] ->
			if
			:: layer[f + i].slot[1] -> seen = true
			:: else
			fi
		:: else
		fi
	od
}

inline deref(f, n) {
	d_step { f = first; n = count }
}

inline lock() {
	atomic { !locked -> locked = true }
}

proctype add() {
	byte f, n, i;
	bool seen;

	deref(f, n);
	look(f, n, i, seen);
	if
	:: seen
	:: else ->
		lock();
#ifndef STALE_SET
		deref(f, n);
#endif
#ifdef NO_SECOND_LOOK
		seen = false;
#else
		look(f, n, i, seen);
#endif
		if
		:: seen
		:: else ->
			if
			:: target_first != f -> target_first = f; target = 0
			:: else
			fi;
			/* The stripe's share may be full or not. */
			if
			:: target + 1 < n -> target++
			:: true
			fi;
			layer[f + target].slot[0] = true;
			layer[f + target].slot[1] = true
		fi;
		locked = false
	fi;
	d_step {
		absent = absent + (seen -> 0 : 1);
		returned++
	}
}

/* Whoever asks after an ADD has returned is told "present". */
proctype query() {
	byte f, n, i;
	bool seen;

	returned > 0;
	deref(f, n);
	look(f, n, i, seen);
	assert(seen || cleared)
}

proctype grow() {
	count = 2
}

/* A key of another stripe with which ours shares a bit. */
proctype other() {
	layer[0].slot[0] = true
}

#ifdef CLEAR
proctype clear() {
	d_step { first = 2; count = 1; cleared = true }
}
#endif

init {
	atomic {
		run add();
		run add();
		run query();
		run grow();
		run other();
#ifdef CLEAR
		run clear()
#endif
	}
	_nr_pr == 1;
	assert(absent == 1 || (cleared && absent == 2));
	assert(!locked)
}
