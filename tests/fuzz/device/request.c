// SPDX-License-Identifier: GPL-2.0
/*
 * A step that is a request: the structure as a sensible program would fill it in,
 * then what is wrong with it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include "step.h"

#define MS	1000000ULL

union any {
	u32 size;
	struct bloom_create create;
	struct bloom_open open;
	struct bloom_unlink unlink;
	struct bloom_list list;
	struct bloom_batch batch;
	struct bloom_info info;
	struct bloom_clear clear;
	struct bloom_rotate rotate;
	struct bloom_link link;
	struct bloom_load load;
};

static void *place(const struct arena *arena, size_t bytes, bool edge)
{
	size_t room = arena->end - arena->base;

	return edge && bytes / 2 < room ? arena->end - bytes / 2 : arena->base;
}

static void *place_out(struct worker *w, const struct step *step, size_t bytes)
{
	if (step->memory & MEMORY_NONE)
		return NULL;
	if (step->memory & MEMORY_CONST)
		return w->constant.base;
	return place(&w->out, bytes, step->memory & MEMORY_VERDICTS);
}

static void set_name(char name[BLOOM_NAME_MAX + 1], u8 which)
{
	static const char *const odd[] = {
		"", ".", "..", "fuzz/a", "fuzz.\001", "fuzz.\177", "fuzz.none",
	};

	if (which < 220)
		sprintf(name, "fuzz.%c", 'a' + which % 4);
	else if (which < 224)	/* the longest; and one without an end */
		memset(name, 'x', BLOOM_NAME_MAX + (which & 1));
	else
		strcpy(name, odd[which % ARRAY_LEN(odd)]);
}

static size_t fill_create(struct bloom_create *c, const struct step *step)
{
	c->kind = step->choice[0] % 4;
	c->growth = step->choice[1] % 3;
	c->hash = step->choice[2] & 1;
	c->flags = step->choice[2] >> 1 & 7;
	if (c->kind > BLOOM_KIND_CLASSIC && step->choice[1] < 250)
		c->growth = BLOOM_GROWTH_FIXED;
	if (c->growth != BLOOM_GROWTH_WINDOW)
		c->flags &= ~BLOOM_CREATE_ONCE;
	if (c->kind == BLOOM_KIND_BITMAP) {
		c->hash = 0;
		c->flags &= ~BLOOM_CREATE_SEED;
		c->slots = 1 + step->amount * (1 + (step->more[0] & 31));
		c->base = step->more[1] & 1 ? step->value : 0;
		return sizeof(*c);
	}
	if (c->flags & BLOOM_CREATE_SEED)
		c->seed[0] = step->value;
	if (c->growth == BLOOM_GROWTH_WINDOW) {
		c->generations = BLOOM_GENERATIONS_MIN +
				 (step->more[0] % 15 >> step->more[1] % 5);
		c->period_ns = step->more[0] & 128 ?
			       10 * MS * (1 + step->more[1] % 4) : 0;
	}
	c->capacity = 1 + step->amount % 8192;
	c->fp_rate = 1ULL << (63 - step->more[1] % 20);
	if (step->more[0] & 64) {
		c->slots = 1 + step->amount * 8;
		c->probes = 1 + step->more[1] % BLOOM_PROBES_MAX;
	}
	return sizeof(*c);
}

static size_t fill_list(struct bloom_list *l, struct worker *w,
			const struct step *step)
{
	l->count = step->choice[0] % 100;
	l->entry_size = sizeof(struct bloom_list_entry) + (step->choice[1] & 8);
	l->entries = (uintptr_t)place_out(w, step, l->count * l->entry_size);
	if (step->choice[1] & 1)
		set_name(l->after, step->name);
	return sizeof(*l);
}

/* Keys of a small universe, so that threads meet. */
static void fill_keys_of(u8 *to, const struct arena *arena, const struct step *step,
			 size_t bytes)
{
	u64 i, key, n = (arena->end - to) / sizeof(key);

	if (n > bytes / sizeof(key) + 1)
		n = bytes / sizeof(key) + 1;
	for (i = 0; i < n; i++) {
		key = (step->more[0] & 7) * 64 + i;
		if (!(step->choice[1] & 1))
			key = key_of(key);
		memcpy(to + i * sizeof(key), &key, sizeof(key));
	}
}

static u32 fill_lens(u32 *lens, const struct arena *arena,
		     const struct step *step, u64 *count)
{
	u32 i, len, sum = 0;

	for (i = 0; i < *count; i++) {
		len = step->choice[2] & 1 ? 8 : (i + step->more[1]) % 40;
		if (step->choice[2] == 255)
			len = step->amount;
		sum += len;
		if ((u8 *)(lens + i + 1) <= arena->end)
			lens[i] = len;
	}
	return sum;
}

static size_t fill_batch(struct bloom_batch *b, struct worker *w,
			 const struct step *step)
{
	u32 *lens;
	u8 *keys;

	b->count = step->amount % 1200;
	b->key_len = 8;
	switch (step->choice[2] & 14) {
	case 2:
		b->count %= 3;
		b->key_len = step->amount;
		break;
	case 4:
		b->key_len = step->more[1] % 48;
		break;
	case 6:
		if (step->choice[2] == 255)
			b->count = step->more[1] & 1;
		b->key_len = 0;
		lens = place(&w->lens, b->count * sizeof(*lens),
			     step->memory & MEMORY_LENS);
		b->keys_bytes = fill_lens(lens, &w->lens, step, &b->count);
		b->lens = (uintptr_t)lens;
		break;
	}
	if (b->key_len)
		b->keys_bytes = b->count * b->key_len;
	keys = place(&w->keys, b->keys_bytes, step->memory & MEMORY_KEYS);
	fill_keys_of(keys, &w->keys, step, b->keys_bytes);
	b->keys = (uintptr_t)keys;
	b->verdicts = (uintptr_t)place_out(w, step, b->count);
	return sizeof(*b);
}

static size_t fill_info(struct bloom_info *i, struct worker *w,
			const struct step *step)
{
	i->layers_room = step->choice[0] % 40;
	i->layer_size = sizeof(struct bloom_layer_info) + (step->choice[1] & 8);
	i->layers = (uintptr_t)place_out(w, step, i->layers_room * i->layer_size);
	return sizeof(*i);
}

static size_t fill_rotate(struct bloom_rotate *r, const struct step *step)
{
	if (step->choice[0] & 1) {
		r->flags = BLOOM_ROTATE_SET;
		r->period_ns = 10 * MS * (step->choice[1] % 4);
		r->next_ns = r->period_ns >> (step->choice[2] & 7);
	}
	return sizeof(*r);
}

static size_t fill_link(struct bloom_link *l, const struct step *step)
{
	l->flags = step->choice[0] % 3;
	l->mode = step->choice[1] & 1 ? 0600 : step->choice[1] << 2 & 0666;
	l->gid = step->choice[2] < 200 ? (u32)-1 : step->choice[2] * 5;
	if (l->flags & BLOOM_LINK_EXCHANGE) {
		l->mode = 0;
		l->gid = -1;
	}
	set_name(l->name, step->name);
	return sizeof(*l);
}

static size_t fill_load(struct bloom_load *l, struct worker *w,
			const struct step *step)
{
	u64 *words, i;

	l->layer = step->choice[0] & 1 ? 0 : step->choice[0] >> 1 & 3;
	l->offset = 8 * (step->choice[1] % 32);
	l->length = 8 * (step->amount % 5000);
	l->keys = step->choice[2] * step->choice[2];
	if (step->more[0] & 1)
		l->age_ns = step->value;
	if (step->more[0] & 2) {
		l->slots = 1 + step->amount * 8;
		l->probes = 1 + step->more[1] % BLOOM_PROBES_MAX;
	}
	words = place(&w->keys, l->length, step->memory & MEMORY_KEYS);
	for (i = 0; i < l->length / 8 && (u8 *)(words + i + 1) <= w->keys.end; i++)
		words[i] = step->more[0] & 4 ? key_of(i) : step->more[1] & i;
	l->data = (uintptr_t)words;
	return sizeof(*l);
}

static size_t fill(union any *any, struct worker *w, const struct step *step)
{
	switch (step->op % OPS) {
	case OP_CREATE:
		return fill_create(&any->create, step);
	case OP_OPEN:
		any->open.access = 1 + step->choice[0] % 3;
		set_name(any->open.name, step->name);
		return sizeof(any->open);
	case OP_UNLINK:
		set_name(any->unlink.name, step->name);
		return sizeof(any->unlink);
	case OP_LIST:
		return fill_list(&any->list, w, step);
	case OP_INFO:
		return fill_info(&any->info, w, step);
	case OP_CLEAR:
		return sizeof(any->clear);
	case OP_ROTATE:
		return fill_rotate(&any->rotate, step);
	case OP_LINK:
		return fill_link(&any->link, step);
	case OP_LOAD:
		return fill_load(&any->load, w, step);
	default:
		return fill_batch(&any->batch, w, step);
	}
}

static unsigned long command(const struct step *step)
{
	static const unsigned long commands[] = {
		BLOOM_IOC_CREATE, BLOOM_IOC_OPEN, BLOOM_IOC_UNLINK,
		BLOOM_IOC_LIST, BLOOM_IOC_ADD, BLOOM_IOC_QUERY,
		BLOOM_IOC_REMOVE, BLOOM_IOC_INFO, BLOOM_IOC_CLEAR,
		BLOOM_IOC_ROTATE, BLOOM_IOC_LINK, BLOOM_IOC_LOAD,
	};
	u32 op = step->op % OPS;

	if (op != OP_IOCTL)
		return commands[op];
	return step->choice[0] & 1 ? step->value : _IO(BLOOM_IOC_MAGIC, step->value % 64);
}

/* What the size says, and what lies behind the structure. */
static size_t lengthen(union any *any, const struct step *step, size_t size)
{
	if (step->op % OPS == OP_CREATE || step->op % OPS == OP_OPEN)
		return size;
	if (step->to % 16 == 1) {
		any->size += 8;
		return size + 8;
	}
	if (step->to % 16 == 2) {
		any->size += 8;
		((u8 *)any)[size + step->more[0] % 8] = step->more[1];
		return size + 8;
	}
	return size;
}

/* Is what a batch that went well tells of itself possible? */
static bool batch_is_sane(const struct bloom_batch *b)
{
	return b->done <= b->count && b->present <= b->done &&
	       b->out_of_range <= b->done - b->present && (b->done || !b->count);
}

long step_request(struct worker *w, const struct step *step)
{
	u32 op = step->op % OPS;
	union {
		union any any;
		u8 bytes[sizeof(union any) + 16];
	} made = {};
	size_t at, n, size = fill(&made.any, w, step);
	long ret;
	u8 *to;

	made.any.size = size;
	size = lengthen(&made.any, step, size);
	n = step->poke_bytes % 9;
	at = 2 * step->poke_at % size;
	if (n > size - at)
		n = size - at;
	memcpy(made.bytes + at, &step->value, n);

	to = step->op % OPS == OP_IOCTL && step->memory & MEMORY_NONE ? NULL :
	     place(&w->request, size, step->memory & MEMORY_REQUEST);
	if (to)
		memcpy(to, &made, step->memory & MEMORY_REQUEST ? size / 2 : size);
	ret = request(step_fd(step), command(step), to);

	if (!ret && (op == OP_ADD || op == OP_QUERY || op == OP_REMOVE)) {
		memcpy(&made, to, size);
		if (!batch_is_sane(&made.any.batch)) {
			fprintf(stderr,
				"%s of %llu keys: %llu done, %llu present, %llu out of range\n",
				op_names[op], made.any.batch.count,
				made.any.batch.done, made.any.batch.present,
				made.any.batch.out_of_range);
			wrong_answers++;
		}
	}
	return ret;
}
