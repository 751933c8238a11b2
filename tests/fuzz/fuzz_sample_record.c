/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are refused, or give a record whose parts lie inside them. */
#include "capture/perf/sample_record.h"

#include "bpf/shared/events.h"
#include "capture/perf/perf_regs.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_inside(const void *part, size_t part_len, const uint8_t *data, size_t len)
{
	const uint8_t *begin = part;

	if (part_len > 0 && (begin < data || part_len > len || begin > data + (len - part_len)))
		abort();
}

static void check_sample(const struct sample_record *record, const uint8_t *data, size_t len)
{
	__u64 frames[MAX_KERNEL_FRAMES];
	struct stack_copy copy;
	const uint8_t *user;

	check_inside(record->chain, record->nr_chain * sizeof(uint64_t), data, len);
	size_t nr_user = sample_record_user_chain(record, &user);
	check_inside(user, nr_user * sizeof(uint64_t), data, len);
	check_inside(record->stack, record->stack_room, data, len);
	if (record->stack_bytes > record->stack_room ||
	    sample_record_kernel_frames(record, frames, MAX_KERNEL_FRAMES) > MAX_KERNEL_FRAMES)
		abort();
	if (record->abi == PERF_SAMPLE_REGS_ABI_NONE)
		return;
	check_inside(record->regs, perf_regs_nr * sizeof(uint64_t), data, len);
	perf_regs_to_copy(record->regs, &copy);
}

static void try_record(const uint8_t *data, size_t len)
{
	struct sample_record record;

	int r = sample_record_parse(data, len, &record);
	if (r != 0 && r != -EBADMSG)
		abort();
	if (r < 0)
		return;
	if (record.kind == SAMPLE_RECORD_SAMPLE)
		check_sample(&record, data, len);
	if (record.kind == SAMPLE_RECORD_COMM)
		check_inside(record.comm, strlen(record.comm) + 1, data, len);
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
