# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the tests of the examples share. The programs lie beside this file (see the
# Makefile); bloomctl is on PATH; without /dev/bloom the tests are skipped.

export LC_ALL=C
PATH=$BATS_TEST_DIRNAME:$PATH

setup() {
	work=$(mktemp -d)
	cd "$work" || return
	bloomctl list -q >/dev/null 2>&1 || skip "no /dev/bloom"
	before=$(bloomctl list -q)
}

# No example leaves a filter behind, other than one that it was asked for.
teardown() {
	local status=0
	[ "$(bloomctl list -q 2>/dev/null)" = "${before:-}" ] || status=1
	cd / && rm -rf "$work"
	return $status
}

# refused MESSAGE COMMAND...: it fails with status 2 and says so.
refused() {
	local message=$1
	shift
	run "$@" </dev/null
	[ "$status" -eq 2 ] || { echo "$*: status $status"; return 1; }
	[[ $output == *"$message"* ]] || { echo "$*: $output"; return 1; }
}

has_help() {
	local program
	for program; do
		run "$program" --help
		[ "$status" -eq 0 ]
		[[ $output == "usage: $program "* ]]
	done
}

# at_most NUMBER LIMIT: and not below zero.
at_most() {
	[ "$1" -ge 0 ] && [ "$1" -le "$2" ] || { echo "$1 is not in 0..$2"; return 1; }
}
