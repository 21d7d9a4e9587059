// SPDX-License-Identifier: GPL-2.0
/*
 * bloom_bench.ko: times loops over a filter and what it is compared with, when it
 * is loaded. Each round runs every loop once, one after the other, so that what
 * the machine does beside hits all alike; what a round has found goes to the
 * console, a line a loop:
 *
 *	bench,<loop>,<MiB>,<key bytes>,<probes>,<pages>,<round>,<ps a key>
 *
 * Arrays are half full of random bits, which costs what keys to capacity cost.
 * Answers are checked; a wrong one is a line "bench-wrong,...".
 */
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <asm/unistd.h>

#include "batch.h"
#include "bench.h"
#include "contiguous.h"
#include "filter.h"

#undef vfree

static uint mib = 64;
module_param(mib, uint, 0444);
static uint kib;
module_param(kib, uint, 0444);
MODULE_PARM_DESC(kib, "in place of mib");
static uint count = 1 << 20;
module_param(count, uint, 0444);
MODULE_PARM_DESC(count, "keys of a round");
static uint len = 16;
module_param(len, uint, 0444);
static uint probes = 7;
module_param(probes, uint, 0444);
static uint rounds = 7;
module_param(rounds, uint, 0444);
static uint burst;
module_param(burst, uint, 0444);
MODULE_PARM_DESC(burst, "in place of the filter's own");
static uint kind = BLOOM_KIND_BLOCKED;
module_param(kind, uint, 0444);
static uint generations;
module_param(generations, uint, 0444);
MODULE_PARM_DESC(generations, "a window filter");
static uint batch = 1024;
module_param(batch, uint, 0444);
MODULE_PARM_DESC(batch, "keys of a request");
static char *peers = "";
module_param(peers, charp, 0444);
MODULE_PARM_DESC(peers, "any of kpass, bpf, limit, batch");

struct bench {
	struct bloom_filter *filter;
	struct bench_array limit;	/* the filter's own array */
	struct bench_array scratch;
	struct bench_array peer;
	u8 *hits;			/* added before */
	u8 *misses;			/* never added */
	u8 *fresh;			/* added once, in this round */
	u8 __user *batch;		/* in user memory: keys, verdicts */
	u32 count;
	u32 round;
	u64 serial;			/* of the last key made */
};

/*
 * CPU time, where it can be had, so that what else the machine does counts less:
 * User Mode Linux is a thread of the host's, which can be asked.
 */
static u64 cpu_ns(void)
{
#ifdef CONFIG_UML
	struct timespec64 t;
	long ret;

	asm volatile("syscall"
		     : "=a" (ret)
		     : "a" (__NR_clock_gettime), "D" (CLOCK_THREAD_CPUTIME_ID),
		       "S" (&t)
		     : "rcx", "r11", "memory");
	return ret ? 0 : timespec64_to_ns(&t);
#else
	return ktime_get_ns();
#endif
}

/* What it takes to ask for the time, so that short loops are not charged for it. */
static u64 cpu_ns_cost(void)
{
	u64 start = cpu_ns();
	u32 i;

	for (i = 0; i < 1000; i++)
		cpu_ns();
	return div_u64(cpu_ns() - start, 1000);
}

/* A bijection: keys made of different numbers differ. */
static u64 scramble(u64 x)
{
	return bloom_mix64(x + BLOOM_GOLDEN);
}

static void make_keys(struct bench *b, u8 *keys)
{
	u64 word, serial;
	u32 i, at, part;

	for (i = 0; i < b->count; i++, keys += len) {
		serial = b->serial++;
		/* Short keys: whatever the number, no two are the same. */
		if (len == 4) {
			u32 half = (u32)serial * 0x9e3779b1U;

			memcpy(keys, &half, 4);
			continue;
		}
		for (at = 0; at < len; at += part) {
			word = scramble(serial + ((u64)at << 40));
			part = min_t(u32, len - at, 8);
			memcpy(keys + at, &word, part);
		}
	}
}

static void fill_random(void *words, u64 bytes)
{
	static u64 state = 88172645463325252ULL;
	u64 *w = words, i;

	for (i = 0; i < bytes / 8; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		w[i] = state;
		if (!(i % (1 << 16)))
			cond_resched();
	}
}

/* Counters: each zero or not with the same chance, none at its end. */
static void fill_counters(void *words, u64 bytes)
{
	u64 *w = words, i;

	fill_random(words, bytes);
	for (i = 0; i < bytes / 8; i++)
		w[i] &= 0x1111111111111111ULL;
}

static void report(const struct bench *b, const char *loop, u64 keys, u64 ns)
{
	u64 kb = (b->limit.bits / 8) >> 10;

	pr_info("bench,%s,%llu.%03llu,%u,%u,%s,%u,%llu\n", loop, kb >> 10,
		((kb & 1023) * 1000) >> 10, len, probes,
		is_vmalloc_addr(b->limit.words) ? "4k" : "contiguous",
		b->round, div64_u64(ns * 1000, keys));
}

static void check(const struct bench *b, const char *loop, u64 got, u64 low,
		  u64 high)
{
	if (got < low || got > high)
		pr_info("bench-wrong,%s,%u,present %llu of %u, not %llu..%llu\n",
			loop, b->round, got, b->count, low, high);
}

/*
 * What may be said present of keys that were never added: the rounds' new keys
 * fill the array a little more.
 */
static u64 most_false(const struct bench *b)
{
	u32 live = generations ?: 1;

	return 4 * live * ((u64)b->count >> min(probes, 31U)) + 64;
}

/* What fits no cache. */
#define LARGE	(64ULL << 20)

/*
 * Every loop over a large array begins with the same lines in the cache, none of
 * them to be written back: else a loop pays for the one before it.
 */
static void settle(const struct bench *b)
{
	u64 i, bytes = (u64)b->count * len;

	if (b->limit.bits / 8 < LARGE)
		return;
	for (i = 0; i < bytes; i += SMP_CACHE_BYTES) {
		READ_ONCE(b->misses[i]);
		READ_ONCE(b->hits[i]);
	}
}

/* The filter's loops. */
static void run_core(struct bench *b, const char *name, const u8 *keys,
		     bool add, u64 low, u64 high)
{
	u64 start, present;

	settle(b);
	start = cpu_ns();
	present = add ? bloom_add_batch(b->filter, keys, len, b->count, NULL) :
		  bloom_query_batch(b->filter, keys, len, b->count, NULL);
	report(b, name, b->count, cpu_ns() - start);
	check(b, name, present, low, high);
}

static void run_loop(struct bench *b, const char *name, bench_loop *loop,
		     const struct bench_array *array, const u8 *keys, u64 low,
		     u64 high)
{
	u64 start, present;

	settle(b);
	start = cpu_ns();
	present = loop(array, keys, len, b->count);
	report(b, name, b->count, cpu_ns() - start);
	check(b, name, present, low, high);
}

/* Requests of @batch keys, from user memory to user memory, without the entry. */
static void run_batch(struct bench *b, const char *name, const u8 *keys,
		      enum bloom_op op, u64 low, u64 high)
{
	static struct bloom_room *room;
	u64 ns = 0, start, present = 0, bytes = (u64)batch * len;
	struct bloom_batch request = {
		.size = sizeof(request),
		.keys = (uintptr_t)b->batch,
		.keys_bytes = bytes,
		.key_len = len,
		.count = batch,
		.verdicts = (uintptr_t)(b->batch + PAGE_ALIGN(bytes)),
	};
	u64 clock = cpu_ns_cost();
	u32 done;

	settle(b);
	for (done = 0; done + batch <= b->count; done += batch) {
		if (copy_to_user(b->batch, keys + (u64)done * len, bytes))
			return;
		start = cpu_ns();
		bloom_batch_run(b->filter, op, &request, &room);
		ns += cpu_ns() - start - clock;
		present += request.present;
	}
	report(b, name, done, ns);
	check(b, name, present, low, high);
	bloom_room_free(room);
	room = NULL;
}

static void run_round(struct bench *b)
{
	u64 all = b->count, few = most_false(b);

	make_keys(b, b->fresh);
	if (strstr(peers, "kpass")) {
		run_loop(b, "kpass-hit", bench_kpass_test, &b->peer, b->hits,
			 all, all);
		run_core(b, "core-hit", b->hits, false, all, all);
		run_loop(b, "kpass-miss", bench_kpass_test, &b->peer,
			 b->misses, 0, few);
		run_core(b, "core-miss", b->misses, false, 0, few);
		run_loop(b, "kpass-new", bench_kpass_add, &b->peer, b->fresh, 0,
			 few);
		run_core(b, "core-new", b->fresh, true, 0, few);
	} else {
		run_core(b, "core-hit", b->hits, false, all, all);
		run_core(b, "core-miss", b->misses, false, 0, few);
		run_core(b, "core-new", b->fresh, true, 0, few);
	}
	run_core(b, "core-seen", b->hits, true, all, all);
	if (strstr(peers, "limit")) {
		run_loop(b, "limit-read", bench_limit_read, &b->limit, b->hits,
			 0, U64_MAX);
		run_core(b, "core-hit2", b->hits, false, all, all);
		run_loop(b, "limit-write", bench_limit_write, &b->scratch,
			 b->fresh, 0, U64_MAX);
		make_keys(b, b->fresh);
		run_core(b, "core-new2", b->fresh, true, 0, few);
	}
	if (strstr(peers, "bpf")) {
		make_keys(b, b->fresh);
		run_loop(b, "bpf-hit", bench_bpf_test, &b->peer, b->hits, all,
			 all);
		run_loop(b, "bpf-miss", bench_bpf_test, &b->peer, b->misses, 0,
			 few);
		run_loop(b, "bpf-new", bench_bpf_add, &b->peer, b->fresh, 0, 0);
		run_core(b, "core-new3", b->fresh, true, 0, few);
	}
	if (strstr(peers, "batch")) {
		make_keys(b, b->fresh);
		run_batch(b, "batch-hit", b->hits, BLOOM_OP_QUERY,
			  round_down(all, batch), all);
		run_batch(b, "batch-miss", b->misses, BLOOM_OP_QUERY, 0, few);
		run_batch(b, "batch-new", b->fresh, BLOOM_OP_ADD, 0, few);
	}
}

static int make_filter(struct bench *b, u64 bits)
{
	struct bloom_create params = {
		.flags = BLOOM_CREATE_SEED,
		.kind = kind,
		.growth = generations ? BLOOM_GROWTH_WINDOW :
			  BLOOM_GROWTH_FIXED,
		.generations = generations,
		.slots = kind == BLOOM_KIND_COUNTING ? bits / 4 : bits,
		.probes = probes,
		.capacity = generations ? 1 : 0,
		.fp_rate = generations ? ~0ULL / 100 : 0,
		.seed = { 0x0123456789abcdefULL, 0xfedcba9876543210ULL },
	};
	struct bloom_layer *layer;
	struct bloom_set *set;
	u32 i;

	b->filter = bloom_filter_create(&params);
	if (IS_ERR(b->filter))
		return PTR_ERR(b->filter);
	if (burst)
		b->filter->burst = burst;
	set = rcu_dereference_protected(b->filter->set, true);
	for (i = 0; i < set->count; i++) {
		layer = set->layers[i];
		if (kind == BLOOM_KIND_COUNTING)
			fill_counters(layer->words, layer->geo.bytes);
		else
			fill_random(layer->words, layer->geo.bytes);
	}
	b->limit = (struct bench_array){
		.words = (unsigned long *)set->layers[0]->words,
		.bits = bits,
		.burst = b->filter->burst,
		.probes = probes,
		.seed = { params.seed[0], params.seed[1] },
	};
	return 0;
}

static int make_array(struct bench_array *array, const struct bench_array *as)
{
	*array = *as;
	array->words = bench_array_alloc(as->bits / 8, GFP_KERNEL);
	if (!array->words)
		array->words = vmalloc(as->bits / 8);
	if (!array->words)
		return -ENOMEM;
	fill_random(array->words, as->bits / 8);
	return 0;
}

static int make_all(struct bench *b)
{
	u64 bits = ((u64)mib << 23) ?: 1;
	u64 bytes = (u64)b->count * len + 8;
	bool kpass = strstr(peers, "kpass"), bpf = strstr(peers, "bpf");
	unsigned long user;
	int err;

	if (kib)
		bits = (u64)kib << 13;
	b->hits = bench_array_alloc(bytes, GFP_KERNEL) ?: vmalloc(bytes);
	b->misses = bench_array_alloc(bytes, GFP_KERNEL) ?: vmalloc(bytes);
	b->fresh = bench_array_alloc(bytes, GFP_KERNEL) ?: vmalloc(bytes);
	if (!b->hits || !b->misses || !b->fresh)
		return -ENOMEM;
	make_keys(b, b->hits);
	make_keys(b, b->misses);

	err = make_filter(b, bits);
	if (err)
		return err;
	bloom_add_batch(b->filter, b->hits, len, b->count, NULL);
	if (strstr(peers, "limit"))
		err = make_array(&b->scratch, &b->limit);
	if (!err && (kpass || bpf))
		err = make_array(&b->peer, &b->limit);
	if (err)
		return err;
	if (kpass)
		bench_kpass_add(&b->peer, b->hits, len, b->count);
	if (bpf)
		bench_bpf_add(&b->peer, b->hits, len, b->count);
	if (strstr(peers, "batch")) {
		user = vm_mmap(NULL, 0, PAGE_ALIGN((u64)batch * len) +
			       PAGE_ALIGN(batch), PROT_READ | PROT_WRITE,
			       MAP_ANONYMOUS | MAP_PRIVATE | MAP_POPULATE, 0);
		if (IS_ERR_VALUE(user))
			return user;
		b->batch = (u8 __user *)user;
	}
	return 0;
}

static int __init bench_init(void)
{
	struct bench b = { .count = count };
	int err, stage;

	err = bloom_layer_init();
	if (err)
		return err;
	err = make_all(&b);
	if (err)
		pr_info("bench-wrong,setup,0,error %d\n", err);
	for (b.round = 0; !err && b.round < rounds; b.round++) {
		run_round(&b);
		cond_resched();
	}

	if (!IS_ERR_OR_NULL(b.filter))
		bloom_filter_put(b.filter);
	bench_array_free(b.peer.words);
	bench_array_free(b.scratch.words);
	bench_array_free(b.hits);
	bench_array_free(b.misses);
	bench_array_free(b.fresh);
	for (stage = 0; stage < 3; stage++) {
		flush_workqueue(bloom_wq);
		rcu_barrier();
	}
	flush_workqueue(bloom_wq);
	return err;
}

static void __exit bench_exit(void)
{
	bloom_layer_exit();
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Times filters inside the kernel");
