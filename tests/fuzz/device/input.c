// SPDX-License-Identifier: GPL-2.0
/*
 * Making, changing, printing and reading inputs.
 */
#include <string.h>
#include "input.h"

const char *const op_names[OPS] = {
	"create", "open", "unlink", "list",
	"add", "query", "remove", "info", "clear", "rotate", "link", "load",
	"ioctl", "mmap", "munmap", "mprotect", "poll", "read", "write",
	"close", "dup", "fdinfo", "door", "identity", "signal",
};

static u32 below(u64 *random, u32 n)
{
	return (next_random(random) >> 32) % n;
}

static bool one_in(u64 *random, u32 n)
{
	return !below(random, n);
}

/* What code compares with, and random ones. */
static u64 interesting(u64 *random)
{
	static const u64 values[] = {
		0, 1, 2, 3, 7, 8, 64, 255, 256, 264, 280, 312, 472, 4095, 4096,
		4097, 65535, 65536, 1U << 31, 0xffffffff, 1ULL << 32, 1ULL << 46,
		1ULL << 56, 1ULL << 63, ~0ULL, ~0ULL - 7, BLOOM_PERIOD_MIN_NS,
		BLOOM_PERIOD_MIN_NS - 1, BLOOM_PERIOD_MAX_NS + 1,
	};
	u64 value = one_in(random, 4) ? next_random(random) >> below(random, 64) :
					values[below(random, ARRAY_LEN(values))];

	return one_in(random, 4) ? value << below(random, 64) : value;
}

/* Requests most of all, what surrounds them seldom. */
static u8 choose_op(u64 *random)
{
	if (one_in(random, 4))
		return below(random, OPS);
	return below(random, OP_LOAD + 1);
}

static void generate_step(struct step *step, u64 *random)
{
	u64 noise = next_random(random);

	memcpy(step, &noise, sizeof(noise));
	step->op = choose_op(random);
	/* Most of all the first filter, name and thread, so that steps meet. */
	if (one_in(random, 2))
		step->fd = 0;
	if (one_in(random, 2))
		step->to = 0;
	if (one_in(random, 2))
		step->name = 0;
	step->thread = one_in(random, 2) ? 0 : below(random, THREADS);
	if (one_in(random, 3))
		step->thread |= STEP_RACES;
	step->amount = next_random(random) >> (48 + below(random, 16));
	step->memory = one_in(random, 6) ? 1 << below(random, 6) : 0;
	step->fault = one_in(random, 10) ? 1 + below(random, 20) : 0;
	step->poke_bytes = one_in(random, 5) ? 1 << below(random, 4) : 0;
	step->poke_at = one_in(random, 2) ? 2 * below(random, 12) : noise >> 56;
	step->more[0] = next_random(random);
	step->more[1] = next_random(random);
	step->value = interesting(random);
}

void input_generate(struct input *input, u64 *random)
{
	u32 i;

	input->count = 3 + below(random, 10);
	for (i = 0; i < input->count; i++)
		generate_step(&input->steps[i], random);
	/* Without a filter, and often one with a name, the rest is refused. */
	input->steps[0].op = OP_CREATE;
	input->steps[0].fault = 0;
	if (one_in(random, 2)) {
		input->steps[1].op = OP_LINK;
		input->steps[1].thread &= ~STEP_RACES;
		input->steps[1].name = 0;
		input->steps[1].choice[0] = 0;
	}
}

static void insert_step(struct input *input, u32 at, const struct step *step)
{
	struct step *to = &input->steps[at];
	struct step fresh = *step;

	if (input->count == STEPS_MAX)
		return;
	memmove(to + 1, to, (input->count - at) * sizeof(*to));
	*to = fresh;
	input->count++;
}

static void mutate_once(struct input *input, const struct input *other,
			u64 *random)
{
	struct step fresh, *step = &input->steps[below(random, input->count)];
	u32 at = below(random, input->count + 1);
	u8 *bytes = (u8 *)step;

	switch (below(random, 9)) {
	case 0:
		generate_step(&fresh, random);
		insert_step(input, at, &fresh);
		break;
	case 1:
		insert_step(input, at, &other->steps[below(random, other->count)]);
		break;
	case 2:
		/* The same again, by another thread, at the same time. */
		fresh = *step;
		fresh.thread = (fresh.thread + 1) | STEP_RACES;
		insert_step(input, step - input->steps + 1, &fresh);
		break;
	case 3:
		if (input->count == 1)
			break;
		input->count--;
		memmove(step, step + 1, (input->steps + input->count - step) *
		       sizeof(*step));
		break;
	case 4:
		step->value = interesting(random);
		step->poke_bytes = 1 << below(random, 4);
		step->poke_at = below(random, 256);
		break;
	case 5:
		step->amount = interesting(random);
		break;
	case 6:
		step->fault = below(random, 30);
		break;
	case 7:
		generate_step(step, random);
		break;
	default:
		bytes[below(random, sizeof(*step))] = next_random(random);
		break;
	}
}

void input_mutate(struct input *input, const struct input *other, u64 *random)
{
	u32 n = 1 + below(random, 4);

	while (n--)
		mutate_once(input, other, random);
}

size_t input_print(const struct input *input, u64 number, char *text, size_t room)
{
	size_t used = snprintf(text, room, "# input %llu\n", number);
	const u8 *bytes;
	u32 i, j;

	for (i = 0; i < input->count; i++) {
		bytes = (const u8 *)&input->steps[i];
		used += snprintf(text + used, room - used, "%-8s ",
				 op_names[bytes[0] % OPS]);
		for (j = 1; j < sizeof(struct step); j++)
			used += snprintf(text + used, room - used, "%02x",
					 bytes[j]);
		used += snprintf(text + used, room - used, "\n");
	}
	return used;
}

static bool read_step(struct step *step, const char *line)
{
	u8 *bytes = (u8 *)step;
	char name[16], hex[64];
	u32 i;

	if (sscanf(line, "%15s %63s", name, hex) != 2 ||
	    strlen(hex) != 2 * (sizeof(*step) - 1))
		return false;
	for (i = 1; i < sizeof(*step); i++) {
		if (sscanf(hex + 2 * (i - 1), "%2hhx", &bytes[i]) != 1)
			return false;
	}
	for (i = 0; i < OPS; i++) {
		if (!strcmp(op_names[i], name)) {
			step->op = i;
			return true;
		}
	}
	return false;
}

bool input_read(struct input *input, FILE *from)
{
	char line[128];

	input->count = 0;
	while (fgets(line, sizeof(line), from)) {
		if (*line == '#')
			input->count = 0;
		else if (input->count == STEPS_MAX ||
			 !read_step(&input->steps[input->count++], line))
			return false;
	}
	return input->count;
}
