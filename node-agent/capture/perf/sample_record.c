/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/perf/sample_record.h"

#include "capture/perf_events/perf_fields.h"
#include "capture/perf/perf_regs.h"

#include <string.h>

/* What is left of a record. */
struct cursor {
	const uint8_t *bytes;
	size_t len;
};

struct sample_head {
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t cpu, reserved;
};

/* What other records end with (sample_id_all). */
struct record_tail {
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t cpu, reserved;
};

size_t sample_record_time_offset(const struct perf_event_header *header)
{
	if (header->type == PERF_RECORD_SAMPLE)
		return sizeof(*header) + offsetof(struct sample_head, time_ns);
	return header->size - (sizeof(struct record_tail) - offsetof(struct record_tail, time_ns));
}

/* The next bytes, or NULL when there are not so many. */
static const uint8_t *take(struct cursor *cursor, size_t len)
{
	const uint8_t *bytes = cursor->bytes;

	if (len > cursor->len)
		return NULL;
	cursor->bytes += len;
	cursor->len -= len;
	return bytes;
}

static bool read_fields(struct cursor *cursor, void *ret_fields, size_t len)
{
	const uint8_t *bytes = take(cursor, len);

	if (bytes)
		memcpy(ret_fields, bytes, len);
	return bytes;
}

static int parse_chain(struct cursor *cursor, struct sample_record *record)
{
	uint64_t nr;

	if (!read_fields(cursor, &nr, sizeof(nr)) || nr > cursor->len / sizeof(uint64_t))
		return -EBADMSG;
	record->nr_chain = nr;
	record->chain = take(cursor, nr * sizeof(uint64_t));
	return 0;
}

static int parse_regs(struct cursor *cursor, struct sample_record *record)
{
	if (!read_fields(cursor, &record->abi, sizeof(record->abi)) ||
	    record->abi > PERF_SAMPLE_REGS_ABI_64)
		return -EBADMSG;
	if (record->abi == PERF_SAMPLE_REGS_ABI_NONE)
		return 0;
	record->regs = take(cursor, perf_regs_nr * sizeof(uint64_t));
	return record->regs ? 0 : -EBADMSG;
}

/* The kernel leaves out how much is real when there is no room at all. */
static int parse_stack(struct cursor *cursor, struct sample_record *record)
{
	uint64_t room, real;

	if (!read_fields(cursor, &room, sizeof(room)) || room > cursor->len)
		return -EBADMSG;
	if (room == 0)
		return 0;
	record->stack_room = room;
	record->stack = take(cursor, room);
	if (!read_fields(cursor, &real, sizeof(real)) || real > room)
		return -EBADMSG;
	record->stack_bytes = real;
	return 0;
}

static int parse_sample(struct cursor *cursor, uint16_t misc, struct sample_record *record)
{
	struct sample_head head;

	if (!read_fields(cursor, &head, sizeof(head)))
		return -EBADMSG;
	record->kind = SAMPLE_RECORD_SAMPLE;
	record->time_ns = head.time_ns;
	record->pid = head.pid;
	record->tid = head.tid;
	record->cpu = head.cpu;
	record->ip = head.ip;
	record->in_user = (misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER;
	int r = parse_chain(cursor, record);
	if (r == 0)
		r = parse_regs(cursor, record);
	return r == 0 ? parse_stack(cursor, record) : r;
}

static int parse_task(struct cursor *cursor, enum sample_record_kind kind,
		      struct sample_record *record)
{
	struct task_fields fields;

	if (!read_fields(cursor, &fields, sizeof(fields)))
		return -EBADMSG;
	record->kind = kind;
	record->pid = fields.pid;
	record->tid = fields.tid;
	record->parent_pid = fields.ppid;
	record->parent_tid = fields.ptid;
	return 0;
}

static int parse_comm(struct cursor *cursor, uint16_t misc, struct sample_record *record)
{
	struct comm_fields fields;

	if (!read_fields(cursor, &fields, sizeof(fields)) ||
	    !memchr(cursor->bytes, '\0', cursor->len))
		return -EBADMSG;
	record->kind = SAMPLE_RECORD_COMM;
	record->pid = fields.pid;
	record->tid = fields.tid;
	record->comm = (const char *)cursor->bytes;
	record->is_exec = misc & PERF_RECORD_MISC_COMM_EXEC;
	return 0;
}

static int parse_lost(struct cursor *cursor, struct sample_record *record)
{
	struct lost_fields fields;

	if (!read_fields(cursor, &fields, sizeof(fields)))
		return -EBADMSG;
	record->kind = SAMPLE_RECORD_LOST;
	record->nr_lost = fields.lost;
	return 0;
}

static int parse_body(const struct perf_event_header *header, struct cursor *cursor,
		      struct sample_record *record)
{
	switch (header->type) {
	case PERF_RECORD_COMM:
		return parse_comm(cursor, header->misc, record);
	case PERF_RECORD_FORK:
		return parse_task(cursor, SAMPLE_RECORD_FORK, record);
	case PERF_RECORD_EXIT:
		return parse_task(cursor, SAMPLE_RECORD_EXIT, record);
	case PERF_RECORD_LOST:
		return parse_lost(cursor, record);
	case PERF_RECORD_THROTTLE:
		record->kind = SAMPLE_RECORD_THROTTLE;
		return 0;
	default:
		return 0;
	}
}

/* The body's fields say whom a record is about, its tail who ran when it was written. */
static int parse_other(const struct perf_event_header *header, struct cursor *cursor,
		       struct sample_record *record)
{
	struct record_tail tail;

	if (cursor->len < sizeof(tail))
		return -EBADMSG;
	cursor->len -= sizeof(tail);
	memcpy(&tail, cursor->bytes + cursor->len, sizeof(tail));
	record->time_ns = tail.time_ns;
	record->cpu = tail.cpu;
	return parse_body(header, cursor, record);
}

int sample_record_parse(const void *bytes, size_t len, struct sample_record *ret_record)
{
	struct cursor cursor = { .bytes = bytes, .len = len };
	struct sample_record record = { 0 };
	struct perf_event_header header;

	if (!read_fields(&cursor, &header, sizeof(header)) || header.size != len)
		return -EBADMSG;
	int r = header.type == PERF_RECORD_SAMPLE ? parse_sample(&cursor, header.misc, &record)
						  : parse_other(&header, &cursor, &record);
	if (r < 0)
		return r;
	*ret_record = record;
	return 0;
}

static uint64_t chain_address(const struct sample_record *record, size_t i)
{
	uint64_t address;

	memcpy(&address, record->chain + i * sizeof(address), sizeof(address));
	return address;
}

/* The part of the call chain behind a mark, up to the next one: where it begins, and how many addresses there are. */
static size_t find_part(const struct sample_record *record, uint64_t mark, size_t *ret_first)
{
	size_t first = 0, nr = 0;

	while (first < record->nr_chain && chain_address(record, first) != mark)
		first++;
	if (first < record->nr_chain)
		first++;
	while (first + nr < record->nr_chain &&
	       chain_address(record, first + nr) < PERF_CONTEXT_MAX)
		nr++;
	*ret_first = first;
	return nr;
}

size_t sample_record_kernel_frames(const struct sample_record *record, __u64 *ret_frames,
				   size_t max)
{
	size_t first, nr = find_part(record, (uint64_t)PERF_CONTEXT_KERNEL, &first);

	if (nr > max)
		nr = max;
	if (nr > 0)
		memcpy(ret_frames, record->chain + first * sizeof(*ret_frames),
		       nr * sizeof(*ret_frames));
	return nr;
}

size_t sample_record_user_chain(const struct sample_record *record, const uint8_t **ret_chain)
{
	size_t first, nr = find_part(record, (uint64_t)PERF_CONTEXT_USER, &first);

	*ret_chain = nr > 0 ? record->chain + first * sizeof(uint64_t) : NULL;
	return nr;
}
