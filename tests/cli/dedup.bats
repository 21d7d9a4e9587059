# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2002,SC2030,SC2031,SC2154
# dedup, with a filter of one's own: awk '!seen[$0]++', and never lost output.

bats_require_minimum_version 1.5.0
load helpers

@test "dedup: as awk, from a file" {
	url_list 20000 >in
	bloomctl dedup <in >out
	awk '!seen[$0]++' in | cmp - out
}

@test "dedup: as awk, from a pipe" {
	url_list 20000 >in
	cat in | bloomctl dedup >out
	awk '!seen[$0]++' in | cmp - out
}

@test "dedup: every kind, growth and hash" {
	url_list 3000 >in
	awk '!seen[$0]++' in >expected
	for shape in "-k classic" "-k counting" "--hash siphash" --scaling \
		     "--scaling -k classic" "--window 3 -n 10000"; do
		# shellcheck disable=SC2086
		bloomctl dedup $shape -n 5000 <in >out
		cmp out expected
	done
}

@test "dedup: -v, -c, -q" {
	url_list 2000 >in
	awk 'seen[$0]++' in >expected
	bloomctl dedup -v <in | cmp - expected
	[ "$(bloomctl dedup -c <in)" = "$(sort -u in | wc -l)" ]
	[ "$(bloomctl dedup -cv <in)" = "$(wc -l <expected)" ]
	run bloomctl dedup -q <in
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	run bloomctl dedup -q </dev/null
	[ "$status" -eq 1 ]
	run bloomctl dedup </dev/null
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "dedup: a field is the key, the line is printed" {
	printf '%s\n' 1,a 2,a 3,b 4 5,a,c 6 >in
	bloomctl dedup -d , -f 2 <in >out
	awk -F, '!seen[$2]++' in | cmp - out
	printf '1\ta\n2\ta\n' | bloomctl dedup -f 2 | cmp - <(printf '1\ta\n')
	printf '1\0372\n3\0372\n' | bloomctl dedup -d '\x1f' -f 2 | cmp - <(printf '1\0372\n')
}

@test "dedup: any byte is data" {
	printf 'a\0b\n\na\0c\n\n\377\376\n\303\251\n\377\376\na\0b\nlast' >in
	bloomctl dedup <in | cmp - <(printf 'a\0b\n\na\0c\n\377\376\n\303\251\nlast\n')
	printf 'a\nb\0a\nc\0a\nb\0\0\0x' | bloomctl dedup -0 |
		cmp - <(printf 'a\nb\0a\nc\0\0x\0')
}

@test "dedup: the last line without newline is the line it looks like" {
	printf 'a\nb\na' | bloomctl dedup | cmp - <(printf 'a\nb\n')
	printf 'x' | bloomctl dedup | cmp - <(printf 'x\n')
}

@test "dedup: keys up to 65535 bytes" {
	long=$(head -c 65535 /dev/zero | tr '\0' z)
	printf '%s\n' a "$long" a "$long" b >in
	bloomctl dedup <in | cmp - <(printf '%s\n' a "$long" b)
	printf '%s\n' a b a "${long}z" c >in
	run --separate-stderr bloomctl dedup <in
	[ "$status" -eq 2 ]
	[ "$output" = $'a\nb' ]
	[[ "$stderr" == *"line 4"*65536*65535* ]]
	# The line may be longer if the field is not.
	printf '1,%s%s\n2,%s%s\n' "$long" "$long" "$long" "$long" |
		bloomctl dedup -d , -f 1 -c | grep -qx 2
}

@test "dedup: a very long line is an error, not a hang" {
	(printf 'a\nb\n'; head -c 3000000 /dev/zero | tr '\0' z) >in
	run --separate-stderr bloomctl dedup <in
	[ "$status" -eq 2 ]
	[ "$output" = $'a\nb' ]
	[[ "$stderr" == *"line 3"* ]]
}

@test "dedup: lines come out while the input pauses" {
	mkfifo pipe
	bloomctl dedup <pipe >out &
	exec 9>pipe
	printf 'a\na\nb\n' >&9
	for _ in $(seq 50); do
		[ "$(wc -l <out)" -eq 2 ] && break
		sleep 0.1
	done
	cmp out <(printf 'a\nb\n')
	printf 'par' >&9
	sleep 0.2
	cmp out <(printf 'a\nb\n')
	printf 'tial\n' >&9
	exec 9>&-
	wait
	cmp out <(printf 'a\nb\npartial\n')
}

@test "dedup: a full device is an error" {
	seq 1000 >in
	run bash -c 'bloomctl dedup <in >/dev/full'
	[ "$status" -eq 2 ]
	[[ "$output" == *"No space left on device"* ]]
	run bash -c 'bloomctl dedup -c <in >/dev/full'
	[ "$status" -eq 2 ]
}

@test "dedup: a closed pipe ends it, quietly by SIGPIPE, else with an error" {
	run bash -c 'seq 1000000 | timeout 60 bloomctl dedup | head -n 1; echo "${PIPESTATUS[1]}"'
	[ "$output" = $'1\n141' ]
	run bash -c 'trap "" PIPE; (seq 1000000 2>/dev/null || true) | timeout 60 bloomctl dedup 2>err | true; echo "${PIPESTATUS[1]}"; cat err'
	[[ "$output" == 2*"Broken pipe"* ]]
}

@test "dedup: an input that can't be read is an error" {
	run bloomctl dedup </
	[ "$status" -eq 2 ]
	[[ "$output" == *"Is a directory"* ]]
}

@test "dedup: past its capacity it says which error it has come to" {
	seq 5000 >in
	run --separate-stderr bloomctl dedup -n 1000 -p 0.01 <in
	[ "$status" -eq 0 ]
	[[ "$stderr" == *"made for 1000"* ]]
	[[ "$stderr" == *"dropped with probability"*%* ]]
	# Without a capacity it grows, and keeps its promise.
	cat in | bloomctl dedup 2>err | cmp - in
	[ ! -s err ]
}

@test "dedup: --stats counts" {
	printf '%s\n' a b a c >in
	bloomctl dedup --stats <in 2>err >/dev/null
	grep -qx 'lines:  *4' err
	grep -qx 'new:  *3' err
	grep -qx 'duplicates:  *1' err
	bloomctl dedup --stats -j <in 2>err >/dev/null
	[ "$(field lines <err)" = 4 ]
	[ "$(field new <err)" = 3 ]
}

@test "dedup: the guess of a capacity fits the file" {
	seq 300000 >in
	bloomctl dedup --stats -j <in 2>err >/dev/null
	[ "$(field layers <err)" = 1 ]
	awk -v bytes="$(field bytes <err)" 'BEGIN { exit !(bytes < 300000 * 45 / 8) }'
}

@test "dedup: a real list" {
	list=/in/homepages
	[ -e $list ] || list=/in/tests/homepages
	[ -e $list ] || skip "no real list in /in"
	bloomctl dedup <"$list" >out
	awk '!seen[$0]++' "$list" | cmp - out
}
