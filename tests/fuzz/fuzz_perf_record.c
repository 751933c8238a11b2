/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are refused, or give a record whose parts lie inside them, and an event
 * whose range does not wrap. */
#include "capture/perf_events/perf_record.h"

#include "bpf/shared/events.h"
#include "capture/perf/perf_regs.h"
#include "capture/sideband/sideband_event.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_inside(const void *part, size_t part_len, const uint8_t *data, size_t len)
{
	const uint8_t *begin = part;

	if (part_len > 0 && (begin < data || part_len > len || begin > data + (len - part_len)))
		abort();
}

static void check_sample(const struct perf_record *record, const uint8_t *data, size_t len)
{
	size_t nr_regs = (size_t)__builtin_popcountll(perf_regs_mask);
	__u64 frames[MAX_KERNEL_FRAMES];
	struct stack_copy copy;
	const uint8_t *user;

	check_inside(record->chain, record->nr_chain * sizeof(uint64_t), data, len);
	size_t nr_user = perf_record_user_chain(record, &user);
	check_inside(user, nr_user * sizeof(uint64_t), data, len);
	check_inside(record->stack, record->stack_room, data, len);
	if (record->stack_bytes > record->stack_room ||
	    perf_record_kernel_frames(record, frames, MAX_KERNEL_FRAMES) > MAX_KERNEL_FRAMES)
		abort();
	if (record->abi == PERF_SAMPLE_REGS_ABI_NONE)
		return;
	check_inside(record->regs, nr_regs * sizeof(uint64_t), data, len);
	perf_regs_to_copy(record->regs, &copy);
}

static void check_event(const struct perf_record *record, bool marks_execs)
{
	struct proc_event event;

	if (!sideband_event_read(record, marks_execs, &event) || event.kind == PROC_KERNEL_CODE)
		return;
	if (event.pid == 0 || event.pid > INT32_MAX)
		abort();
	if (event.kind == PROC_MMAP &&
	    (event.len == 0 || event.start + event.len < event.start || !event.path))
		abort();
}

static void try_layout(const uint8_t *data, size_t len, uint64_t sample_type)
{
	const struct perf_event_attr attr = {
		.sample_type = sample_type,
		.sample_regs_user = perf_regs_mask,
	};
	struct perf_record record;

	int r = perf_record_parse(data, len, &attr, &record);
	if (r != 0 && r != -EBADMSG)
		abort();
	if (r < 0)
		return;
	if (record.type == PERF_RECORD_SAMPLE && sample_type == PERF_LAYOUT_STACK)
		check_sample(&record, data, len);
	if (record.comm)
		check_inside(record.comm, strlen(record.comm) + 1, data, len);
	if (record.path)
		check_inside(record.path, strlen(record.path) + 1, data, len);
	check_event(&record, true);
	check_event(&record, false);
}

static void try_record(const uint8_t *data, size_t len)
{
	try_layout(data, len, PERF_LAYOUT_TIME);
	try_layout(data, len, PERF_LAYOUT_STACK);
}

/* Once as it is, and once with the right size in the header, to get beyond that check. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint16_t size = (uint16_t)len;

	try_record(data, len);
	if (len < sizeof(struct perf_event_header) || len > UINT16_MAX)
		return 0;
	uint8_t *copy = malloc(len);
	if (!copy)
		return 0;
	memcpy(copy, data, len);
	memcpy(copy + offsetof(struct perf_event_header, size), &size, sizeof(size));
	try_record(copy, len);
	free(copy);
	return 0;
}
