/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/kernel_ranges.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct search {
	struct kernel_ranges *ranges;
	const struct kernel_name *names;
	size_t nr_names;
};

static bool is_named(const char *name, const char *wanted)
{
	size_t len = strcspn(wanted, "*");

	return strncmp(name, wanted, len) == 0 &&
	       (wanted[len] == '*' || name[len] == '\0' || name[len] == '.');
}

static void keep(const char *name, uint64_t start, uint64_t end, void *data)
{
	const struct search *search = data;
	struct kernel_ranges *ranges = search->ranges;

	for (size_t i = 0; i < search->nr_names; i++)
		if (is_named(name, search->names[i].name) && ranges->nr < KERNEL_RANGES_MAX) {
			ranges->ranges[ranges->nr++] = (struct kernel_range){
				.start = start,
				.end = end,
				.meaning = search->names[i].meaning,
			};
			return;
		}
}

void kernel_ranges_init(struct kernel_ranges *ranges, const struct kernel_symbols *symbols,
			const struct kernel_name *names, size_t nr_names)
{
	struct search search = { .ranges = ranges, .names = names, .nr_names = nr_names };

	ranges->nr = 0;
	kernel_symbols_each(symbols, keep, &search);
}

static int compare(const void *key, const void *element)
{
	const uint64_t *address = key;
	const struct kernel_range *range = element;

	if (*address < range->start)
		return -1;
	return *address >= range->end;
}

unsigned int kernel_ranges_find(const struct kernel_ranges *ranges, uint64_t address)
{
	const struct kernel_range *range = bsearch(&address, ranges->ranges, ranges->nr,
						   sizeof(*range), compare);

	return range ? range->meaning : 0;
}
