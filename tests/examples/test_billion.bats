# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# A billion URLs on paper, and fewer in fact.

load helpers

@test "a billion on paper: 1.24 GB at 1 %, 10 Gbit" {
	billion --paper >table
	cat table
	[ "$(wc -l <table)" -eq 7 ]
	# Classic is the textbook: n log2(1/p) / ln 2 bits, and not 2 % more.
	awk 'NR > 2 {
		textbook = 1e9 * -log($1) / log(2) ^ 2 / 8
		if ($3 < textbook || $3 > 1.02 * textbook || $2 < $3 || $4 < $2)
			bad = 1
		if ($1 == 0.01 && ($2 < 1.23e9 || $2 > 1.25e9))
			bad = 1
	}
	END { exit bad }' table
}

@test "a small run: nothing lost, the error as asked for, nothing left behind" {
	billion --urls 1000000 --fp-rate 0.01 --sample 20000 >report
	cat report
	grep -q '^made a filter for 1000000 URLs at 0.01: ' report
	grep -q '^asked for them: 20000 present ' report
	# 200 wrong are allowed, 10 % more promised; 4 standard deviations for chance.
	wrong=$(sed -n 's/.*full: \([0-9]*\) of 20000 others.*/\1/p' report)
	at_most "$wrong" 280
	grep -q '^For 1000000 URLs at 0.01 that means:' report
}

@test "more than fits: says why, and takes what does" {
	[ -z "$BLOOM_MOCK_DIR" ] || skip "the mock has no caps"
	billion --urls 100000000000 --sample 2000 >report
	cat report
	grep -q '^not 100000000000 URLs here: ' report
	made=$(sed -n 's/^made a filter for \([0-9]*\) URLs.*/\1/p' report)
	[ "$made" -lt 100000000000 ]
	[ "$made" -ge 1000000 ]
}

@test "help and refusals" {
	has_help billion
	refused "--urls 'x': must be a whole number from 1000 to 100000000000" billion --urls x
	refused "--sample '1'" billion --sample 1
	refused "--sample needs a value" billion --sample
	refused "usage:" billion --what
}
