# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the tests of bloomctl share. They need bloomctl on PATH and a device; with
# build/tests/mock/libmock.so in LD_PRELOAD and BLOOM_MOCK_DIR set they run without the
# module too.

setup() {
	work=$(mktemp -d)
	cd "$work" || return
	bloomctl list -q >/dev/null 2>&1 || skip "no /dev/bloom"
	bloomctl list -q | xargs -r bloomctl rm
}

teardown() {
	bloomctl list -q 2>/dev/null | xargs -r bloomctl rm
	cd / && rm -rf "$work"
}

# A list with duplicates, the same on every run: about half of 2 * N lines.
url_list() {
	seq 1 "$1" | awk '{ srand($1); for (i = 0; i < 2; i++)
		printf "https://example.org/%d/page?id=%d\n", $1 % 7, int(rand() * $1) + 1 }'
}

# Two files hold the same lines, in any order.
same_lines() {
	cmp <(sort "$1") <(sort "$2")
}

# The first value of that name in JSON.
field() {
	grep -o "\"$1\":[^,}]*" | head -n 1 | cut -d : -f 2
}
