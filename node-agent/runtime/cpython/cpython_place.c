/* SPDX-License-Identifier: Apache-2.0 */
/* Each thread's surroundings are searched for the thread's state, which gives candidates. The
 * candidate that holds in most threads wins: a copy that some function has left somewhere is found
 * in one thread, and _Py_tss_tstate is set in the one that has the GIL. CPython makes its key
 * before any extension module can make one, so that of two keys the lower one is CPython's. From
 * 3.15 on there is no key, and the thread-local _Py_tss_gilstate has the state instead.
 *
 * Thread pointers are used as the C libraries of x86-64 use them (ELF Handling For Thread-Local
 * Storage, variant II; glibc: nptl/descr.h, sysdeps/x86_64/nptl/tls.h; musl:
 * src/internal/pthread_impl.h): static blocks are below the thread pointer, and the thread's own
 * block begins there. arm64 is the other way round (cpython_block.h). */
#include "runtime/cpython/cpython_place.h"

#include "base/cleanup.h"
#include "bpf/shared/cfi.h"
#include "runtime/cpython/cpython_block.h"
#include "runtime/cpython/cpython_values.h"

#include <string.h>

#define FIRST_WITHOUT_KEYS CPYTHON_VERSION(3, 15)
#define MAX_CANDIDATES 32
#define MAX_SEARCHED 4 /* threads that are searched for candidates */

/* Static TLS. Below it, a thread has its stack, so only the blocks are searched. */
#define MAX_STATIC_BYTES 8192

/* glibc: struct pthread.specific_1stblock, 32 keys of 16 bytes with the value second. */
#define KEYS_START 0x310
#define KEY_BYTES 16
#define KEY_VALUE 8
#define NR_KEYS 32
/* struct pthread.specific, pointers to such tables; the first one is the table above. */
#define FAR_KEYS_START 0x510
#define NR_FAR_KEYS 32
/* arm64: the same table is elsewhere in the block, which ends at the thread pointer. Static TLS
 * begins behind two words. */
#define ARM64_KEYS_START 0x110
#define ARM64_HEAD_BYTES 16
/* musl: struct pthread.tsd, a pointer to a table of values. */
#define MUSL_KEYS 128
#define NR_MUSL_KEYS 128

/* The vector of TLS blocks (dtv): glibc has 16 bytes a module, musl 8. */
#define DTV 8
#define MAX_MODULES 64
static const int32_t dtv_strides[] = { 16, 8 };

struct search {
	struct process_memory *memory; /* borrowed */
	const struct cpython_threads *threads; /* borrowed */
	const struct cpython_thread *thread; /* the searched one; borrowed */
	uint64_t tls_bytes; /* of CPython's block */
	uint32_t block_bytes; /* arm64: of the thread's block; 0: not known */
	bool has_keys; /* CPython keeps the state in a key, else in a thread-local variable */
	struct cpython_place places[MAX_CANDIDATES];
	size_t nr;
};

static bool is_state_of(const struct search *search, uint64_t pointer, uint64_t value)
{
	for (size_t i = 0; i < search->threads->nr; i++)
		if (search->threads->items[i].pointer == pointer &&
		    search->threads->items[i].state == value)
			return true;
	return false;
}

static void add_place(struct search *search, struct cpython_place place)
{
	for (size_t i = 0; i < search->nr; i++)
		if (search->places[i].nr == place.nr &&
		    memcmp(search->places[i].offsets, place.offsets, sizeof(place.offsets)) == 0)
			return;
	if (search->nr < MAX_CANDIDATES)
		search->places[search->nr++] = place;
}

/* Searches memory from `address` on. `place` leads there, and its last offset is that of the
 * first word; every `stride` bytes there is a word. */
static void search_words(struct search *search, uint64_t address, size_t len, size_t stride,
			 struct cpython_place place)
{
	uint8_t bytes[MAX_STATIC_BYTES];
	int32_t first = place.offsets[place.nr - 1];
	uint64_t word;

	ssize_t n = process_memory_read_some(search->memory, address, bytes,
					     len < sizeof(bytes) ? len : sizeof(bytes));
	for (size_t at = 0; n > 0 && at + sizeof(word) <= (size_t)n; at += stride) {
		memcpy(&word, bytes + at, sizeof(word));
		if (!is_state_of(search, search->thread->pointer, word))
			continue;
		place.offsets[place.nr - 1] = first + (int32_t)at;
		add_place(search, place);
	}
}

/* Searches `len` bytes at a distance from the thread pointer. */
static void search_near(struct search *search, int32_t distance, size_t len, size_t stride,
			uint8_t kind)
{
	search_words(search, search->thread->pointer + (uint64_t)(int64_t)distance, len, stride,
		     (struct cpython_place){ .kind = kind, .nr = 1, .offsets = { distance } });
}

/* Reads the addresses of TLS blocks; 0 for those that cannot be read. */
static void read_blocks(struct search *search, int32_t stride, uint64_t blocks[MAX_MODULES])
{
	uint8_t bytes[MAX_MODULES * 16];
	uint64_t dtv;
	ssize_t n = 0;

	if (process_memory_read_u64(search->memory, search->thread->pointer + DTV, &dtv) == 0)
		n = process_memory_read_some(search->memory, dtv, bytes,
					     (size_t)stride * MAX_MODULES);
	memset(blocks, 0, MAX_MODULES * sizeof(*blocks));
	for (ssize_t i = 1; i < MAX_MODULES && (i + 1) * stride <= n; i++)
		memcpy(&blocks[i], bytes + i * stride, sizeof(*blocks));
}

static bool is_static(const struct search *search, uint64_t block)
{
	return block < search->thread->pointer &&
	       search->thread->pointer - block <= MAX_STATIC_BYTES;
}

/* Searches the static blocks, from the lowest one that the vector (DTV) has. All C libraries fill
 * the vector for blocks that exist from the beginning. */
static void search_static(struct search *search)
{
	uint64_t low = search->thread->pointer;
	uint64_t blocks[MAX_MODULES];

	for (size_t k = 0; k < array_len(dtv_strides); k++) {
		read_blocks(search, dtv_strides[k], blocks);
		for (size_t i = 1; i < MAX_MODULES; i++)
			if (blocks[i] % sizeof(uint64_t) == 0 && blocks[i] < low &&
			    is_static(search, blocks[i]))
				low = blocks[i];
	}
	uint64_t len = search->thread->pointer - low;
	search_near(search, -(int32_t)len, (size_t)len, sizeof(uint64_t), CPYTHON_PLACE_STATIC_TLS);
}

/* Searches blocks that were made when a library was loaded later. */
static void search_dynamic(struct search *search)
{
	uint64_t blocks[MAX_MODULES];

	for (size_t k = 0; k < array_len(dtv_strides); k++) {
		read_blocks(search, dtv_strides[k], blocks);
		for (size_t i = 1; i < MAX_MODULES; i++) {
			struct cpython_place place = {
				.kind = CPYTHON_PLACE_DYNAMIC_TLS,
				.nr = 3,
				.offsets = { DTV, (int32_t)i * dtv_strides[k] },
			};

			if (blocks[i] != 0 && !is_static(search, blocks[i]))
				search_words(search, blocks[i], (size_t)search->tls_bytes,
					     sizeof(uint64_t), place);
		}
	}
}

/* Searches a table that a word of the thread's block refers to, unless it is 0. */
static void search_table(struct search *search, uint64_t table, struct cpython_place place,
			 size_t len, size_t stride)
{
	if (table != 0)
		search_words(search, table + (uint64_t)place.offsets[1], len, stride, place);
}

static struct cpython_place far_key(int32_t distance, int32_t first)
{
	return (struct cpython_place){
		.kind = CPYTHON_PLACE_FAR_KEY,
		.nr = 2,
		.offsets = { distance, first },
	};
}

static void search_keys(struct search *search)
{
	uint64_t pointer = search->thread->pointer;
	uint64_t tables[NR_FAR_KEYS] = { 0 };
	uint64_t table = 0;

	search_near(search, KEYS_START + KEY_VALUE, (size_t)NR_KEYS * KEY_BYTES, KEY_BYTES,
		    CPYTHON_PLACE_KEY);
	if (process_memory_read(search->memory, pointer + FAR_KEYS_START, tables, sizeof(tables)) <
	    0)
		memset(tables, 0, sizeof(tables));
	for (int32_t i = 1; i < NR_FAR_KEYS; i++)
		search_table(search, tables[i],
			     far_key(FAR_KEYS_START + i * (int32_t)sizeof(table), KEY_VALUE),
			     (size_t)NR_KEYS * KEY_BYTES, KEY_BYTES);
	if (process_memory_read_u64(search->memory, pointer + MUSL_KEYS, &table) < 0)
		table = 0;
	search_table(search, table, far_key(MUSL_KEYS, 0), NR_MUSL_KEYS * sizeof(table),
		     sizeof(table));
}

static void search_thread_on_arm64(struct search *search)
{
	if (search->has_keys)
		search_near(search, ARM64_KEYS_START + KEY_VALUE, (size_t)NR_KEYS * KEY_BYTES,
			    KEY_BYTES, CPYTHON_PLACE_KEY);
	else if (search->block_bytes != 0)
		search_near(search, (int32_t)search->block_bytes + ARM64_HEAD_BYTES,
			    MAX_STATIC_BYTES, sizeof(uint64_t), CPYTHON_PLACE_STATIC_TLS);
}

static void search_thread(struct search *search)
{
	if (CFI_IS_ARM64) {
		search_thread_on_arm64(search);
	} else if (search->has_keys) {
		search_keys(search);
	} else {
		search_static(search);
		search_dynamic(search);
	}
}

static bool holds(const struct search *search, const struct cpython_place *place, uint64_t pointer)
{
	uint64_t word = pointer;

	for (uint8_t i = 0; i < place->nr; i++)
		if (process_memory_read_u64(search->memory,
					    word + (uint64_t)(int64_t)place->offsets[i], &word) < 0)
			return false;
	return is_state_of(search, pointer, word);
}

/* Counts a thread once, however many states it has. */
static bool is_first_of_thread(const struct cpython_threads *threads, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (threads->items[i].pointer == threads->items[index].pointer)
			return false;
	return true;
}

static uint32_t count_threads(const struct search *search, const struct cpython_place *place)
{
	uint32_t nr = 0;

	for (size_t i = 0; i < search->threads->nr; i++)
		if (is_first_of_thread(search->threads, i) &&
		    holds(search, place, search->threads->items[i].pointer))
			nr++;
	return nr;
}

/* In 3.15, the code of a function shows which of two thread-local variables keeps the state. */
static bool is_place_of_code(const struct cpython_place *place, const uint64_t *values)
{
	return place->kind == CPYTHON_PLACE_STATIC_TLS && place->offsets[0] != 0 &&
	       (uint32_t)place->offsets[0] == values[CPYTHON_GILSTATE_PLACE];
}

/* Candidates of a kind are in the order of their addresses, so the first key is the lowest. */
static bool is_better(const struct cpython_place *place, const struct cpython_place *best,
		      const uint64_t *values)
{
	if (place->nr_threads != best->nr_threads)
		return place->nr_threads > best->nr_threads;
	if (is_place_of_code(place, values) != is_place_of_code(best, values))
		return is_place_of_code(place, values);
	return place->kind < best->kind;
}

static bool has_rival(const struct search *search, const struct cpython_place *best)
{
	for (size_t i = 0; i < search->nr; i++)
		if (&search->places[i] != best && search->places[i].kind == best->kind &&
		    search->places[i].nr_threads == best->nr_threads)
			return true;
	return false;
}

int cpython_place_learn(struct process_memory *memory, const struct runtime_file *file,
			const struct cpython_threads *threads, struct cpython_place *ret_place)
{
	struct search search = {
		.memory = memory,
		.threads = threads,
		.tls_bytes = file->values[CPYTHON_TLS_BYTES],
		.block_bytes = CFI_IS_ARM64 ? cpython_block_bytes(memory, threads) : 0,
		.has_keys = file->version < FIRST_WITHOUT_KEYS,
	};
	const uint64_t *values = file->values;
	struct cpython_place *best = NULL;
	size_t nr_searched = 0;

	/* The last ones are the oldest ones, and the most settled. */
	for (size_t i = threads->nr; i > 0 && nr_searched < MAX_SEARCHED; i--, nr_searched++) {
		search.thread = &threads->items[i - 1];
		search_thread(&search);
	}
	for (size_t i = 0; i < search.nr; i++) {
		search.places[i].nr_threads = count_threads(&search, &search.places[i]);
		if (search.places[i].nr_threads > 0 &&
		    (!best || is_better(&search.places[i], best, values)))
			best = &search.places[i];
	}
	if (!best || (CFI_IS_ARM64 && search.block_bytes == 0))
		return -ENOENT;
	best->block_bytes = search.block_bytes;
	best->is_only = best->kind == CPYTHON_PLACE_KEY || is_place_of_code(best, values) ||
			!has_rival(&search, best);
	*ret_place = *best;
	return 0;
}

const char *cpython_place_name(uint8_t kind)
{
	static const char *const names[] = {
		[CPYTHON_PLACE_KEY] = "pthread key",
		[CPYTHON_PLACE_FAR_KEY] = "pthread key in a table",
		[CPYTHON_PLACE_STATIC_TLS] = "static TLS",
		[CPYTHON_PLACE_DYNAMIC_TLS] = "dynamic TLS",
	};

	return kind < array_len(names) ? names[kind] : "unknown";
}
