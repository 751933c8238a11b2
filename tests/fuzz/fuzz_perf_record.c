/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are refused, or give an event whose path ends inside them and whose range does not wrap. */
#include "capture/perf_events/perf_record.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_mapping(const struct proc_event *event, const uint8_t *data, size_t len)
{
	const char *begin = (const char *)data, *end = begin + len;

	if (event->len == 0 || event->start + event->len < event->start || event->path < begin ||
	    event->path >= end || !memchr(event->path, '\0', (size_t)(end - event->path)))
		abort();
}

static void try_record(const uint8_t *data, size_t len, bool marks_execs)
{
	struct perf_record record;

	int r = perf_record_parse(data, len, marks_execs, &record);
	if (r != 0 && r != -EBADMSG)
		abort();
	if (r < 0 || !record.has_event)
		return;
	if (record.event.kind == PROC_KERNEL_CODE)
		return;
	if (record.event.pid == 0 || record.event.pid > INT32_MAX)
		abort();
	if (record.event.kind == PROC_MMAP)
		check_mapping(&record.event, data, len);
}

/* Once as it is, and once with the right size in the header, to get beyond that check. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint16_t size = (uint16_t)len;

	try_record(data, len, true);
	if (len < sizeof(struct perf_event_header) || len > UINT16_MAX)
		return 0;
	uint8_t *copy = malloc(len);
	if (!copy)
		return 0;
	memcpy(copy, data, len);
	memcpy(copy + offsetof(struct perf_event_header, size), &size, sizeof(size));
	try_record(copy, len, true);
	try_record(copy, len, false);
	free(copy);
	return 0;
}
