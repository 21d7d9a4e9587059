# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the guest scripts share: where things are kept, and the kernel source.

CACHE=${BLOOM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/bloom}
SOURCE_PACKAGE=linux-source-6.1
mkdir -p "$CACHE"

say() { echo "vm: $*" >&2; }
die() { say "$*"; exit 98; }

# Kernel messages that no run may cause.  The guest looks for them before it
# reports success, the host looks again in all that the console printed.
# shellcheck disable=SC2034 # used by the scripts that read this file
SPLATS='WARNING: |BUG: |KASAN: |UBSAN: |ODEBUG: |Oops: |Kernel panic'
SPLATS+='|general protection|suspicious RCU|DEBUG_LOCKS_WARN|refcount_t: '
SPLATS+='|list_(add|del) corruption|kmemleak: [0-9]+ new|rcu: INFO: |blocked for more'

source_version() {
	dpkg-query -W -f '${Version}' "$SOURCE_PACKAGE" 2>/dev/null ||
		die "package $SOURCE_PACKAGE is not installed: run 'make deps'"
}

# Print the directory of the unpacked kernel source, unpacking it if need be.
kernel_source() {
	local dir
	dir=$CACHE/$SOURCE_PACKAGE-$(source_version)
	(
		flock 9
		[ -e "$dir/.unpacked" ] && exit 0
		say "unpacking $SOURCE_PACKAGE -> $dir"
		mkdir -p "$dir"
		tar -C "$dir" --strip-components=1 -xf "/usr/src/$SOURCE_PACKAGE.tar.xz"
		touch "$dir/.unpacked"
	) 9>"$CACHE/.lock-source"
	echo "$dir"
}

# Where packages of other suites and architectures come from. This machine's own
# apt keeps its sources.
# shellcheck disable=SC2034
DEBIAN_MIRROR=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
# shellcheck disable=SC2034
DEBIAN_KEYS=/usr/share/keyrings/debian-archive-keyring.gpg
