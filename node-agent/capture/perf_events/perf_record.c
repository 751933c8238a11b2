/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/perf_events/perf_record.h"

#include <string.h>
#include <sys/mman.h>

/* The rest of a record. */
struct cursor {
	const uint8_t *bytes;
	size_t len;
};

/* The bodies of records, as perf_event_open(2) has them. */
struct sample_head {
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t cpu, reserved;
};

struct comm_fields {
	uint32_t pid, tid;
};

struct task_fields {
	uint32_t pid, ppid;
	uint32_t tid, ptid;
	uint64_t time;
};

struct lost_fields {
	uint64_t id, lost;
};

struct mmap_fields {
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
};

struct mmap2_fields {
	struct mmap_fields mmap;
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint32_t prot, flags;
};

/* Size of the end of records other than samples: eight bytes for each field of PERF_LAYOUT_TASK
 * that the layout has. */
static size_t tail_bytes(uint64_t sample_type)
{
	return (size_t)__builtin_popcountll(sample_type & PERF_LAYOUT_TASK) * sizeof(uint64_t);
}

static bool is_sample(const struct perf_event_header *header, uint64_t sample_type)
{
	return header->type == PERF_RECORD_SAMPLE && sample_type == PERF_LAYOUT_STACK;
}

size_t perf_record_time_offset(const struct perf_event_header *header, uint64_t sample_type)
{
	if (is_sample(header, sample_type))
		return sizeof(*header) + offsetof(struct sample_head, time_ns);
	return header->size - (sample_type & PERF_SAMPLE_CPU ? 2 : 1) * sizeof(uint64_t);
}

/* Returns the next `len` bytes, or NULL if the record is shorter. */
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

/* Returns the text at the cursor; NULL if it has no NUL. */
static const char *find_text(const struct cursor *cursor)
{
	return memchr(cursor->bytes, '\0', cursor->len) ? (const char *)cursor->bytes : NULL;
}

static int parse_chain(struct cursor *cursor, struct perf_record *record)
{
	uint64_t nr;

	if (!read_fields(cursor, &nr, sizeof(nr)) || nr > cursor->len / sizeof(uint64_t))
		return -EBADMSG;
	record->nr_chain = nr;
	record->chain = take(cursor, nr * sizeof(uint64_t));
	return 0;
}

static int parse_regs(struct cursor *cursor, uint64_t mask, struct perf_record *record)
{
	size_t nr_regs = (size_t)__builtin_popcountll(mask);

	if (!read_fields(cursor, &record->abi, sizeof(record->abi)) ||
	    record->abi > PERF_SAMPLE_REGS_ABI_64)
		return -EBADMSG;
	if (record->abi == PERF_SAMPLE_REGS_ABI_NONE)
		return 0;
	record->regs = take(cursor, nr_regs * sizeof(uint64_t));
	return record->regs ? 0 : -EBADMSG;
}

/* If there is no room at all, the kernel leaves out the number of real bytes. */
static int parse_stack(struct cursor *cursor, struct perf_record *record)
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

static int parse_sample(struct cursor *cursor, uint16_t misc, uint64_t regs_mask,
			struct perf_record *record)
{
	struct sample_head head;

	if (!read_fields(cursor, &head, sizeof(head)))
		return -EBADMSG;
	record->time_ns = head.time_ns;
	record->pid = head.pid;
	record->tid = head.tid;
	record->cpu = head.cpu;
	record->ip = head.ip;
	record->in_user = (misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER;
	int r = parse_chain(cursor, record);
	if (r == 0)
		r = parse_regs(cursor, regs_mask, record);
	return r == 0 ? parse_stack(cursor, record) : r;
}

static int parse_task(struct cursor *cursor, struct perf_record *record)
{
	struct task_fields fields;

	if (!read_fields(cursor, &fields, sizeof(fields)))
		return -EBADMSG;
	record->pid = fields.pid;
	record->tid = fields.tid;
	record->parent_pid = fields.ppid;
	record->parent_tid = fields.ptid;
	return 0;
}

static int parse_comm(struct cursor *cursor, uint16_t misc, struct perf_record *record)
{
	struct comm_fields fields;

	if (!read_fields(cursor, &fields, sizeof(fields)))
		return -EBADMSG;
	record->pid = fields.pid;
	record->tid = fields.tid;
	record->comm = find_text(cursor);
	record->is_exec = misc & PERF_RECORD_MISC_COMM_EXEC;
	return record->comm ? 0 : -EBADMSG;
}

static int set_mapping(const struct cursor *cursor, const struct mmap_fields *fields,
		       struct perf_record *record)
{
	uint64_t end;

	record->pid = fields->pid;
	record->tid = fields->tid;
	record->start = fields->addr;
	record->len = fields->len;
	record->file_offset = fields->pgoff;
	record->path = find_text(cursor);
	if (!record->path || fields->len == 0 ||
	    __builtin_add_overflow(fields->addr, fields->len, &end))
		return -EBADMSG;
	return 0;
}

/* Without attr.mmap_data the kernel reports mappings of code only. */
static int parse_mmap(struct cursor *cursor, struct perf_record *record)
{
	struct mmap_fields fields;

	if (!read_fields(cursor, &fields, sizeof(fields)))
		return -EBADMSG;
	record->is_executable = true;
	return set_mapping(cursor, &fields, record);
}

/* A record with a build id in the place of device and inode is not what attr.mmap2 asks for. */
static int parse_mmap2(struct cursor *cursor, uint16_t misc, struct perf_record *record)
{
	struct mmap2_fields fields;

	if (!read_fields(cursor, &fields, sizeof(fields)) ||
	    (misc & PERF_RECORD_MISC_MMAP_BUILD_ID))
		return -EBADMSG;
	record->inode = fields.ino;
	record->inode_generation = fields.ino_generation;
	record->dev_major = fields.maj;
	record->dev_minor = fields.min;
	record->is_executable = fields.prot & PROT_EXEC;
	return set_mapping(cursor, &fields.mmap, record);
}

static int parse_lost(struct cursor *cursor, struct perf_record *record)
{
	struct lost_fields fields;

	if (!read_fields(cursor, &fields, sizeof(fields)))
		return -EBADMSG;
	record->nr_lost = fields.lost;
	return 0;
}

static int parse_body(struct cursor *cursor, uint16_t misc, struct perf_record *record)
{
	switch (record->type) {
	case PERF_RECORD_COMM:
		return parse_comm(cursor, misc, record);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return parse_task(cursor, record);
	case PERF_RECORD_MMAP:
		return parse_mmap(cursor, record);
	case PERF_RECORD_MMAP2:
		return parse_mmap2(cursor, misc, record);
	case PERF_RECORD_LOST:
		return parse_lost(cursor, record);
	default:
		return 0;
	}
}

/* The fields of the body name the task that the record is about. The tail names the task that ran
 * when the record was written. */
static int parse_other(struct cursor *cursor, uint16_t misc, uint64_t sample_type,
		       struct perf_record *record)
{
	size_t tail = tail_bytes(sample_type);

	if (cursor->len < tail)
		return -EBADMSG;
	cursor->len -= tail;
	return parse_body(cursor, misc, record);
}

int perf_record_parse(const void *bytes, size_t len, const struct perf_event_attr *attr,
		      struct perf_record *ret_record)
{
	struct cursor cursor = { .bytes = bytes, .len = len };
	struct perf_record record = { 0 };
	struct perf_event_header header;
	int r;

	if (!read_fields(&cursor, &header, sizeof(header)) || header.size != len)
		return -EBADMSG;
	record.type = header.type;
	if (is_sample(&header, attr->sample_type))
		r = parse_sample(&cursor, header.misc, attr->sample_regs_user, &record);
	else
		r = parse_other(&cursor, header.misc, attr->sample_type, &record);
	if (r < 0)
		return r;
	memcpy(&record.time_ns,
	       (const uint8_t *)bytes + perf_record_time_offset(&header, attr->sample_type),
	       sizeof(record.time_ns));
	*ret_record = record;
	return 0;
}

static uint64_t chain_address(const struct perf_record *record, size_t i)
{
	uint64_t address;

	memcpy(&address, record->chain + i * sizeof(address), sizeof(address));
	return address;
}

/* Finds the part of the call chain between a mark and the next one. Returns its number of
 * addresses. */
static size_t find_part(const struct perf_record *record, uint64_t mark, size_t *ret_first)
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

size_t perf_record_kernel_frames(const struct perf_record *record, __u64 *ret_frames, size_t max)
{
	size_t first, nr = find_part(record, (uint64_t)PERF_CONTEXT_KERNEL, &first);

	if (nr > max)
		nr = max;
	if (nr > 0)
		memcpy(ret_frames, record->chain + first * sizeof(*ret_frames),
		       nr * sizeof(*ret_frames));
	return nr;
}

size_t perf_record_user_chain(const struct perf_record *record, const uint8_t **ret_chain)
{
	size_t first, nr = find_part(record, (uint64_t)PERF_CONTEXT_USER, &first);

	*ret_chain = nr > 0 ? record->chain + first * sizeof(uint64_t) : NULL;
	return nr;
}
