# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# First visits, compared with a hash set of all addresses.

load helpers

setup_file() {
	bloomctl list -q >/dev/null 2>&1 || return 0
	compare-sets 50000 >"$BATS_FILE_TMPDIR/table"
}

column() { awk -v name="$1" -v n="$2" '$1 == name { print $n }' "$BATS_FILE_TMPDIR/table"; }

@test "one hash, a million bits, 50,000 addresses: as theory says" {
	cat "$BATS_FILE_TMPDIR/table"
	[ "$(column hashset 3)" -eq 0 ]
	[ "$(column single-hash 5)" = 2.459 ]
	# 1229.5 on average; the standard deviation is 35: 4.5 of them.
	[ "$(column single-hash 3)" -ge 1070 ]
	[ "$(column single-hash 3)" -le 1389 ]
}

@test "the sized filter: 0.1 % lost at most, a tenth of a hash set's memory at most" {
	cat "$BATS_FILE_TMPDIR/table"
	at_most "$(column sized 3)" 50
	[ $((10 * $(column sized 6))) -lt "$(column hashset 6)" ]
	# The hash set is no straw man: a string, a pointer and a bucket each.
	[ "$(column hashset 6)" -lt $((50000 * 50)) ]
}

@test "rows come out whole and in order" {
	seq 1000 | awk '{ print "10.0." $1 % 7 "." $1 % 30, "GET /" $1 }' >rows
	awk '!seen[$1]++' rows >exact
	first-visit -n 1000 -p 1e-9 <rows | cmp - exact
	hashset <rows 2>/dev/null | cmp - exact
}

@test "two writers, one filter: a first visit is written once" {
	seq 2000 | sed 's/.*/10.1.&/' >rows
	first-visit --name visits.$$ -p 1e-9 <rows >one &
	first-visit --name visits.$$ -p 1e-9 <rows >two
	wait $!
	bloomctl rm visits.$$
	sort one two | cmp - <(sort rows)
}

@test "help and refusals" {
	has_help first-visit compare-sets hashset
	refused "-n needs a value" first-visit -n
	refused "x" first-visit -n x
	refused "usage:" first-visit --what
	refused "'999': must be a whole number from 1000 to 10000000" compare-sets 999
	refused "unknown argument 'x'" hashset x
}
