#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The symbols that the library exports are those of its map, and those that its
# header declares: no more, no less.
set -eu
library=$1 map=$2 header=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
	sort >"$work/exported"
sed -n 's/^\t\(bloomdev_[a-z_]*\);$/\1/p' "$map" | sort >"$work/map"
tr '\n' ' ' <"$header" | sed 's@/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/@ @g' |
	grep -o 'bloomdev_[a-z_]*(' | tr -d '(' | sort -u >"$work/declared"

status=0
echo 1..2
for list in map declared; do
	if difference=$(diff "$work/$list" "$work/exported"); then
		echo "ok - exported symbols are those of the $list list"
	else
		echo "not ok - exported symbols are those of the $list list"
		echo "$difference" | sed 's/^/# /'
		status=1
	fi
done
exit $status
