/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Other filters, each behind the same few functions. Their headers do not go
 * together with ours, nor with each other.
 */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* libbloom 1.6; made for @entries at @error. */
void *libbloom_make(int entries, double error);
void libbloom_free(void *peer);
uint8_t *libbloom_bits(void *peer, size_t *bytes);
void libbloom_add(void *peer, const uint8_t *keys, int len, size_t count);
size_t libbloom_check(void *peer, const uint8_t *keys, int len, size_t count);

/*
 * RocksDB's full filter over @bytes of memory, whatever is in them; for
 * @bits_per_key. The builder would keep eight bytes a key while it works.
 */
void *rocksdb_make(uint8_t *bytes, size_t size, double bits_per_key);
/* The same from keys, by the builder. */
void *rocksdb_build(const uint8_t *keys, int len, size_t count,
		    double bits_per_key);
void rocksdb_free(void *peer);
size_t rocksdb_check(void *peer, const uint8_t *keys, int len, size_t count);

#ifdef __cplusplus
}
#endif

#endif /* BENCH_PEERS_H */
