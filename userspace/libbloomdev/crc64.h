/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * The checksum of saved images: CRC-64 with the polynomial of ECMA-182,
 * reflected, as in .xz files (check value of "123456789": 995dc9bbdf1939fa).
 *
 * A CRC of 64 bits finds every error that lies within 64 bits, hence every
 * altered byte, for certain, and misses anything else once in 2^64; 32 bits
 * would miss one corrupted image in four thousand million. A cryptographic hash
 * would be no better: who can alter the file can alter the hash beside it.
 */
#ifndef BLOOMDEV_CRC64_H
#define BLOOMDEV_CRC64_H

#include <stddef.h>
#include <stdint.h>

/* Of @len bytes that follow those whose checksum is @crc; 0 to start. */
uint64_t bloomdev_crc64(uint64_t crc, const void *data, size_t len);

#endif /* BLOOMDEV_CRC64_H */
