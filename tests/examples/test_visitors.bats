# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Unique visitors an hour, compared with exact counts.

load helpers

# exact MINUTES SECONDS: the same answers from a table of all that was seen.
exact() {
	# shellcheck disable=SC2016 # the program is awk
	awk -F, -v minutes="$1" -v lateness="$2" '
	$5 > newest { newest = $5 }
	$4 != "pv" { next }
	{
		start = $5 - $5 % (60 * minutes)
		if (start + 60 * minutes + lateness <= newest)
			late++
		else if (!seen[start, $1]++)
			count[start]++
	}
	END {
		for (start in count) {
			minute = (start - 1511654400) / 60
			printf "2017-11-26T%02d:%02d:00Z\t%d\n", int(minute / 60),
				minute % 60, count[start]
		}
		print late + 0 >"late"
	}' | sort
}

@test "the day's answer is known, and an exact count agrees with it" {
	make-day 300 >day
	make-day --answer 300 >answer
	exact 60 5 <day | cmp - answer
	[ "$(cat late)" -eq $((23 * 3)) ]
}

@test "a million expected in each window: every count is right" {
	make-day 300 >day
	make-day --answer 300 >answer
	visitors <day >counts 2>summary
	# Far below capacity: one in a million million is wrong.
	cmp counts answer
	grep -q "^rows $(wc -l <day), pv $(grep -c ,pv, day), late 69, malformed 0$" summary
}

@test "full windows: low by 0.1 % at most" {
	make-day 10000 2 >day
	make-day --answer 10000 2 >answer
	visitors -n 11000 <day 2>/dev/null >counts
	[ "$(wc -l <counts)" -eq 2 ]
	paste counts answer | while read -r hour counted same right; do
		[ "$hour" = "$same" ]
		# And 4 standard deviations for chance.
		at_most $((right - counted)) $((11 + 13))
	done
}

@test "other windows, other lateness, the same rules" {
	make-day 200 4 >day
	for shape in "30 5" "60 0" "1 2" "720 3600"; do
		# shellcheck disable=SC2086 # two words
		set -- $shape
		exact "$1" "$2" <day >answer
		visitors -w "$1" -l "$2" <day 2>summary | cmp - answer
		grep -q "late $(cat late), " summary
	done
}

@test "to the second: the last moment in time, and the first too late" {
	begin=1511654400
	row() { echo "$1,1,1,pv,$((begin + $2))"; }
	{
		row a 0
		row b 3599
		row c 3604	# the watermark is a second before the end
		row d 3599
		row e 3605	# the watermark is the end
		row f 3599
		row c 3600
	} | visitors >counts 2>summary
	printf '2017-11-26T%s:00:00Z\t%s\n' 00 3 01 2 | cmp - counts
	grep -q 'late 1,' summary
}

@test "an hour without a row has no line; a window is printed when it ends" {
	mkfifo rows
	visitors <rows >counts 2>/dev/null &
	exec 7>rows
	echo a,1,1,pv,1511654400 >&7
	# One that ends many windows at once.
	echo a,1,1,pv,1511668800 >&7
	exec 7>&-
	wait $!
	printf '2017-11-26T%s:00:00Z\t1\n' 00 04 | cmp - counts
}

@test "rows that are none are counted, and the first is named" {
	printf '%s\n' a,1,1,pv,1511654400 '' a,1,1,pv ,1,1,pv,1511654400 a,1,1,pv,x \
		a,1,1,pv,1511654400,1 a,1,1,pv,-1 a,1,1,pv,99999999999999999999 |
		visitors 2>summary >counts
	grep -q 'rows 8, pv 1, late 0, malformed 7 (the first is line 2)' summary
	# Line ends of other systems are line ends.
	printf 'a,1,1,pv,1511654400\r\nb,1,1,pv,1511654400' | visitors 2>/dev/null >counts
	printf '2017-11-26T00:00:00Z\t2\n' | cmp - counts
	visitors </dev/null 2>/dev/null >counts
	[ ! -s counts ]
}

@test "help and refusals" {
	has_help visitors make-day
	refused "--window '0': must be a whole number from 1 to 1440" visitors -w 0
	refused "--lateness '3601'" visitors -l 3601
	refused "--fp-rate '1'" visitors -p 1
	refused "--capacity '0'" visitors -n 0
	refused "not from 'file'" visitors file
	refused "HOURS '25': must be a whole number from 1 to 24" make-day 10 25
	run bash -c 'make-day 10 2 | visitors >/dev/full'
	[ "$status" -eq 2 ]
}
