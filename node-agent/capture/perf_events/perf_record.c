/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/perf_events/perf_record.h"

#include "capture/perf_events/perf_fields.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

/* What lies between header and time: the fixed fields, then a text or nothing. */
struct body {
	const uint8_t *bytes;
	size_t len;
	uint16_t misc;
	bool marks_execs;
};

struct mmap2_fields {
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint32_t prot, flags;
};

struct mmap_fields {
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
};

static bool is_user_pid(uint32_t pid)
{
	return pid != 0 && pid <= INT32_MAX;
}

static bool read_fields(const struct body *body, void *ret_fields, size_t len)
{
	if (body->len < len)
		return false;
	memcpy(ret_fields, body->bytes, len);
	return true;
}

static int parse_comm(const struct body *body, struct perf_record *record)
{
	struct comm_fields fields;

	if (!read_fields(body, &fields, sizeof(fields)))
		return -EBADMSG;
	bool is_exec = body->marks_execs ? body->misc & PERF_RECORD_MISC_COMM_EXEC
					 : fields.pid == fields.tid;
	record->has_event = is_exec && is_user_pid(fields.pid);
	record->event.kind = PROC_EXEC;
	record->event.pid = fields.pid;
	return 0;
}

static int parse_fork(const struct body *body, struct perf_record *record)
{
	struct task_fields fields;

	if (!read_fields(body, &fields, sizeof(fields)))
		return -EBADMSG;
	record->has_event = is_user_pid(fields.pid) && is_user_pid(fields.ppid);
	record->event.kind = fields.pid == fields.ppid ? PROC_THREAD : PROC_FORK;
	record->event.pid = fields.pid;
	record->event.parent_pid = fields.ppid;
	return 0;
}

static int parse_exit(const struct body *body, struct perf_record *record)
{
	struct task_fields fields;

	if (!read_fields(body, &fields, sizeof(fields)))
		return -EBADMSG;
	record->has_event = fields.pid == fields.tid && is_user_pid(fields.pid);
	record->event.kind = PROC_EXIT;
	record->event.pid = fields.pid;
	return 0;
}

/* The path behind the fixed fields of a mapping; NULL when it has no end, or the range makes no sense. */
static const char *find_path(const struct body *body, size_t fixed, uint64_t start, uint64_t len)
{
	const char *path = (const char *)body->bytes + fixed;
	uint64_t end;

	if (!memchr(path, '\0', body->len - fixed) || len == 0 ||
	    __builtin_add_overflow(start, len, &end))
		return NULL;
	return path;
}

/* Without attr.mmap_data there are only those of code. */
static int parse_mmap(const struct body *body, struct perf_record *record)
{
	struct mmap_fields fields;

	if (!read_fields(body, &fields, sizeof(fields)))
		return -EBADMSG;
	const char *path = find_path(body, sizeof(fields), fields.addr, fields.len);
	if (!path)
		return -EBADMSG;

	record->has_event = is_user_pid(fields.pid);
	record->event.kind = PROC_MMAP;
	record->event.pid = fields.pid;
	record->event.start = fields.addr;
	record->event.len = fields.len;
	record->event.file_offset = fields.pgoff;
	record->event.path = path;
	return 0;
}

/* With a build id in the place of device and inode it is not the record that was asked for. */
static int parse_mmap2(const struct body *body, struct perf_record *record)
{
	struct mmap2_fields fields;

	if (!read_fields(body, &fields, sizeof(fields)))
		return -EBADMSG;
	const char *path = find_path(body, sizeof(fields), fields.addr, fields.len);
	if (!path || (body->misc & PERF_RECORD_MISC_MMAP_BUILD_ID))
		return -EBADMSG;

	record->has_event = (fields.prot & PROT_EXEC) && is_user_pid(fields.pid);
	record->event.kind = PROC_MMAP;
	record->event.pid = fields.pid;
	record->event.start = fields.addr;
	record->event.len = fields.len;
	record->event.file_offset = fields.pgoff;
	record->event.inode = fields.ino;
	record->event.inode_generation = fields.ino_generation;
	record->event.dev_major = fields.maj;
	record->event.dev_minor = fields.min;
	record->event.path = path;
	return 0;
}

static int parse_lost(const struct body *body, struct perf_record *record)
{
	struct lost_fields fields;

	if (!read_fields(body, &fields, sizeof(fields)))
		return -EBADMSG;
	record->nr_lost = fields.lost;
	return 0;
}

static int parse_body(uint32_t type, const struct body *body, struct perf_record *record)
{
	switch (type) {
	case PERF_RECORD_COMM:
		return parse_comm(body, record);
	case PERF_RECORD_FORK:
		return parse_fork(body, record);
	case PERF_RECORD_EXIT:
		return parse_exit(body, record);
	case PERF_RECORD_MMAP:
		return parse_mmap(body, record);
	case PERF_RECORD_MMAP2:
		return parse_mmap2(body, record);
	case PERF_RECORD_KSYMBOL:
		record->has_event = true;
		record->event.kind = PROC_KERNEL_CODE;
		return 0;
	case PERF_RECORD_LOST:
		return parse_lost(body, record);
	default:
		return 0;
	}
}

int perf_record_parse(const void *bytes, size_t len, bool marks_execs,
		      struct perf_record *ret_record)
{
	struct perf_record record = { 0 };
	struct perf_event_header header;
	const uint8_t *start = bytes;

	if (len < sizeof(header) + sizeof(uint64_t))
		return -EBADMSG;
	memcpy(&header, start, sizeof(header));
	if (header.size != len)
		return -EBADMSG;
	memcpy(&record.event.time_ns, start + len - sizeof(uint64_t), sizeof(uint64_t));

	const struct body body = {
		.bytes = start + sizeof(header),
		.len = len - sizeof(header) - sizeof(uint64_t),
		.misc = header.misc,
		.marks_execs = marks_execs,
	};
	int r = parse_body(header.type, &body, &record);
	if (r < 0)
		return r;
	*ret_record = record;
	return 0;
}
