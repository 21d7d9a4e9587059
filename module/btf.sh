#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# btf.sh KDIR MODULE.ko...: see that the modules carry BTF, without which BPF
# programs cannot call them.  Newer headers make it during the build.  Debian's
# for 6.1 lack two things, which are looked for here:
#
#   the kernel's own BTF	in /sys/kernel/btf/vmlinux, if the kernel is the
#				running one; else in its image (BLOOM_VMLINUZ=, or
#				/boot, or as its package is)
#   resolve_btfids		BLOOM_RESOLVE_BTFIDS=; else of a newer linux-kbuild
#				package, installed or only unpacked in the cache
#
# If something can't be had the module is left as it is, which works but for
# BPF, and the exit status is 1.
set -euo pipefail

cache=${BLOOM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/bloom}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

give_up() {
	printf '%s\n' "btf: $1" "btf: the module works, but BPF programs cannot call it" >&2
	exit 1
}

has_btf() { readelf -SW "$1" | grep -q ' \.BTF '; }

# unpack IMAGE VMLINUX: a bzImage holds the kernel compressed; try what can be a
# beginning of it until one turns out to be ELF.
unpack() {
	local magic tool offset
	for try in '\xfd7zXZ\x00:xz' '\x1f\x8b\x08:gzip' '\x28\xb5\x2f\xfd:zstd' '\x02\x21\x4c\x18:lz4'; do
		magic=${try%:*} tool=${try##*:}
		type "$tool" >/dev/null 2>&1 || continue
		while IFS=: read -r offset _; do
			# xz and its like complain of what follows the kernel
			tail -c +$((offset + 1)) "$1" | "$tool" -dc >"$2" 2>/dev/null || true
			[ "$(head -c 4 "$2" | tr '\177' x)" != xELF ] || return 0
		done < <(LC_ALL=C grep -aboP "$magic" "$1" || true)
	done
	return 1
}

# Print a vmlinuz of $release, if need be from its package.
find_image() {
	local package=linux-image-$release version
	for image in "${BLOOM_VMLINUZ:-}" "/boot/vmlinuz-$release"; do
		[ ! -r "$image" ] || { echo "$image"; return; }
	done
	version=$(dpkg-query -W -f '${Version}' "linux-headers-$release" 2>/dev/null) || return
	echo "btf: fetching $package" >&2
	(cd "$work" && apt-get -q download "$package=$version" >&2 &&
		dpkg-deb -x linux-image-*.deb image) || return
	echo "$work/image/boot/vmlinuz-$release"
}

# Print a file with the kernel's BTF.
find_base() {
	local image base key
	if [ -e "$kdir/vmlinux" ]; then
		echo "$kdir/vmlinux"
		return
	fi
	if [ "$release" = "$(uname -r)" ] && [ -r /sys/kernel/btf/vmlinux ]; then
		echo /sys/kernel/btf/vmlinux
		return
	fi
	image=$(find_image) || return
	key=$(sha256sum "$image" | cut -c 1-16)
	base=$cache/btf-$release-$key
	if [ ! -s "$base" ]; then
		unpack "$image" "$work/vmlinux" || return
		objcopy --dump-section ".BTF=$work/base" "$work/vmlinux" /dev/null || return
		[ -s "$work/base" ] || return
		cp "$work/base" "$base.$$" && mv "$base.$$" "$base"
	fi
	echo "$base"
}

find_resolver() {
	local inside=tools/bpf/resolve_btfids/resolve_btfids newest
	for resolver in "${BLOOM_RESOLVE_BTFIDS:-}" "$kdir/$inside" \
		/usr/lib/linux-kbuild-*/"$inside" "$cache/resolve_btfids"; do
		[ ! -x "$resolver" ] || { echo "$resolver"; return; }
	done
	newest=$(apt-cache search --names-only '^linux-kbuild-6\.[1-9][0-9]' |
		cut -d' ' -f1 | sort -V | tail -n 1)
	[ -n "$newest" ] || return
	echo "btf: fetching resolve_btfids out of $newest" >&2
	(cd "$work" && apt-get -q download "$newest" >&2 && dpkg-deb -x linux-kbuild-*.deb kbuild) || return
	install "$work"/kbuild/usr/lib/linux-kbuild-*/"$inside" "$cache/resolve_btfids.$$"
	mv "$cache/resolve_btfids.$$" "$cache/resolve_btfids"
	echo "$cache/resolve_btfids"
}

kdir=${1:?usage: btf.sh KDIR MODULE.ko...}
shift
release=$(sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' "$kdir/include/generated/utsrelease.h")
# A kernel that has no use for it.
grep -q '^CONFIG_DEBUG_INFO_BTF_MODULES=y' "$kdir/.config" || exit 0

mkdir -p "$cache"
for ko; do
	! has_btf "$ko" || continue
	type pahole >/dev/null 2>&1 || give_up "no pahole: install the package pahole"
	[ -n "${resolver:=$(find_resolver)}" ] ||
		give_up "no resolve_btfids: install a linux-kbuild package of 6.12 or newer, or set BLOOM_RESOLVE_BTFIDS"
	[ -n "${base:=$(find_base)}" ] ||
		give_up "no BTF of kernel $release: install linux-image-$release, or set BLOOM_VMLINUZ"
	read -ra flags < <(cd "$kdir" && PAHOLE=pahole sh scripts/pahole-flags.sh)
	cp "$ko" "$work/module.ko"
	LLVM_OBJCOPY=objcopy pahole -J "${flags[@]}" --btf_base "$base" "$work/module.ko" ||
		give_up "pahole failed on $ko"
	"$resolver" -b "$base" "$work/module.ko" || give_up "resolve_btfids failed on $ko"
	cp "$work/module.ko" "$ko"
	echo "  BTF     $ko"
done
