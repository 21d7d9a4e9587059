# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Integers, a bit each, compared with sort(1).

load helpers

@test "which of the integers are present: exactly" {
	make-integers 20000 100000000 >some
	{ head -n 5000 some; make-integers 5000 100000000 2; } >asked
	present some <asked >answer
	# Candidates are printed as often as they are asked for.
	awk 'NR == FNR { present[$1]; next } $1 in present' some asked | cmp - answer
	[ "$(wc -l <answer)" -ge 5000 ]
}

@test "100 million integers take 12.5 MB, a billion 125 MB" {
	bloomctl create --kind bitmap --range 1-100000000 integers.$$
	bytes=$(bloomctl info -j integers.$$ | sed -n 's/.*"bytes": *\([0-9]*\).*/\1/p' | head -n 1)
	bloomctl rm integers.$$
	at_most $((bytes - 12500000)) 4096
	bytes=$(bloomctl size -j --kind bitmap --range 1-1000000000 | sed 's/.*"bytes": *\([0-9]*\).*/\1/')
	at_most $((bytes - 125000000)) 4096
}

@test "nothing present; the ends of the range" {
	printf '1\n100000000\n' >ends
	printf '1\n2\n99999999\n100000000\n' | present ends >answer
	cmp ends answer
	[ -z "$(echo 5 | present ends)" ]
	# What is not in the range is not passed over in silence.
	run present --range 1-10 ends <<<1
	[[ $output == *"1 of 2 integers are not in the bitmap's range"* ]]
}

@test "sorts as sort -n does, a tenth as many as can be" {
	compare-sorts 100000
}

@test "sorts as sort -n does, many repeats" {
	compare-sorts 3000 100
	compare-sorts 300 1
}

@test "sorts full and not quite full batches" {
	for n in 0 1 65535 65536 65537; do
		seq "$n" | bitmap-sort -r 1-70000 >answer
		seq "$n" | cmp - answer
	done
	{ seq 70000 -1 1; seq 70000; } >both
	bitmap-sort -r 1-70000 <both | cmp - <(sort -n both)
	bitmap-sort -r 1-70000 -u <both | cmp - <(seq 70000)
	bitmap-sort -r 1-70000 -v <both 2>&1 >/dev/null | grep -q 'repeats 70000 in 280000 bytes'
}

@test "ranges elsewhere, and what is out of them" {
	printf '18446744073709551615\n18446744073709551000\n18446744073709551615' >top
	bitmap-sort -r 18446744073709551000-18446744073709551615 <top | cmp - <(sort -n top)
	printf '0\n0\n4294967295\n' | bitmap-sort -r 4294967295-4294967296 2>message && return 1
	grep -q 'line 1: 0 is not in the range 4294967295-4294967296' message
	printf '7\n9\n184467440737095516150\n' | bitmap-sort -r 1-100 2>message && return 1
	grep -q 'line 3: .* is not in the range 1-100' message
	for bad in -1 x '' 1.5 ' 1'; do
		printf '3\n%s\n' "$bad" | bitmap-sort -r 1-100 2>message && return 1
		grep -q 'line 2: not a whole number' message
	done
}

@test "help and refusals" {
	has_help bitmap-sort make-integers present compare-sorts
	refused "--range '7'" bitmap-sort -r 7
	refused "not from 'file'" bitmap-sort file
	refused "--range, last integer '6': must be a whole number from 7 to 4294967302" bitmap-sort -r 7-6
	refused "MAX '4294967297'" make-integers 1 4294967297
	refused "'0': must be a whole number from 1 to 400000000" compare-sorts 0
	refused "--range needs a value" present --range
	run bash -c 'seq 9 | bitmap-sort -r 1-100 >/dev/full'
	[ "$status" -eq 2 ]
}
