/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/perf_events/cpu_list.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "base/parse.h"

#include <fcntl.h>
#include <string.h>

#define ONLINE_PATH "/sys/devices/system/cpu/online"
#define LIST_MAX_BYTES 65536

/* Parses one element of a list: a number or a range. */
static int parse_element(const char **cursor, const char *end, struct cpu_set_bits *set)
{
	uint64_t first, last;

	int r = parse_digits(cursor, end, 10, &first);
	if (r < 0)
		return r;
	last = first;
	if (*cursor < end && **cursor == '-') {
		(*cursor)++;
		r = parse_digits(cursor, end, 10, &last);
		if (r < 0)
			return r;
	}
	if (last >= CPU_LIST_MAX)
		return -ERANGE;
	if (first > last)
		return -EINVAL;
	for (uint64_t cpu = first; cpu <= last; cpu++)
		set->words[cpu / 64] |= UINT64_C(1) << (cpu % 64);
	return 0;
}

int cpu_list_parse(const char *text, struct cpu_set_bits *ret_set)
{
	struct cpu_set_bits set = { 0 };
	const char *end = text + strlen(text);

	if (end > text && end[-1] == '\n')
		end--;
	for (;;) {
		int r = parse_element(&text, end, &set);
		if (r < 0)
			return r;
		if (text == end)
			break;
		if (*text++ != ',')
			return -EINVAL;
	}
	*ret_set = set;
	return 0;
}

int cpu_list_online(struct cpu_set_bits *ret_set)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(LIST_MAX_BYTES);

	int r = file_read_at(AT_FDCWD, ONLINE_PATH, &text);
	if (r < 0)
		return r;
	return cpu_list_parse(strbuf_str(&text), ret_set);
}
