// SPDX-License-Identifier: LGPL-2.1
/*
 * CRC-64, sixteen bytes at a time ("slicing", Kounavis and Berry 2005): two
 * bytes a cycle or so, more than disks write.
 */
#include <pthread.h>
#include "crc64.h"
#include "core_shim.h"

#define POLYNOMIAL	0xc96c5795d7870f42ULL
#define SLICES		16

/* table[s][b]: what byte b does to the checksum when s bytes follow it. */
static uint64_t table[SLICES][256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void table_make(void)
{
	uint64_t crc;
	int b, bit, s;

	for (b = 0; b < 256; b++) {
		crc = b;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
		table[0][b] = crc;
	}
	for (b = 0; b < 256; b++) {
		for (s = 1; s < SLICES; s++) {
			crc = table[s - 1][b];
			table[s][b] = crc >> 8 ^ table[0][crc & 0xff];
		}
	}
}

static inline uint64_t fold(uint64_t word, int slice)
{
	uint64_t crc = 0;
	int i;

	for (i = 0; i < 8; i++)
		crc ^= table[slice - i][word >> (8 * i) & 0xff];
	return crc;
}

uint64_t bloomdev_crc64(uint64_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;

	pthread_once(&once, table_make);
	crc = ~crc;
	for (; len >= SLICES; p += SLICES, len -= SLICES)
		crc = fold(crc ^ bloom_load_le64(p), 15) ^
		      fold(bloom_load_le64(p + 8), 7);
	for (; len; p++, len--)
		crc = crc >> 8 ^ table[0][(crc ^ *p) & 0xff];
	return ~crc;
}
