// SPDX-License-Identifier: GPL-2.0
#include <bloom.h>
#include <stdlib.h>
#include "peers.h"

void *libbloom_make(int entries, double error)
{
	struct bloom *bloom = calloc(1, sizeof(*bloom));

	if (!bloom || bloom_init(bloom, entries, error))
		abort();
	return bloom;
}

void libbloom_free(void *peer)
{
	bloom_free(peer);
	free(peer);
}

uint8_t *libbloom_bits(void *peer, size_t *bytes)
{
	struct bloom *bloom = peer;

	*bytes = bloom->bytes;
	return bloom->bf;
}

void libbloom_add(void *peer, const uint8_t *keys, int len, size_t count)
{
	for (; count; count--, keys += len)
		bloom_add(peer, keys, len);
}

size_t libbloom_check(void *peer, const uint8_t *keys, int len, size_t count)
{
	size_t present = 0;

	for (; count; count--, keys += len)
		present += bloom_check(peer, keys, len) == 1;
	return present;
}
