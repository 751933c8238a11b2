/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are refused, or give an event whose path ends inside them and whose range does not wrap. */
#include "capture/perf_record.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct perf_record record;

	int r = perf_record_parse(data, len, &record);
	if (r != 0 && r != -EBADMSG)
		abort();
	if (r < 0 || !record.has_event)
		return 0;
	if (record.event.pid == 0 || record.event.pid > INT32_MAX)
		abort();
	if (record.event.kind == PROC_MMAP)
		check_mapping(&record.event, data, len);
	return 0;
}
