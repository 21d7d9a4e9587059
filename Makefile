# SPDX-License-Identifier: GPL-2.0
#
# The one entry point.  `make help` lists what there is.  Nothing is built
# outside build/, downloads and guest kernels are kept in $(BLOOM_CACHE).

B	:= $(CURDIR)/build
PREFIX	?= /usr/local
DESTDIR	?=
KERNEL	?= stock
export BLOOM_CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/bloom

# The running kernel's headers; without them, the newest that Debian installed.
running	:= /lib/modules/$(shell uname -r)/build
newest	:= $(lastword $(shell ls -d /usr/src/linux-headers-*/Module.symvers 2>/dev/null | sort -V))
KDIR	?= $(if $(wildcard $(running)/Makefile),$(running),$(patsubst %/Module.symvers,%,$(newest)))
KVER	= $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h)

DEMO_PACKAGES	:= gcc make libc6-dev linux-headers-cloud-amd64 kmod \
		   qemu-system-x86 busybox-static cpio libjson-c-dev pkg-config
CHECK_PACKAGES	:= $(DEMO_PACKAGES) linux-source-6.1 bc bison flex libelf-dev \
		   xz-utils python3 sparse coccinelle libpython3-dev cppcheck shellcheck git \
		   spin bats libcmocka-dev gcc-multilib mandoc \
		   clang lld llvm libclang-rt-14-dev libbpf-dev bpftool dwarves lz4 zstd
KERNELS_PACKAGES := $(CHECK_PACKAGES) mmdebstrap qemu-system-arm
PACKETS_PACKAGES := $(DEMO_PACKAGES) clang libbpf-dev bpftool dwarves binutils xz-utils lz4 zstd \
		   python3 iproute2 tcpreplay tcpdump wireshark-common

.PHONY: all
all: module userspace ## build module, library and command (KDIR=: other kernel)

.PHONY: module
module: ## build build/kmod-*/bloom.ko for the running kernel, or for KDIR=
	@test -n "$(KDIR)" || { echo "no kernel headers here: run 'make deps', or give KDIR="; exit 1; }
ifneq ($(KDIR),$(running))
	@echo "not for the running kernel, $$(uname -r), but for $(KDIR)"
endif
	tests/vm/kmod $(KDIR) $(B)/kmod-$(KVER)
	-@module/btf.sh $(KDIR) $(B)/kmod-$(KVER)/bloom.ko

.PHONY: userspace
userspace: ## build library and command under build/
	$(MAKE) -C userspace O=$(B) PREFIX=$(PREFIX)

.PHONY: examples
examples: userspace ## build the examples, BPF programs among them
	$(MAKE) -C userspace/examples O=$(B)
	$(MAKE) -C userspace/examples/xdp_dedup O=$(B)
	$(MAKE) -C userspace/examples/tracing O=$(B)

.PHONY: deps
deps: deps-check ## install the Debian packages that demo and check need

.PHONY: deps-demo deps-check deps-kernels deps-packets
deps-demo: packages := $(DEMO_PACKAGES)
deps-check: packages := $(CHECK_PACKAGES)
deps-kernels: packages := $(KERNELS_PACKAGES)
deps-packets: packages := $(PACKETS_PACKAGES)
deps-demo deps-check deps-kernels deps-packets:
	@tests/packages $(packages)

.PHONY: demo
demo: deps-demo ## drop duplicate lines in a guest and check the result (INPUT= OUTPUT=)
	@$(MAKE) --no-print-directory -s guest KERNEL=stock
	@tests/vm/demo "$(INPUT)" "$(OUTPUT)"

.PHONY: check
check: deps-check ## run all lanes; the last line is "N passed, N failed"
	@rm -rf $(B)/results
	@for lane in static core model vm stock kunit; do tests/lane $$lane; done; true
	@tests/tally $(B)/results

.PHONY: check-static check-core check-model check-vm check-stock check-kunit
check-static: ## licence lines, checkpatch, sparse, coccinelle, gcc, clang, cppcheck
check-core: ## tests that need no module, on this machine
check-model: ## the protocols, in every interleaving, with spin
check-vm: ## prove that the guest notices what it must notice
check-stock: ## device, library and command on Debian's kernel
check-kunit: ## KUnit, device and library on a kernel full of checkers
check-static check-core check-model check-vm check-stock check-kunit: check-%:
	@tests/lane $*; tests/tally $(B)/results/$*

.PHONY: check-kernels
check-kernels: deps-kernels ## Debian's 6.1, 6.12 and 7; i386, arm64, s390x (KERNELS=: some of them)
	@tests/lane kernels; tests/tally $(B)/results/kernels

.PHONY: check-packets
check-packets: deps-packets ## BPF functions and examples, real captures over a wire
	@tests/lane packets; tests/tally $(B)/results/packets

.PHONY: check-kcsan
check-kcsan: deps-check ## look for data races in the module, with KCSAN
	@tests/lane kcsan; tests/tally $(B)/results/kcsan

.PHONY: soak
soak: deps-check ## mixed work for MINUTES=30, exactly checked (KERNEL=stock or kunit)
	@MINUTES=$(MINUTES) KERNEL=$(KERNEL) tests/lane soak; tests/tally $(B)/results/soak
soak: MINUTES ?= 30

.PHONY: coverage
coverage: deps-check ## lines of the module that the tests run; a reason for each other one
	@tests/coverage/run

.PHONY: fuzz
fuzz: MINUTES ?= 60
fuzz: deps-check ## fuzz for MINUTES= (60): the device in a guest, the rest here
	@$(MAKE) --no-print-directory -s guest KERNEL=kunit
	@tests/fuzz/long $(MINUTES)

.PHONY: bench
bench: ## measure against others and the memory's limit; build/bench/goals.json
	$(MAKE) -C tests/bench

# What the guest is given: modules for its kernel, user space, test programs.
.PHONY: guest guest-tests
guest: ## build what tests/vm/run takes along (KERNEL=stock, kunit, 6.12 or 7)
	$(MAKE) -C userspace O=$(B) PREFIX=/usr DESTDIR=$(B)/guest-root install >/dev/null
	tests/vm/guest-modules $(KERNEL)
ifeq ($(KERNEL),stock)
	-@! type pahole >/dev/null 2>&1 || BLOOM_VMLINUZ="$$(tests/vm/stock-kernel)/vmlinuz" module/btf.sh "$$(tests/vm/stock-kernel)/build" $(B)/kmod-stock/bloom.ko
endif

guest-tests: guest ## the same and the tests that run there
	$(MAKE) -C userspace O=$(B) tests
	for suite in device examples; do $(MAKE) -C tests/$$suite O=$(B) || exit; done

.PHONY: vm
vm: deps-demo ## shell in a guest that has it all (KERNEL=stock, kunit, 6.12 or 7); or CMD='...'
	@$(MAKE) --no-print-directory -s guest
	@tests/vm/run --kernel $(KERNEL) $(VMFLAGS) $(if $(CMD),-- "$$CMD",--shell)
vm: export CMD := $(CMD)

.PHONY: install uninstall
install: all ## install all (PREFIX=, DESTDIR=)
	install -D -m 644 $(B)/kmod-$(KVER)/bloom.ko $(DESTDIR)/lib/modules/$(KVER)/updates/bloom.ko
	$(MAKE) -C userspace O=$(B) PREFIX=$(PREFIX) DESTDIR=$(DESTDIR) install
	$(if $(DESTDIR),,depmod $(KVER))

uninstall: ## take away what install put there
	rm -f $(DESTDIR)/lib/modules/$(KVER)/updates/bloom.ko
	$(MAKE) -C userspace O=$(B) PREFIX=$(PREFIX) DESTDIR=$(DESTDIR) uninstall
	$(if $(DESTDIR),,depmod $(KVER))

.PHONY: clean
clean: ## remove build/ (the cache stays: rm -r $(BLOOM_CACHE))
	rm -rf $(B)

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 16
