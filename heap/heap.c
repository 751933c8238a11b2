/* SPDX-License-Identifier: Apache-2.0 */
/* libflamelet-heap.so: put before a program's allocator (LD_PRELOAD), it samples allocations and
 * tells readers of the probes (probes.h).
 *
 * Each function passes its call on to the next library that has it: libc, or an allocator that is a
 * library of its own. While nobody reads, that costs a load and a jump. Nothing here takes a lock
 * or allocates memory, so it may run wherever the allocator may, and a fork at any place does no
 * harm.
 *
 * It needs nothing from libc but dlsym(3), and runs with glibc and musl.
 *
 * Calls come before this library is initialized. dlsym(3) itself may allocate memory: what it asks
 * for comes from `early`, and is never given back. */
#include "heap/poisson.h"
#include "heap/probes.h"
#include "heap/sampled_set.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define EARLY_BYTES 16384
#define EARLY_ALIGN 16
#define NR_MEANS 8

/* Of both, a libc has at least one. */
__attribute__((weak)) int __register_atfork(void (*prepare)(void), void (*parent)(void),
					    void (*child)(void), void *dso);
__attribute__((weak)) int pthread_atfork(void (*prepare)(void), void (*parent)(void),
					 void (*child)(void));

static char early[EARLY_BYTES] __attribute__((aligned(EARLY_ALIGN)));
static uint32_t nr_early_bytes;

static __thread struct poisson thread_poisson;
static __thread bool is_resolving;

static void *first_malloc(size_t size);
static void first_free(void *ptr);
static void *first_calloc(size_t nr, size_t size);
static void *first_realloc(void *ptr, size_t size);
static int first_posix_memalign(void **ret_ptr, size_t align, size_t size);
static void *first_aligned_alloc(size_t align, size_t size);
static void *first_memalign(size_t align, size_t size);
static void *first_valloc(size_t size);
static void *first_pvalloc(size_t size);

/* The next library's functions. At first, they find the real ones. */
static void *(*next_malloc)(size_t size) = first_malloc;
static void (*next_free)(void *ptr) = first_free;
static void *(*next_calloc)(size_t nr, size_t size) = first_calloc;
static void *(*next_realloc)(void *ptr, size_t size) = first_realloc;
static int (*next_posix_memalign)(void **ret_ptr, size_t align, size_t size) = first_posix_memalign;
static void *(*next_aligned_alloc)(size_t align, size_t size) = first_aligned_alloc;
static void *(*next_memalign)(size_t align, size_t size) = first_memalign;
static void *(*next_valloc)(size_t size) = first_valloc;
static void *(*next_pvalloc)(size_t size) = first_pvalloc;

/* Finds a function of the next library. Returns false if there is none, or if dlsym(3) is at work
 * already in this thread, which then allocates memory. */
static bool resolve(void *ret_next, const char *name)
{
	void *found = NULL;

	if (!is_resolving) {
		is_resolving = true;
		found = dlsym(RTLD_NEXT, name);
		is_resolving = false;
	}
	if (found)
		__atomic_store_n((void **)ret_next, found, __ATOMIC_RELEASE);
	return found != NULL;
}

static bool is_early(const void *ptr)
{
	return (const char *)ptr >= early && (const char *)ptr < early + EARLY_BYTES;
}

/* Returns memory that is zero. */
static void *take_early(size_t size)
{
	uint32_t bytes = (uint32_t)(size + EARLY_ALIGN - 1) & ~(uint32_t)(EARLY_ALIGN - 1);
	uint32_t begin;

	if (!is_resolving || size > EARLY_BYTES) {
		errno = ENOMEM;
		return NULL;
	}
	begin = __atomic_fetch_add(&nr_early_bytes, bytes, __ATOMIC_RELAXED);
	return begin + bytes <= EARLY_BYTES ? early + begin : NULL;
}

static void *first_malloc(size_t size)
{
	return resolve(&next_malloc, "malloc") ? next_malloc(size) : take_early(size);
}

static void first_free(void *ptr)
{
	if (resolve(&next_free, "free"))
		next_free(ptr);
}

static void *first_calloc(size_t nr, size_t size)
{
	return resolve(&next_calloc, "calloc") ? next_calloc(nr, size) : take_early(nr * size);
}

static void *first_realloc(void *ptr, size_t size)
{
	return resolve(&next_realloc, "realloc") ? next_realloc(ptr, size) : take_early(size);
}

static int first_posix_memalign(void **ret_ptr, size_t align, size_t size)
{
	return resolve(&next_posix_memalign, "posix_memalign")
		       ? next_posix_memalign(ret_ptr, align, size)
		       : ENOMEM;
}

static void *first_aligned_alloc(size_t align, size_t size)
{
	return resolve(&next_aligned_alloc, "aligned_alloc") ? next_aligned_alloc(align, size)
							     : NULL;
}

static void *first_memalign(size_t align, size_t size)
{
	return resolve(&next_memalign, "memalign") ? next_memalign(align, size) : NULL;
}

static void *first_valloc(size_t size)
{
	return resolve(&next_valloc, "valloc") ? next_valloc(size) : NULL;
}

static void *first_pvalloc(size_t size)
{
	return resolve(&next_pvalloc, "pvalloc") ? next_pvalloc(size) : NULL;
}

static void restart_in_child(void)
{
	poisson_restart(&thread_poisson);
}

__attribute__((constructor)) static void start(void)
{
	(void)resolve(&next_malloc, "malloc");
	(void)resolve(&next_free, "free");
	(void)resolve(&next_calloc, "calloc");
	(void)resolve(&next_realloc, "realloc");
	if (__register_atfork)
		(void)__register_atfork(NULL, NULL, restart_in_child, NULL);
	else if (pthread_atfork)
		(void)pthread_atfork(NULL, NULL, restart_in_child);
}

/* Tells of an allocation that stands for so many bytes. If its free is to be told as well, it is
 * remembered. */
__attribute__((always_inline)) static inline void *tell(void *ptr, size_t size,
							uint64_t weighted_bytes)
{
	if (ptr && (probes_free_readers == 0 || sampled_set_add(ptr)))
		probes_tell_alloc(ptr, size, weighted_bytes);
	return ptr;
}

/* The more sampled allocations there are, the fewer are sampled: the set has room for those of
 * 2 TiB. */
__attribute__((noinline)) static uint64_t pass(size_t size)
{
	uint32_t count = __atomic_load_n(&sampled_set_count, __ATOMIC_RELAXED);

	return poisson_pass(&thread_poisson, size,
			    POISSON_MEAN_BYTES << (count / (SAMPLED_SET_MAX / NR_MEANS)));
}

/* Returns for how many bytes an allocation stands; 0 for nearly all of them. */
static inline uint64_t choose(size_t size)
{
	if (__builtin_expect(probes_alloc_readers == 0, 1))
		return 0;
	if (__builtin_expect(size < thread_poisson.left, 1)) {
		thread_poisson.left -= size;
		return 0;
	}
	return pass(size);
}

/* Returns whether memory that will be freed is `early`. Else it is forgotten now, as another thread
 * may get it at once. */
__attribute__((always_inline)) static inline bool is_kept(const void *ptr)
{
	if (is_early(ptr))
		return true;
	if (probes_free_readers == 0)
		sampled_set_clear();
	else if (sampled_set_remove(ptr))
		probes_tell_free(ptr);
	return false;
}

/* Returns whether all memory is that of the next library, and nobody wants to know of it. */
static inline bool is_plain(void)
{
	return __builtin_expect((sampled_set_count | nr_early_bytes) == 0, 1);
}

EXPORT void *malloc(size_t size)
{
	uint64_t weight = choose(size);

	if (__builtin_expect(weight == 0, 1))
		return next_malloc(size);
	return tell(next_malloc(size), size, weight);
}

EXPORT void free(void *ptr)
{
	if (is_plain() || !is_kept(ptr))
		next_free(ptr);
}

/* Of C23. */
EXPORT void free_sized(void *ptr, size_t size);
EXPORT void free_sized(void *ptr, size_t size)
{
	(void)size;
	free(ptr);
}

EXPORT void free_aligned_sized(void *ptr, size_t align, size_t size);
EXPORT void free_aligned_sized(void *ptr, size_t align, size_t size)
{
	(void)align;
	(void)size;
	free(ptr);
}

EXPORT void *calloc(size_t nr, size_t size)
{
	size_t bytes;
	uint64_t weight = __builtin_mul_overflow(nr, size, &bytes) ? 0 : choose(bytes);

	if (__builtin_expect(weight == 0, 1))
		return next_calloc(nr, size);
	return tell(next_calloc(nr, size), bytes, weight);
}

static void *move_early(const void *ptr, size_t size)
{
	size_t room = (size_t)(early + EARLY_BYTES - (const char *)ptr);
	void *moved = malloc(size);

	if (moved)
		memcpy(moved, ptr, size < room ? size : room);
	return moved;
}

/* Counts as free(3) and malloc(3). If it fails, the old memory stays, but is not known any more. */
EXPORT void *realloc(void *ptr, size_t size)
{
	uint64_t weight;

	if (!is_plain() && is_kept(ptr))
		return move_early(ptr, size);
	weight = choose(size);
	if (__builtin_expect(weight == 0, 1))
		return next_realloc(ptr, size);
	return tell(next_realloc(ptr, size), size, weight);
}

EXPORT void *reallocarray(void *ptr, size_t nr, size_t size)
{
	size_t bytes;

	if (!__builtin_mul_overflow(nr, size, &bytes))
		return realloc(ptr, bytes);
	errno = ENOMEM;
	return NULL;
}

EXPORT int posix_memalign(void **ret_ptr, size_t align, size_t size)
{
	uint64_t weight = choose(size);
	int error = next_posix_memalign(ret_ptr, align, size);

	if (weight != 0 && error == 0)
		(void)tell(*ret_ptr, size, weight);
	return error;
}

EXPORT void *aligned_alloc(size_t align, size_t size)
{
	uint64_t weight = choose(size);
	void *ptr = next_aligned_alloc(align, size);

	return weight == 0 ? ptr : tell(ptr, size, weight);
}

EXPORT void *memalign(size_t align, size_t size)
{
	uint64_t weight = choose(size);
	void *ptr = next_memalign(align, size);

	return weight == 0 ? ptr : tell(ptr, size, weight);
}

EXPORT void *valloc(size_t size)
{
	uint64_t weight = choose(size);
	void *ptr = next_valloc(size);

	return weight == 0 ? ptr : tell(ptr, size, weight);
}

EXPORT void *pvalloc(size_t size)
{
	uint64_t weight = choose(size);
	void *ptr = next_pvalloc(size);

	return weight == 0 ? ptr : tell(ptr, size, weight);
}
