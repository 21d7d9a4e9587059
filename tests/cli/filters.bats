# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2030,SC2031
# Filters with names: made, filled, asked, shared, told about, removed.

bats_require_minimum_version 1.5.0
load helpers

@test "create: bad parameters create nothing, status 2" {
	for p in 0 1 2 -1 nan inf '' 1e-400 x 101%; do
		run bloomctl create f -n 1000 -p "$p"
		[ "$status" -eq 2 ]
		[[ "$output" == "bloomctl: create: false-positive rate "* ]]
	done
	for n in 0 1e30 10x '' -1 99999999999999999999 1P 2.5; do
		run bloomctl create f -n "$n" -p 0.01
		[ "$status" -eq 2 ]
		[[ "$output" == "bloomctl: create: capacity "* ]]
	done
	run bloomctl create f
	[ "$status" -eq 2 ]
	run bloomctl create f -n 1000 -k nosuch
	[ "$status" -eq 2 ]
	run bloomctl create f -n 1000 --nosuch
	[ "$status" -eq 2 ]
	run bloomctl create -n 1000
	[ "$status" -eq 2 ]
	run bloomctl create f g -n 1000
	[ "$status" -eq 2 ]
	[ -z "$(bloomctl list -q)" ]
}

@test "create: the message names what, the value and the limit" {
	run bloomctl create f -n 1000 -p 1.5
	[ "$output" = "bloomctl: create: false-positive rate 1.5 is not between 0 and 1" ]
}

@test "create: names" {
	long=$(printf 'n%.0s' $(seq 255))
	bloomctl create "$long" -n 10
	run bloomctl create "${long}n" -n 10
	[ "$status" -eq 2 ]
	[[ "$output" == *256*255* ]]
	for name in a/b . .. '' $'a\nb'; do
		run bloomctl create "$name" -n 10
		[ "$status" -eq 2 ]
	done
	run bloomctl create "$long" -n 10
	[ "$status" -eq 2 ]
	[[ "$output" == *already* ]]
	bloomctl create "$long" -n 10 --exist-ok
	bloomctl add "$long" x
	bloomctl create "$long" -n 10 --replace
	run bloomctl query "$long" x
	[ "$status" -eq 1 ]
}

@test "create: human numbers" {
	bloomctl create f -n 100k -p 0.1%
	[ "$(bloomctl info -j f | field capacity)" = 100000 ]
	bloomctl create g --bits 16Mi --probes 6
	[ "$(bloomctl info -j g | field slots)" = 16777216 ]
	bloomctl create w -n 1000 --window 3 --period 1h30m
	[ "$(bloomctl info -j w | field period_ns)" = 5400000000000 ]
}

@test "times that are none are refused, at once" {
	for time in . 1s. 1.5.5 5x 1h-2m ''; do
		run timeout 10 bloomctl size -n 10 --window 2 --period "$time"
		[ "$status" -eq 2 ]
		[[ "$output" == *"period '$time' is not a time"* ]]
	done
}

@test "add and query: words, lines, status as grep" {
	bloomctl create f -n 1000 -p 1e-9
	bloomctl add f one two 'three four'
	[ "$(bloomctl query f one x 'three four')" = $'one\nthree four' ]
	run bloomctl query f x y
	[ "$status" -eq 1 ]
	[ -z "$output" ]
	run bloomctl query f -q one
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	run bloomctl query nosuch one
	[ "$status" -eq 2 ]
	[[ "$output" == *nosuch* ]]
	printf 'x\none\ny' | bloomctl query f -v | cmp - <(printf 'x\ny\n')
	[ "$(printf 'x\none\ny' | bloomctl query f -c)" = 1 ]
	[ "$(printf 'five\none\n' | bloomctl add f -c)" = 1 ]
	[ "$(printf 'six\none\n' | bloomctl add f -j | field present)" = 1 ]
	[ "$(printf 'a,one\nb,x\n' | bloomctl query f -d , -f 2)" = a,one ]
}

@test "no false negative, and few false positives" {
	bloomctl create f -n 20000 -p 0.01
	seq 20000 | bloomctl add f
	[ "$(seq 20000 | bloomctl query f -c)" = 20000 ]
	wrong=$(seq 30001 50000 | bloomctl query f -c)
	[ "$wrong" -le 260 ]
	[ "$wrong" -ge 50 ]
}

@test "dedup NAME: four processes, each line once" {
	url_list 20000 >in
	bloomctl create f -n 20000 -p 1e-9
	for i in 1 2 3 4; do
		shuf in | bloomctl dedup f >"out$i" &
	done
	wait
	cat out? >out
	sort -u in >expected
	same_lines out expected
}

@test "dedup NAME: what was seen before stays away" {
	bloomctl create f -n 100
	[ "$(printf 'a\nb\n' | bloomctl dedup f)" = $'a\nb' ]
	[ "$(printf 'b\nc\n' | bloomctl dedup f)" = c ]
	run bloomctl dedup f -n 10 </dev/null
	[ "$status" -eq 2 ]
}

@test "info: keys, estimate, error" {
	bloomctl create f -n 10000 -p 0.001
	seq 10000 | bloomctl add f
	bloomctl info -j f >told
	awk -v n="$(field distinct <told)" 'BEGIN { exit !(n > 9800 && n < 10200) }'
	awk -v e="$(field error <told)" 'BEGIN { exit !(e > 0.0003 && e <= 0.0011) }'
	[ "$(field adds <told)" = 10000 ]
	bloomctl info f | grep -q 'rate asked  *0.1%'
	[ "$(bloomctl info f | grep -c seed)" = 0 ]
	bloomctl info f --show-seed | grep -qE 'seed +[0-9a-f]{32}'
	run bloomctl info nosuch
	[ "$status" -eq 2 ]
}

@test "list: sorted, with what it says" {
	for name in b a c; do bloomctl create $name -n 10; done
	[ "$(bloomctl list -q)" = $'a\nb\nc' ]
	[ "$(bloomctl list -j | wc -l)" = 3 ]
	bloomctl list | grep -q 'blocked.*fixed.*a$'
	bloomctl rm a b
	[ "$(bloomctl list -q)" = c ]
	run bloomctl rm a c
	[ "$status" -eq 2 ]
	[ -z "$(bloomctl list -q)" ]
}

@test "list: more names than fit in one call" {
	for i in $(seq 1000 1299); do bloomctl create "n$i" -n 1; done
	bloomctl list -q | cmp - <(seq -f n%.0f 1000 1299)
}

@test "clear forgets" {
	bloomctl create f -n 100
	bloomctl add f a b
	bloomctl clear f
	run bloomctl query f a b
	[ "$status" -eq 1 ]
	[ "$(bloomctl info -j f | field keys)" = 0 ]
}

@test "size: what create makes" {
	for shape in "-n 1M -p 0.001" "-n 1M -p 0.001 -k classic" "-n 1000 -k counting" \
		     "-n 10k --window 4" "--bits 1Mi --probes 3" "-n 10k --scaling"; do
		# shellcheck disable=SC2086
		bloomctl create f $shape
		# shellcheck disable=SC2086
		[ "$(bloomctl size -j $shape | field bytes)" = "$(bloomctl info -j f | field bytes)" ]
		bloomctl rm f
	done
	[[ "$(bloomctl size -n 1G -p 0.001)" == *"1.81 GiB"* ]]
	run bloomctl size -n 1e30
	[ "$status" -eq 2 ]
}

@test "swap and rename" {
	bloomctl create a -n 10
	bloomctl create b -n 20
	bloomctl add a x
	bloomctl swap a b
	[ "$(bloomctl query b x)" = x ]
	[ "$(bloomctl info -j a | field capacity)" = 20 ]
	bloomctl rename a c
	[ "$(bloomctl list -q)" = $'b\nc' ]
	run bloomctl rename b c
	[ "$status" -eq 2 ]
	bloomctl rename b c --replace
	[ "$(bloomctl list -q)" = c ]
	[ "$(bloomctl query c x)" = x ]
	run bloomctl swap c nosuch
	[ "$status" -eq 2 ]
}

@test "output to a full device is an error for every verb that prints" {
	bloomctl create f -n 10
	bloomctl add f x
	for command in "info f" "list" "size -n 10" "query f x" "help" "--version" "dedup --help"; do
		run bash -c "bloomctl $command >/dev/full"
		[ "$status" -ne 0 ]
	done
}

@test "help for every verb" {
	for verb in $(bloomctl help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
		bloomctl "$verb" --help | grep -q "^usage: bloomctl $verb"
		bloomctl help "$verb" | grep -q "^usage: bloomctl $verb"
	done
	run bloomctl nosuch
	[ "$status" -eq 2 ]
	run bloomctl
	[ "$status" -eq 2 ]
}
