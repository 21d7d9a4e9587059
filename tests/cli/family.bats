# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2030,SC2031
# Filters that grow, forget, delete and are exact; merge, save, restore.

bats_require_minimum_version 1.5.0
load helpers

seed=--seed=000102030405060708090a0b0c0d0e0f

@test "scaling: 100 times its first capacity, error still as asked" {
	bloomctl create f -n 1000 -p 0.01 --scaling
	seq 100000 | bloomctl add f
	[ "$(seq 100000 | bloomctl query f -c)" = 100000 ]
	[ "$(seq 200001 300000 | bloomctl query f -c)" -le 1100 ]
	bloomctl info f | grep -q '^layer'
}

@test "window: by hand" {
	bloomctl create w -n 1000 -p 1e-9 --window 3
	bloomctl add w a b
	bloomctl rotate w
	bloomctl add w b
	bloomctl rotate w
	[ "$(bloomctl query w a b)" = $'a\nb' ]
	bloomctl rotate w
	[ "$(bloomctl query w a b)" = b ]
	bloomctl rotate w
	run bloomctl query w a b
	[ "$status" -eq 1 ]
	bloomctl create f -n 10
	run bloomctl rotate f
	[ "$status" -eq 2 ]
}

@test "window: --once does not renew" {
	bloomctl create w -n 1000 -p 1e-9 --window 2 --once
	bloomctl add w a
	bloomctl rotate w
	bloomctl add w a
	bloomctl rotate w
	run bloomctl query w a
	[ "$status" -eq 1 ]
}

@test "window: by the clock" {
	[ -z "$BLOOM_MOCK_DIR" ] || skip "the mock has no clock"
	bloomctl create w -n 1000 -p 1e-9 --window 2 --period 500ms
	bloomctl add w a
	[ "$(bloomctl query w a)" = a ]
	sleep 2
	run bloomctl query w a
	[ "$status" -eq 1 ]
	bloomctl rotate w --period 0
	rotations=$(bloomctl info -j w | field rotations)
	sleep 1
	[ "$(bloomctl info -j w | field rotations)" = "$rotations" ]
	bloomctl rotate w --period 1h --next 10m
	awk -v n="$(bloomctl info -j w | field next_ns)" 'BEGIN { exit !(n > 590e9 && n <= 600e9) }'
}

@test "counting: remove" {
	bloomctl create c -n 1000 -p 1e-6 -k counting
	bloomctl add c a b a
	[ "$(bloomctl remove c -c a x)" = 1 ]
	[ "$(bloomctl query c a b)" = $'a\nb' ]
	bloomctl remove c a
	[ "$(bloomctl query c a b)" = b ]
	bloomctl create f -n 10
	run bloomctl remove f a
	[ "$status" -eq 2 ]
}

@test "bitmap: a sorted set of integers" {
	bloomctl create b --range 1-100000
	shuf -i 1-100000 -n 5000 --random-source=/bin/true | tee in | bloomctl add b
	bloomctl scan b | cmp - <(sort -n in)
	bloomctl create r --range 5-90
	seq 10 20 | bloomctl add r
	bloomctl add r 5 90
	[ "$(bloomctl scan r --ranges)" = $'5\n10-20\n90' ]
	run bloomctl add r 4 91
	[[ "$output" == *"2 of 2 integers are not in the bitmap's range"* ]]
	run bloomctl add r 10 x
	[ "$status" -eq 2 ]
	[[ "$output" == *"line 2 is not an integer"* ]]
	run bloomctl query r 18446744073709551616
	[ "$status" -eq 2 ]
	bloomctl remove r 12
	[ "$(bloomctl scan r --ranges)" = $'5\n10-11\n13-20\n90' ]
}

@test "merge: the union, or the reason why not" {
	bloomctl create a -n 10000 -p 0.001 $seed
	bloomctl create b -n 10000 -p 0.001 $seed
	seq 5000 | bloomctl add a
	seq 4001 9000 | bloomctl add b
	bloomctl merge a b
	[ "$(seq 9000 | bloomctl query a -c)" = 9000 ]
	awk -v n="$(bloomctl info -j a | field keys)" 'BEGIN { exit !(n > 8800 && n < 9200) }'
	bloomctl create c -n 10000 -p 0.001
	run bloomctl merge a c
	[ "$status" -eq 2 ]
	[[ "$output" == *seed* ]]
	bloomctl create d -n 100000 -p 0.001 $seed
	run bloomctl merge a d
	[ "$status" -eq 2 ]
	[[ "$output" == *slots* ]]
	run bloomctl merge a
	[ "$status" -eq 2 ]
}

@test "save and restore: the same answers, counts and layers" {
	for shape in "" "-k classic --hash siphash" "-k counting" --scaling "--window 3"; do
		# shellcheck disable=SC2086
		bloomctl create a -n 5000 -p 0.01 $shape
		seq 20000 | bloomctl add a
		[ "$shape" != "--window 3" ] || bloomctl rotate a
		bloomctl save a image
		bloomctl restore image b
		seq 60000 | bloomctl query a >answers
		seq 60000 | bloomctl query b | cmp - answers
		for name in keys slots_set; do
			[ "$(bloomctl info -j a | field $name)" = "$(bloomctl info -j b | field $name)" ]
		done
		[ "$(bloomctl info -j --image image | field keys)" = "$(bloomctl info -j a | field keys)" ]
		bloomctl rm a b
	done
}

@test "save and restore through pipes" {
	bloomctl create a -n 5000 $seed
	seq 5000 | bloomctl add a
	bloomctl save a - | bloomctl restore - b
	[ "$(seq 5000 | bloomctl query b -c)" = 5000 ]
	bloomctl save b - >image
	bloomctl info --verify --image - <image | grep -q 'keys  *[0-9]'
	bloomctl create c -n 5000 $seed
	bloomctl merge c --image image
	[ "$(seq 5000 | bloomctl query c -c)" = 5000 ]
	run bash -c 'bloomctl save a - >/dev/full'
	[ "$status" -eq 2 ]
}

@test "restore: what is damaged makes no filter" {
	bloomctl create a -n 1000
	seq 1000 | bloomctl add a
	bloomctl save a image
	size=$(stat -c %s image)
	for cut in 0 1 15 100 $((size / 2)) $((size - 1)); do
		head -c "$cut" image >part
		run bloomctl restore part b
		[ "$status" -eq 2 ]
		[[ "$output" == *"cut short"* ]]
		run bash -c 'cat part | bloomctl restore - b'
		[ "$status" -eq 2 ]
		[[ "$output" == *"cut short"* ]]
	done
	for at in 0 8 20 100 300 $((size - 1)); do
		cp image flipped
		byte=$(od -An -tu1 -j "$at" -N 1 image)
		printf '%b' "\\x$(printf %x $((byte ^ 255)))" |
			dd of=flipped bs=1 seek="$at" conv=notrunc status=none
		run bloomctl restore flipped b
		[ "$status" -eq 2 ]
	done
	run bloomctl restore /bin/sh b
	[ "$status" -eq 2 ]
	[[ "$output" == *"not a saved filter"* ]]
	[ "$(bloomctl list -q)" = a ]
	run bloomctl restore image a
	[ "$status" -eq 2 ]
	bloomctl restore image a --replace
}

@test "save: the old file stays until the new one is whole" {
	bloomctl create a -n 1000
	bloomctl save a image
	cp image old
	run bloomctl save a /nonexistent/image
	[ "$status" -eq 2 ]
	run bloomctl save nosuch image
	[ "$status" -eq 2 ]
	cmp image old
	[ "$(ls)" = $'image\nold' ]
	run bloomctl save a /dev/full
	[ "$status" -eq 2 ]
	[ -c /dev/full ]
}

@test "a rebuilt filter takes over while others query" {
	bloomctl create live -n 10000 -p 1e-9
	seq 1000 | bloomctl add live
	(while [ ! -e stop ]; do
		[ "$(bloomctl query live -c 1 500 1000)" = 3 ] || echo wrong >>bad
	done) &
	for _ in 1 2 3 4 5; do
		bloomctl create new -n 20000 -p 1e-9
		seq 1000 | bloomctl add new
		bloomctl rename new live --replace
	done
	touch stop
	wait
	[ ! -e bad ]
}
