/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * /dev/bloom: Bloom filters in the kernel, shared by processes, modules and BPF.
 *
 * /dev/bloom is the door: CREATE and OPEN return a file descriptor for one
 * filter; UNLINK and LIST work on the names. Every other request goes to a
 * filter's descriptor. A filter lives as long as something refers to it: a
 * descriptor, a mapping, a name, or a module in the kernel.
 *
 * Every structure begins with its own size, so that it can grow: an older
 * program's shorter structure is read as if zero-filled, and a newer program's
 * longer one is accepted while the part the kernel does not know is zero.
 *
 * Errors common to all requests:
 *   ENOTTY      no such request on this kind of descriptor
 *   EINVAL      size below the first published one, or a value out of range
 *   E2BIG       size over a page, or a non-zero byte in a part this kernel
 *               does not know
 *   EOPNOTSUPP  a flag or a choice this kernel does not know or this kind of
 *               filter does not have
 *   EFAULT      a pointer that can't be read or written
 *   EBADF       the descriptor is not open for what the request does
 *   ENOMEM      no memory;  ENOSPC: it would exceed a cap (module parameters)
 *   EOVERFLOW   the filter asked for is larger than any can be
 *
 * Reserved fields and padding must be zero (EINVAL).
 */
#ifndef _UAPI_LINUX_BLOOM_H
#define _UAPI_LINUX_BLOOM_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Longest name in bytes, without the closing NUL. */
#define BLOOM_NAME_MAX		255
/* Longest key in bytes; the empty key is a key. */
#define BLOOM_KEY_MAX		65535
/* Most probes (hash functions, the textbook's k) a filter can have. */
#define BLOOM_PROBES_MAX	64
/* Most layers a scaling filter can have; each is twice the one before. */
#define BLOOM_LAYERS_MAX	32
/* Live generations of a window filter. */
#define BLOOM_GENERATIONS_MIN	2
#define BLOOM_GENERATIONS_MAX	16
/* Shortest period of a window filter that rotates by itself: 10 ms. */
#define BLOOM_PERIOD_MIN_NS	10000000ULL
/* Longest period: about 31 years. */
#define BLOOM_PERIOD_MAX_NS	1000000000000000000ULL
/* Bits in a block of a blocked filter, counters in one of a counting filter. */
#define BLOOM_BLOCK_SLOTS	512

/**
 * enum bloom_kind - how keys are laid out in memory
 * @BLOOM_KIND_BLOCKED: all bits of a key in one 64-byte block: one cache miss
 * @BLOOM_KIND_CLASSIC: bits anywhere: smaller at very low rates, k misses
 * @BLOOM_KIND_COUNTING: 4-bit counters, so that keys can be removed; a counter
 *	that reaches 15 stays there. Removing a key that was never added, but is
 *	reported present, takes others with it.
 * @BLOOM_KIND_BITMAP: exact: the integers base .. base + slots - 1, a bit each;
 *	keys are 8 bytes, a __u64 in the machine's byte order
 */
enum bloom_kind {
	BLOOM_KIND_BLOCKED	= 0,
	BLOOM_KIND_CLASSIC	= 1,
	BLOOM_KIND_COUNTING	= 2,
	BLOOM_KIND_BITMAP	= 3,
};

/**
 * enum bloom_growth - what happens over time
 * @BLOOM_GROWTH_FIXED: one layer of one size; past capacity the error rises
 * @BLOOM_GROWTH_SCALING: a full layer is followed by one twice its capacity,
 *	with the total error still the one asked for (blocked, classic)
 * @BLOOM_GROWTH_WINDOW: keys are forgotten after some generations, a period
 *	each (blocked, classic)
 */
enum bloom_growth {
	BLOOM_GROWTH_FIXED	= 0,
	BLOOM_GROWTH_SCALING	= 1,
	BLOOM_GROWTH_WINDOW	= 2,
};

/**
 * enum bloom_hash - from key to 64 bits
 * @BLOOM_HASH_JHASH: the kernel's jhash, both result words, finalised. Fast;
 *	no defence against keys chosen by someone who wants collisions.
 * @BLOOM_HASH_SIPHASH: SipHash-2-4 keyed with the 128-bit seed: the choice for
 *	keys that an adversary picks
 */
enum bloom_hash {
	BLOOM_HASH_JHASH	= 0,
	BLOOM_HASH_SIPHASH	= 1,
};

/* The answer for a key, the same word for QUERY, ADD and REMOVE. */
#define BLOOM_ABSENT		0	/* was not in the filter */
#define BLOOM_PRESENT		1	/* was there (or a false positive) */
#define BLOOM_OUT_OF_RANGE	2	/* bitmap: not one of its integers */

/* bloom_create.flags */
/* seed[] holds the seed; otherwise the kernel draws a random one. */
#define BLOOM_CREATE_SEED	(1U << 0)
/*
 * Window: a key keeps the generation of its first ADD in place of being renewed
 * by every ADD. Its ADD is then "absent" again after G-1 to G periods, however
 * often it was seen meanwhile.
 */
#define BLOOM_CREATE_ONCE	(1U << 1)
/* BPF programs may reach the filter by its id. */
#define BLOOM_CREATE_BPF	(1U << 2)

/**
 * struct bloom_create - BLOOM_IOC_CREATE, on /dev/bloom open for writing
 * @size: sizeof(struct bloom_create)
 * @flags: BLOOM_CREATE_*
 * @kind: enum bloom_kind
 * @growth: enum bloom_growth
 * @hash: enum bloom_hash; 0 for a bitmap
 * @probes: 0: chosen from @fp_rate; with @slots: bits a key sets, 1..64
 * @capacity: distinct keys to hold (a generation, for a window; the first
 *	layer, for scaling, which holds 1024 at the least) while the error is
 *	@fp_rate. May be 0 if @slots and growth fixed are given.
 * @fp_rate: false-positive rate as a 0.64 fixed-point fraction (rate * 2^64),
 *	for the whole filter. At least 2^-39 (blocked, counting), 2^-47 (classic),
 *	for a scaling filter 1056 times that, for a window @generations times.
 *	May be 0 with @slots and growth fixed.
 * @slots: 0: chosen from @capacity and @fp_rate; otherwise the number of bits
 *	(counters) of the only, or first, or every layer. Rounded up to whole
 *	blocks, as INFO tells; exact for classic and bitmap. A bitmap needs it.
 * @base: bitmap: its first integer; base + slots - 1 must fit in 64 bits
 * @seed: with BLOOM_CREATE_SEED; SipHash uses all 128 bits, jhash 96 of them (the
 *	low half of the first word, and the second)
 * @period_ns: window: time between rotations, 0: rotated by hand only
 * @generations: window: live generations, 2..16
 * @reserved: zero
 *
 * Returns a descriptor for a new filter without a name, open for reading and
 * writing, close-on-exec.
 * Errors: EINVAL, EOPNOTSUPP (kind and growth that do not go together),
 * EBADF, ENOMEM, ENOSPC, EOVERFLOW, EMFILE.
 */
struct bloom_create {
	__u32 size;
	__u32 flags;
	__u32 kind;
	__u32 growth;
	__u32 hash;
	__u32 probes;
	__u64 capacity;
	__u64 fp_rate;
	__u64 slots;
	__u64 base;
	__u64 seed[2];
	__u64 period_ns;
	__u32 generations;
	__u32 reserved;
};

/* bloom_open.access: at least one. */
#define BLOOM_ACCESS_READ	(1U << 0)	/* QUERY, INFO, mmap */
#define BLOOM_ACCESS_WRITE	(1U << 1)	/* ADD, REMOVE, CLEAR, ... */

/**
 * struct bloom_open - BLOOM_IOC_OPEN, on /dev/bloom
 * @size: sizeof(struct bloom_open)
 * @access: BLOOM_ACCESS_*; WRITE alone can add but learns nothing of the
 *	filter but the verdicts of its own keys
 * @name: the name, closed by NUL
 *
 * Returns a descriptor, close-on-exec. Access is decided by the owner, group
 * and mode of the name, as for a file. Asking to write needs /dev/bloom open
 * for writing (EBADF).
 * Errors: ENOENT, EACCES, EBADF, EINVAL, ENAMETOOLONG, EMFILE.
 */
struct bloom_open {
	__u32 size;
	__u32 access;
	char name[BLOOM_NAME_MAX + 1];
};

/**
 * struct bloom_unlink - BLOOM_IOC_UNLINK, on /dev/bloom open for writing
 * @size: sizeof(struct bloom_unlink)
 * @flags: zero
 * @name: the name to remove; who has the filter open keeps it
 *
 * Only the owner, or CAP_FOWNER in the initial user namespace, may.
 * Errors: ENOENT, EPERM, EBADF, EINVAL, ENAMETOOLONG.
 */
struct bloom_unlink {
	__u32 size;
	__u32 flags;
	char name[BLOOM_NAME_MAX + 1];
};

/**
 * struct bloom_list_entry - what LIST tells of one name
 * @name: closed by NUL
 * @id: the filter's id, unique among living filters
 * @uid: owner, in the caller's user namespace
 * @gid: group, likewise
 * @mode: permission bits
 * @kind: enum bloom_kind
 * @growth: enum bloom_growth
 * @state: BLOOM_STATE_*
 * @reserved: zero
 * @capacity: as asked for at CREATE
 * @keys: keys held
 * @bytes: memory of its layers
 */
struct bloom_list_entry {
	char name[BLOOM_NAME_MAX + 1];
	__u32 id;
	__u32 uid;
	__u32 gid;
	__u32 mode;
	__u32 kind;
	__u32 growth;
	__u32 state;
	__u32 reserved;
	__u64 capacity;
	__u64 keys;
	__u64 bytes;
};

/**
 * struct bloom_list - BLOOM_IOC_LIST, on /dev/bloom
 * @size: sizeof(struct bloom_list)
 * @flags: zero
 * @entries: pointer to an array of struct bloom_list_entry
 * @count: in: entries the array has room for, at most 4096; out: how many
 *	were written. Fewer than asked for means that these were the last.
 * @entry_size: sizeof(struct bloom_list_entry); if longer than the kernel's, the
 *	rest of each entry is zeroed
 * @after: only names that sort (by bytes) after this one; empty: from the first
 *
 * Lists the names that the caller may read.
 * Errors: EINVAL, EFAULT, ENOMEM, ENAMETOOLONG.
 */
struct bloom_list {
	__u32 size;
	__u32 flags;
	__aligned_u64 entries;
	__u32 count;
	__u32 entry_size;
	char after[BLOOM_NAME_MAX + 1];
};

/**
 * struct bloom_batch - BLOOM_IOC_ADD, _QUERY, _REMOVE, on a filter
 * @size: sizeof(struct bloom_batch)
 * @flags: zero
 * @keys: pointer to the keys' bytes, one key after the other, no gaps
 * @keys_bytes: their total length; must be the sum of the lengths
 * @lens: pointer to @count __u32 lengths, or 0 if all keys are @key_len long
 * @key_len: the length of every key if @lens is 0; otherwise 0
 * @reserved: zero
 * @count: how many keys; 0 is allowed
 * @verdicts: pointer to @count bytes, one verdict a key, or 0
 * @done: out: how many keys, from the first, were dealt with
 * @present: out: how many of those were BLOOM_PRESENT
 * @out_of_range: out: how many of those were BLOOM_OUT_OF_RANGE
 *
 * The call may stop early, after a signal or where memory can't be read or
 * written. If it dealt with any key it then succeeds with @done below @count,
 * and the caller goes on from there; otherwise it fails and changed nothing. (A
 * caller who takes @verdicts away while the call runs may lose the answers of
 * keys that were added.)
 *
 * ADD: of any number of concurrent ADDs of one key, exactly one is told
 * BLOOM_ABSENT (or none, if it is a false positive). Once ADD has returned,
 * every QUERY of that key answers BLOOM_PRESENT until it is removed, cleared
 * or, in a window, forgotten. A verdict orders no other memory.
 *
 * REMOVE: counting and bitmap only. BLOOM_ABSENT: was not there, nothing
 * changed.
 *
 * ADD and REMOVE need a descriptor open for writing; QUERY for reading.
 * Errors: EINVAL (a length over BLOOM_KEY_MAX; the lengths do not add up to
 * @keys_bytes; a bitmap's key that is not 8 bytes), EBADF, EFAULT, EINTR,
 * ENOMEM, EOPNOTSUPP.
 */
struct bloom_batch {
	__u32 size;
	__u32 flags;
	__aligned_u64 keys;
	__u64 keys_bytes;
	__aligned_u64 lens;
	__u32 key_len;
	__u32 reserved;
	__u64 count;
	__aligned_u64 verdicts;
	__u64 done;
	__u64 present;
	__u64 out_of_range;
};

/* bloom_info.state, bloom_head.state, bloom_list_entry.state */
/* Holds more keys than its capacity: the error is above the one asked for. */
#define BLOOM_STATE_SATURATED	(1U << 0)
/* A scaling filter that was refused memory for its next layer; it tries on. */
#define BLOOM_STATE_REFUSED	(1U << 1)

/**
 * struct bloom_layer_info - one layer
 * @slots: bits (counters)
 * @bytes: memory; a multiple of the page size
 * @map_offset: where mmap() finds it; never used twice in a filter's life
 * @capacity: distinct keys it is made for; 0 if not known
 * @fp_rate: its own share of the error, 0.64 fixed point; 0 if not known
 * @keys: keys added to it that were not present before (counting: ADDs less
 *	REMOVEs). Exact, but for keys counted by LOAD.
 * @slots_set: bits that are set (counters that are not zero); exact
 * @age_ns: window: time since it became the current generation
 * @probes: bits a key
 * @reserved: zero
 */
struct bloom_layer_info {
	__u64 slots;
	__u64 bytes;
	__u64 map_offset;
	__u64 capacity;
	__u64 fp_rate;
	__u64 keys;
	__u64 slots_set;
	__u64 age_ns;
	__u32 probes;
	__u32 reserved;
};

/**
 * struct bloom_info - BLOOM_IOC_INFO, on a filter open for reading
 * @size: in: sizeof(struct bloom_info)
 * @flags: as at CREATE, less BLOOM_CREATE_SEED
 * @id: unique among living filters
 * @kind: enum bloom_kind
 * @growth: enum bloom_growth
 * @hash: enum bloom_hash
 * @state: BLOOM_STATE_*
 * @stripes: locks it is divided into
 * @capacity: as asked for at CREATE; 0 if it was not given
 * @fp_rate: likewise
 * @base: bitmap: its first integer
 * @seed: the seed
 * @period_ns: window: time between rotations, 0: by hand
 * @next_ns: window with a period: time to the next rotation
 * @generations: window: live generations
 * @layer_count: how many layers there are to tell of (window: @generations)
 * @layers: in: pointer to an array of struct bloom_layer_info, or 0. Scaling:
 *	the first made comes first. Window: the current generation comes first,
 *	then the one before it, and so on.
 * @layers_room: in: entries in that array; at most @layer_count are written
 * @layer_size: in: sizeof(struct bloom_layer_info); if longer than the kernel's,
 *	the rest of each row is zeroed
 * @keys: sum of the layers' keys. A window counts a key once a generation.
 * @slots_set: sum of the layers' slots_set
 * @bytes: all memory of the layers, a window's spare included
 * @adds: keys ever given to ADD
 * @adds_present: how many of them were answered BLOOM_PRESENT
 * @queries: keys ever given to QUERY through a call
 * @queries_present: how many of them were answered BLOOM_PRESENT
 * @removes: keys ever removed
 * @rotations: window: how often it rotated
 * @rotations_late: window: rotations that had to wait for the spare
 * @age_ns: time since CREATE
 * @uid: owner, in the caller's user namespace
 * @gid: group of its name
 * @mode: mode of its name
 * @reserved: zero
 * @name: its name, empty if it has none
 */
struct bloom_info {
	__u32 size;
	__u32 flags;
	__u32 id;
	__u32 kind;
	__u32 growth;
	__u32 hash;
	__u32 state;
	__u32 stripes;
	__u64 capacity;
	__u64 fp_rate;
	__u64 base;
	__u64 seed[2];
	__u64 period_ns;
	__u64 next_ns;
	__u32 generations;
	__u32 layer_count;
	__aligned_u64 layers;
	__u32 layers_room;
	__u32 layer_size;
	__u64 keys;
	__u64 slots_set;
	__u64 bytes;
	__u64 adds;
	__u64 adds_present;
	__u64 queries;
	__u64 queries_present;
	__u64 removes;
	__u64 rotations;
	__u64 rotations_late;
	__u64 age_ns;
	__u32 uid;
	__u32 gid;
	__u32 mode;
	__u32 reserved;
	char name[BLOOM_NAME_MAX + 1];
};

/**
 * struct bloom_clear - BLOOM_IOC_CLEAR, on a filter open for writing
 * @size: sizeof(struct bloom_clear)
 * @flags: zero
 *
 * Forgets every key. A scaling filter is one layer again, a window starts its
 * first generation. New memory is had before the old is given up: where that
 * fails (ENOMEM, ENOSPC) nothing has changed. A key whose ADD runs beside CLEAR
 * is either forgotten or kept.
 */
struct bloom_clear {
	__u32 size;
	__u32 flags;
};

/* bloom_rotate.flags */
/* Do not rotate; set the time to the next rotation and the period. */
#define BLOOM_ROTATE_SET	(1U << 0)

/**
 * struct bloom_rotate - BLOOM_IOC_ROTATE, on a window filter open for writing
 * @size: sizeof(struct bloom_rotate)
 * @flags: 0 or BLOOM_ROTATE_SET
 * @period_ns: with SET: the new period, 0: by hand from now on
 * @next_ns: with SET and a period: time to the next rotation, 1..@period_ns
 *
 * Without SET starts a new generation now and forgets the oldest. Where the
 * filter has a period the next rotation is a whole period away. Waits for the
 * spare generation to be empty.
 * Errors: EOPNOTSUPP (not a window), EBADF, EINVAL, EINTR.
 */
struct bloom_rotate {
	__u32 size;
	__u32 flags;
	__u64 period_ns;
	__u64 next_ns;
};

/* bloom_link.flags */
/* Take the name over from the filter that has it, if one has. */
#define BLOOM_LINK_REPLACE	(1U << 0)
/* Both filters have a name: they swap them. */
#define BLOOM_LINK_EXCHANGE	(1U << 1)

/**
 * struct bloom_link - BLOOM_IOC_LINK, on a filter open for writing
 * @size: sizeof(struct bloom_link)
 * @flags: 0 or one BLOOM_LINK_*
 * @mode: permission bits, at most 0666 (no umask is applied)
 * @gid: the group, in the caller's user namespace; (__u32)-1: the caller's own
 * @name: 1..255 bytes, no '/', no control character, not "." or ".."
 *
 * Gives the filter a name, or another name in place of the one it has. With
 * EXCHANGE mode and group go with the names and the fields must be 0 and -1.
 * The change is atomic: whoever opens the name gets the one filter or the
 * other. A filter that loses its name is kept by who has it open, and poll()
 * says EPOLLHUP.
 * The caller must own the filter and, with REPLACE and EXCHANGE, the filter that
 * has the name, or have CAP_FOWNER in the initial user namespace; must be in
 * the group, or have CAP_CHOWN there.
 * Errors: EEXIST, ENOENT (EXCHANGE), EPERM, EINVAL, ENAMETOOLONG, EBADF.
 */
struct bloom_link {
	__u32 size;
	__u32 flags;
	__u32 mode;
	__u32 gid;
	char name[BLOOM_NAME_MAX + 1];
};

/**
 * struct bloom_load - BLOOM_IOC_LOAD, on a filter open for writing
 * @size: sizeof(struct bloom_load)
 * @flags: zero
 * @layer: which, in INFO's order; a scaling filter's layer_count adds a layer
 * @probes: with a new layer and @slots: its probes; otherwise 0
 * @slots: with a new layer: its slots, or 0 for the size it would grow to;
 *	otherwise 0
 * @offset: first byte of the layer to write, a multiple of 8
 * @length: bytes, a multiple of 8
 * @data: pointer to @length bytes, OR-ed into the layer; a counting filter's
 *	counters are added, up to 15
 * @keys: how many keys to count for this, at most 2^56
 * @age_ns: window: if not 0, set the generation's age
 * @done: out: bytes dealt with, from the first
 *
 * For restore and merge, which are the library's: it compares kind, geometry,
 * hash and seed before it comes here. Bits past the last slot must be zero
 * (EINVAL). As with a batch, may end early with @done below @length; @keys and
 * @age_ns are applied by the call that reaches the end, with @length 0 at once.
 * Keys counted may make a scaling filter grow by itself: to set the size of its
 * layers, make them all before counting.
 * Errors: EAGAIN (the layer was rotated out or cleared meanwhile; what a window's
 * @layer means changes with every rotation), EINVAL, EBADF, EFAULT, ENOMEM,
 * ENOSPC.
 */
struct bloom_load {
	__u32 size;
	__u32 flags;
	__u32 layer;
	__u32 probes;
	__u64 slots;
	__u64 offset;
	__u64 length;
	__aligned_u64 data;
	__u64 keys;
	__u64 age_ns;
	__u64 done;
};

/**
 * struct bloom_head - page 0 of a filter's read-only mapping
 * @seq: a sequence count: odd while the set of layers changes, another value
 *	after every change (growth, rotation, CLEAR)
 * @size: sizeof(struct bloom_head) in the kernel
 * @state: BLOOM_STATE_*
 *
 * mmap() of offset 0, one page, gives this; mmap() of a layer's map_offset, at
 * most its bytes, gives the layer: bit i is bit i % 8 of byte i / 8.
 *
 * A reader loads @seq (acquire), asks INFO for the layers if the value is new
 * to it, probes them, and loads @seq again after a read barrier. If it was odd
 * or has changed, the answer "absent" means nothing and it tries again or asks
 * by QUERY.
 */
struct bloom_head {
	__u64 seq;
	__u32 size;
	__u32 state;
};

/*
 * poll() on a filter's descriptor: EPOLLPRI while SATURATED or REFUSED; EPOLLHUP
 * once the filter has lost a name it had (UNLINK, REPLACE, EXCHANGE, another LINK)
 * since this descriptor was opened or itself last gave it one.
 */

#define BLOOM_IOC_MAGIC		0xBB

/* On /dev/bloom. */
#define BLOOM_IOC_CREATE	_IO(BLOOM_IOC_MAGIC, 0x00)
#define BLOOM_IOC_OPEN		_IO(BLOOM_IOC_MAGIC, 0x01)
#define BLOOM_IOC_UNLINK	_IO(BLOOM_IOC_MAGIC, 0x02)
#define BLOOM_IOC_LIST		_IO(BLOOM_IOC_MAGIC, 0x03)

/* On a filter. */
#define BLOOM_IOC_ADD		_IO(BLOOM_IOC_MAGIC, 0x20)
#define BLOOM_IOC_QUERY		_IO(BLOOM_IOC_MAGIC, 0x21)
#define BLOOM_IOC_REMOVE	_IO(BLOOM_IOC_MAGIC, 0x22)
#define BLOOM_IOC_INFO		_IO(BLOOM_IOC_MAGIC, 0x23)
#define BLOOM_IOC_CLEAR		_IO(BLOOM_IOC_MAGIC, 0x24)
#define BLOOM_IOC_ROTATE	_IO(BLOOM_IOC_MAGIC, 0x25)
#define BLOOM_IOC_LINK		_IO(BLOOM_IOC_MAGIC, 0x26)
#define BLOOM_IOC_LOAD		_IO(BLOOM_IOC_MAGIC, 0x27)

#endif /* _UAPI_LINUX_BLOOM_H */
