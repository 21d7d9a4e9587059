// SPDX-License-Identifier: LGPL-2.1
/*
 * From the bits that are set to how many keys did that, and what error a query
 * meets now.
 *
 * Classic, m bits, k probes, X of them set: each probe of each key leaves a bit
 * alone with probability 1 - 1/m, hence n = ln(1 - X/m) / (k ln(1 - 1/m)), and
 * a key that was never added finds k set bits with probability (X/m)^k.
 *
 * Blocked, N blocks of B = 512 slots: a key leaves a slot alone if it goes to
 * another block or misses it with all k probes, which has the probability
 * 1 - (1 - (1 - 1/B)^k) / N; hence n = ln(1 - X/m) / ln(1 - q/N) with
 * q = 1 - (1 - 1/B)^k. The blocks carry different loads, and (X/m)^k would be
 * wrong by 2 to 40 times: the error is the expectation of (D/B)^k over the load
 * i of a block (Poisson with mean n/N) and over the number D of distinct slots
 * that k i probes set.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

#define B	BLOOM_BLOCK_SLOTS

/* A block as good as full: the error of heavier loads is taken as 1. */
#define FULL	0.999999999999

/* Loads that a table goes to; a full block is reached long before. */
#define LOADS_MAX	32768

struct load_table {
	uint32_t count;		/* loads 0 .. count - 1; above them 1 */
	double *error;		/* of a block with that load */
};

static bool has_blocks(uint32_t kind)
{
	return kind == BLOOM_KIND_BLOCKED || kind == BLOOM_KIND_COUNTING;
}

double bloomdev_estimate_distinct(uint32_t kind, uint64_t slots, uint32_t probes,
				  uint64_t slots_set)
{
	double m = slots, q;

	if (kind == BLOOM_KIND_BITMAP || !slots_set)
		return slots_set;
	if (slots_set >= slots)
		return INFINITY;
	if (!has_blocks(kind))
		return log1p(-(double)slots_set / m) /
		       (probes * log1p(-1.0 / m));
	q = -expm1(probes * log1p(-1.0 / B));
	return log1p(-(double)slots_set / m) / log1p(-q * B / m);
}

/* One more probe: d[j] is the probability that j distinct slots are set. */
static void draw(double d[B + 1], uint32_t draws)
{
	uint32_t j = draws < B ? draws : B;

	for (; j > 0; j--)
		d[j] = d[j] * j / B + d[j - 1] * (B + 1 - j) / B;
	d[0] = 0.0;
}

static int load_table(struct load_table *t, uint32_t probes, double load)
{
	/* What is left out beyond this has a probability below 1e-12. */
	double most = ceil(load + 8.0 * sqrt(load) + 40.0);
	uint32_t loads = most < LOADS_MAX ? most : LOADS_MAX;
	double d[B + 1] = { 1.0 }, power[B + 1];
	uint32_t i, j, draws = 0;

	t->error = calloc(loads, sizeof(*t->error));
	if (!t->error)
		return bloomdev_fail_sys(ENOMEM, "estimating the error");
	for (j = 0; j <= B; j++)
		power[j] = pow((double)j / B, probes);

	for (i = 0; i < loads; i++) {
		for (j = 0; j <= B; j++)
			t->error[i] += d[j] * power[j];
		if (t->error[i] > FULL)
			break;
		for (j = 0; j < probes; j++)
			draw(d, ++draws);
	}
	t->count = i;
	return 0;
}

/* Probability of exactly i for a Poisson variable with mean x. */
static double poisson(uint32_t i, double x)
{
	if (x <= 0.0)
		return i ? 0.0 : 1.0;
	return exp(i * log(x) - x - lgamma(i + 1.0));
}

static double table_error(const struct load_table *t, double load)
{
	double sum = 0.0, covered = 0.0, p;
	uint32_t i;

	for (i = 0; i < t->count; i++) {
		p = poisson(i, load);
		sum += p * t->error[i];
		covered += p;
	}
	return fmin(sum + fmax(1.0 - covered, 0.0), 1.0);
}

/*
 * Keys lost by a block until its mean load is @load: the integral of the error
 * from 0 to it. That of the Poisson probability of i is the probability of more
 * than i.
 */
static double table_lost(const struct load_table *t, double load)
{
	double sum = 0.0, more = 1.0;
	uint32_t i;

	for (i = 0; i < t->count; i++) {
		more = fmax(more - poisson(i, load), 0.0);
		sum += more * t->error[i];
	}
	return sum;
}

struct layer_estimate {
	double distinct;
	double error;
	double lost;
};

/* (1 - e^(-k x / m))^k from 0 to n, by Simpson's rule. */
static double classic_lost(double m, double k, double n)
{
	const int steps = 128;
	double sum = 0.0;
	int i;

	for (i = 0; i <= steps; i++)
		sum += pow(-expm1(-k * n * i / steps / m), k) *
		       (i == 0 || i == steps ? 1 : i % 2 ? 4 : 2);
	return sum * n / steps / 3.0;
}

static int estimate(const struct bloomdev_info *info, uint32_t i,
		    struct layer_estimate *e)
{
	const struct bloomdev_layer *l = &info->layers[i];
	struct load_table table = {};
	double load;
	int ret;

	memset(e, 0, sizeof(*e));
	e->distinct = bloomdev_estimate_distinct(info->kind, l->slots, l->probes,
						 l->slots_set);
	if (info->kind == BLOOM_KIND_BITMAP || !l->slots_set)
		return 0;
	if (isinf(e->distinct)) {
		e->error = 1.0;
		e->lost = INFINITY;
		return 0;
	}
	if (!has_blocks(info->kind)) {
		e->error = pow((double)l->slots_set / l->slots, l->probes);
		e->lost = classic_lost(l->slots, l->probes, e->distinct);
		return 0;
	}

	load = e->distinct * B / l->slots;
	ret = load_table(&table, l->probes, load);
	if (ret)
		return ret;
	e->error = table_error(&table, load);
	e->lost = table_lost(&table, load) * l->slots / B;
	free(table.error);
	return 0;
}

BLOOMDEV_API double bloomdev_info_distinct(const struct bloomdev_info *info,
					   int layer)
{
	double sum = 0.0;
	uint32_t i;

	if (layer >= 0 && (uint32_t)layer >= info->layer_count)
		return NAN;
	for (i = 0; i < info->layer_count; i++) {
		if (layer < 0 || i == (uint32_t)layer)
			sum += bloomdev_estimate_distinct(info->kind,
							  info->layers[i].slots,
							  info->layers[i].probes,
							  info->layers[i].slots_set);
	}
	return sum;
}

BLOOMDEV_API double bloomdev_info_error(const struct bloomdev_info *info,
					int layer)
{
	struct layer_estimate e;
	double none = 1.0, sum = 0.0;
	uint32_t i;

	if (layer >= 0 && (uint32_t)layer >= info->layer_count)
		return NAN;
	for (i = 0; i < info->layer_count; i++) {
		if (layer >= 0 && i != (uint32_t)layer)
			continue;
		if (estimate(info, i, &e))
			return NAN;
		/* 1 - (1 - a)(1 - b), without losing small ones. */
		sum += none * e.error;
		none *= 1.0 - e.error;
	}
	return sum;
}

BLOOMDEV_API double bloomdev_info_fill(const struct bloomdev_info *info,
				       int layer)
{
	double slots = 0.0, set = 0.0;
	uint32_t i;

	if (layer >= 0 && (uint32_t)layer >= info->layer_count)
		return NAN;
	for (i = 0; i < info->layer_count; i++) {
		if (layer >= 0 && i != (uint32_t)layer)
			continue;
		slots += info->layers[i].slots;
		set += info->layers[i].slots_set;
	}
	return slots > 0.0 ? set / slots : 0.0;
}

BLOOMDEV_API double bloomdev_info_lost(const struct bloomdev_info *info)
{
	bool newest_first = info->growth == BLOOM_GROWTH_WINDOW;
	struct layer_estimate e;
	double lost = 0.0, before = 0.0;
	uint32_t i, n = info->layer_count;

	/* From the oldest layer on: a key is also tried against those before. */
	for (i = 0; i < n; i++) {
		if (estimate(info, newest_first ? n - 1 - i : i, &e))
			return NAN;
		if (e.distinct > 0.0)
			lost += e.lost + before * e.distinct;
		before += (1.0 - before) * e.error;
	}
	return lost;
}

BLOOMDEV_API double bloomdev_info_seconds_left(const struct bloomdev_info *before,
					       const struct bloomdev_info *now)
{
	bool window = now->growth == BLOOM_GROWTH_WINDOW && now->layer_count;
	uint64_t capacity = 0, keys = now->keys, ns = now->age_ns;
	double come;
	uint32_t i;

	if (window) {
		/* A generation fills up; its age is the time it took so far. */
		capacity = now->layers[0].capacity;
		keys = now->layers[0].keys;
		ns = now->layers[0].age_ns;
		if (before && (!before->layer_count ||
			       before->rotations != now->rotations))
			before = NULL;
	} else {
		for (i = 0; i < now->layer_count; i++)
			capacity += now->layers[i].capacity;
	}
	if (!capacity)
		return INFINITY;
	if (keys >= capacity)
		return 0.0;

	come = keys;
	if (before) {
		come -= window ? before->layers[0].keys : before->keys;
		ns = now->age_ns - before->age_ns;
	}
	if (come <= 0.0 || !ns)
		return INFINITY;
	return (capacity - keys) / come * (ns / 1e9);
}
