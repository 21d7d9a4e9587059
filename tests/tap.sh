# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For checks that are not test programs: run a command, print a line of TAP.

tests=0

# check WHAT COMMAND...: it must succeed; if not, what it printed is shown.
check() {
	local what=$1 output
	shift
	tests=$((tests + 1))
	if output=$("$@" 2>&1); then
		echo "ok $tests - $what"
	else
		echo "not ok $tests - $what"
		# shellcheck disable=SC2001 # every line, not the first
		sed 's/^/# /' <<<"$output"
	fi
}

plan() { echo "1..$tests"; }
