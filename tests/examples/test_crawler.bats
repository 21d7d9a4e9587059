# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# A crawl by four processes, compared with what can be reached.

load helpers

pages=3000
seeds=()
for i in 1 2 3 4; do
	seeds+=("https://host$i.example/page/$i")
done

# What can be reached: every page, and what is gone.
setup_file() {
	make-web $pages >"$BATS_FILE_TMPDIR/web"
	{
		cut -f 1 "$BATS_FILE_TMPDIR/web"
		grep -o 'https://gone[^	]*' "$BATS_FILE_TMPDIR/web"
	} | sort >"$BATS_FILE_TMPDIR/exact"
}

# A page for each of four workers to begin with.
crawl() {
	ln -s "$BATS_FILE_TMPDIR"/{web,exact} .
	crawler "$@" web "${seeds[@]}" >log 2>summary || return
	sort log >fetched
}

# number PATTERN: what stands after it in the summary
number() { sed -n "s/.*$1 \([0-9]*\).*/\1/p" summary; }

nothing_twice() { [ -z "$(uniq -d fetched)" ]; }

blanks() { awk -F '\t' '{ for (i = 2; i <= NF; i++) n += $i ~ /^ *$/ } END { print n }' web; }

@test "2^24 bits, 6 probes, 4 workers: every URL once, none missed" {
	crawl --delay 200
	nothing_twice
	cmp exact fetched
	[ "$(grep -c '^worker [0-3] fetched [1-9]' summary)" -eq 4 ]
	grep -q 'filter: fixed, 1 layers, 2097152 bytes' summary
}

@test "a blank URL is never seen" {
	crawl
	[ "$(blanks)" -eq $((pages / 10)) ]
	[ "$(number ', blank')" -eq "$(blanks)" ]
	[ "$(number 'seen before')" -eq $(($(number 'links') - $(blanks) - $(wc -l <log) + 4)) ]
	# Not as the page to begin with either.
	crawler web '' '  ' >log 2>summary
	[ ! -s log ]
}

@test "scaling at 0.1 %: no URL twice, 0.1 % missed at most" {
	crawl --scaling --delay 100
	nothing_twice
	missed=$(comm -23 exact fetched | wc -l)
	# 3.3 are allowed to be missed; 4 standard deviations more for chance.
	at_most "$missed" 11
	[ -z "$(comm -13 exact fetched)" ]
	[ "$(number 'scaling,')" -gt 1 ]
}

@test "one worker fetches the same" {
	crawl --workers 1
	cmp exact fetched
}

@test "help and refusals" {
	has_help crawler make-web
	refused "--workers '0': must be a whole number from 1 to 64" crawler -w 0 a b
	refused "--workers '65': must be" crawler -w 65 a b
	refused "--delay 'x'" crawler -d x a b
	refused "none: No such file" crawler none https://a.example/
	refused "needs a file and a URL" crawler web
	: >empty
	refused "empty: is empty" crawler empty https://a.example/
	printf 'a\tb' >half
	refused "half: the last line has no end" crawler half a
	refused "'0': must be a whole number from 1 to 10000000" make-web 0
}
