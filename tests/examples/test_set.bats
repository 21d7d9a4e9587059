# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# A set's habits, compared with a set.

load helpers

answers() { word-set -p 1e-9; }

@test "add-all says how many were new, whatever is repeated" {
	printf '%s\n' 'add-all a b c' 'add-all a b c' 'add-all c d' 'add-all e e e' 'add-all' |
		answers >got
	printf '%s\n' '3 of 3 new' '0 of 3 new' '1 of 2 new' '1 of 3 new' '0 of 0 new' | cmp - got
}

@test "contains-all, size, is-empty, clear" {
	printf '%s\n' is-empty size 'contains-all' 'contains-all a' 'add-all a b' is-empty size \
		'contains-all a b' 'contains-all a b c' 'contains-all b b b' clear is-empty size \
		'contains-all a' 'add-all a' size | answers >got
	printf '%s\n' yes 0 yes no '2 of 2 new' no 2 yes no yes ok yes 0 no '1 of 1 new' 1 | cmp - got
}

@test "the same word a thousand times changes nothing" {
	{ echo add-all one; seq 1000 | sed 's/.*/add-all one/'; echo size; } | answers >got
	[ "$(grep -c '^0 of 1 new$' got)" -eq 1000 ]
	[ "$(tail -n 1 got)" = 1 ]
}

@test "a thousand commands at random, against an exact set" {
	awk 'BEGIN {
		srand(7)
		for (i = 0; i < 1000; i++) {
			r = rand()
			line = r < 0.4 ? "add-all" : r < 0.8 ? "contains-all" : \
				r < 0.9 ? "size" : r < 0.98 ? "is-empty" : "clear"
			if (r < 0.8)
				for (n = int(rand() * 5); n >= 0; n--)
					line = line " w" int(rand() * rand() * 60)
			print line
		}
	}' >commands
	# shellcheck disable=SC2016 # the program is awk
	awk '
	$1 == "add-all" {
		fresh = 0
		for (i = 2; i <= NF; i++)
			if (!($i in set)) { set[$i]; fresh++; size++ }
		print fresh " of " NF - 1 " new"
	}
	$1 == "contains-all" {
		all = "yes"
		for (i = 2; i <= NF; i++)
			if (!($i in set)) all = "no"
		print all
	}
	$1 == "size" { print size + 0 }
	$1 == "is-empty" { print size ? "no" : "yes" }
	$1 == "clear" { split("", set); size = 0; print "ok" }' commands >exact
	answers <commands >got
	cmp exact got
	[ "$(grep -c yes exact)" -gt 50 ]
}

@test "many words in one line" {
	{ printf add-all; seq -f ' %.0f' 100000 | tr -d '\n'; echo; echo size; } | answers >got
	printf '%s\n' '100000 of 100000 new' 100000 | cmp - got
}

@test "help and refusals" {
	has_help word-set
	refused "--capacity '0'" word-set -n 0
	refused "--fp-rate '2'" word-set -p 2
	refused "not from 'x'" word-set x
	run word-set <<<forget
	[ "$status" -eq 2 ]
	[[ $output == *"there is no command 'forget'"* ]]
	run word-set <<<'size a'
	[[ $output == *"'size' takes no words"* ]]
}
