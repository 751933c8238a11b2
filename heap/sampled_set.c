/* SPDX-License-Identifier: Apache-2.0 */
/* An address is in one line of 8, by its hash. A table of counters, small enough for the fastest
 * cache, says of most addresses that they are not in the set. */
#include "heap/sampled_set.h"

#include <stddef.h>

#define HINTS (1 << 14)
#define HINT_MAX UINT8_MAX /* stays so */

static uintptr_t lines[SAMPLED_SET_LINES][SAMPLED_SET_WAYS] __attribute__((aligned(64)));
static uint8_t hints[HINTS];
uint32_t sampled_set_count;

/* Its highest bits are the best ones. */
static uint64_t hash(uintptr_t address)
{
	return (address >> 4) * UINT64_C(0x9e3779b97f4a7c15);
}

static uint8_t *hint_of(uintptr_t address)
{
	return &hints[hash(address) >> 50];
}

static uintptr_t *line_of(uintptr_t address)
{
	return lines[(hash(address) >> 36) & (SAMPLED_SET_LINES - 1)];
}

static bool replace(uintptr_t *place, uintptr_t before, uintptr_t after)
{
	return __atomic_load_n(place, __ATOMIC_RELAXED) == before &&
	       __atomic_compare_exchange_n(place, &before, after, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

static void change_hint(uint8_t *hint, int by)
{
	uint8_t now = __atomic_load_n(hint, __ATOMIC_RELAXED);

	while (now != HINT_MAX &&
	       !__atomic_compare_exchange_n(hint, &now, (uint8_t)(now + by), false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/* Of an address that was freed without us, and is allocated again. */
static bool has(const uintptr_t *line, uintptr_t address)
{
	for (size_t i = 0; i < SAMPLED_SET_WAYS; i++)
		if (__atomic_load_n(&line[i], __ATOMIC_RELAXED) == address)
			return true;
	return false;
}

bool sampled_set_add(const void *ptr)
{
	uintptr_t address = (uintptr_t)ptr, *line = line_of(address);

	if (has(line, address))
		return true;
	for (size_t i = 0; i < SAMPLED_SET_WAYS; i++) {
		if (!replace(&line[i], 0, address))
			continue;
		change_hint(hint_of(address), 1);
		__atomic_fetch_add(&sampled_set_count, 1, __ATOMIC_RELAXED);
		return true;
	}
	return false;
}

/* Returns whether the place had the address, and has none now. */
static bool clear(uintptr_t *place, uintptr_t address)
{
	if (!replace(place, address, 0))
		return false;
	change_hint(hint_of(address), -1);
	__atomic_fetch_sub(&sampled_set_count, 1, __ATOMIC_RELAXED);
	return true;
}

bool sampled_set_remove(const void *ptr)
{
	uintptr_t address = (uintptr_t)ptr, *line;

	if (__atomic_load_n(hint_of(address), __ATOMIC_RELAXED) == 0 || !ptr)
		return false;
	line = line_of(address);
	for (size_t i = 0; i < SAMPLED_SET_WAYS; i++)
		if (clear(&line[i], address))
			return true;
	return false;
}

void sampled_set_clear(void)
{
	for (size_t line = 0; line < SAMPLED_SET_LINES; line++) {
		for (size_t i = 0; i < SAMPLED_SET_WAYS; i++) {
			uintptr_t *place = &lines[line][i];
			uintptr_t address = __atomic_load_n(place, __ATOMIC_RELAXED);

			if (address != 0)
				(void)clear(place, address);
		}
	}
}
