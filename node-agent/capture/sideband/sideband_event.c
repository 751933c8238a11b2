/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/sideband/sideband_event.h"

static bool is_user_pid(uint32_t pid)
{
	return pid != 0 && pid <= INT32_MAX;
}

static bool read_comm(const struct perf_record *record, bool marks_execs, struct proc_event *event)
{
	event->kind = PROC_EXEC;
	return marks_execs ? record->is_exec : record->pid == record->tid;
}

static bool read_fork(const struct perf_record *record, struct proc_event *event)
{
	event->kind = record->pid == record->parent_pid ? PROC_THREAD : PROC_FORK;
	event->parent_pid = record->parent_pid;
	return is_user_pid(record->parent_pid);
}

static bool read_mapping(const struct perf_record *record, struct proc_event *event)
{
	event->kind = PROC_MMAP;
	event->start = record->start;
	event->len = record->len;
	event->file_offset = record->file_offset;
	event->inode = record->inode;
	event->inode_generation = record->inode_generation;
	event->dev_major = record->dev_major;
	event->dev_minor = record->dev_minor;
	event->path = record->path;
	return record->is_executable;
}

static bool read_process(const struct perf_record *record, bool marks_execs,
			 struct proc_event *event)
{
	switch (record->type) {
	case PERF_RECORD_COMM:
		return read_comm(record, marks_execs, event);
	case PERF_RECORD_FORK:
		return read_fork(record, event);
	case PERF_RECORD_EXIT:
		event->kind = PROC_EXIT;
		return record->pid == record->tid;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return read_mapping(record, event);
	default:
		return false;
	}
}

bool sideband_event_read(const struct perf_record *record, bool marks_execs,
			 struct proc_event *ret_event)
{
	struct proc_event event = { .pid = record->pid, .time_ns = record->time_ns };
	bool is_told;

	if (record->type == PERF_RECORD_KSYMBOL) {
		event.kind = PROC_KERNEL_CODE;
		is_told = true;
	} else {
		is_told = is_user_pid(record->pid) && read_process(record, marks_execs, &event);
	}
	if (is_told)
		*ret_event = event;
	return is_told;
}
