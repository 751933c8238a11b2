/* SPDX-License-Identifier: Apache-2.0 */
#include "binder_fixture.h"

#include "arena_fixture.h"
#include "base/cleanup.h"
#include "base/fileio.h"
#include "base/strbuf.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "unit.h"

#define START_NS NSEC_PER_SEC
#define FILE_DEVICE " fe:01 "
#define MAX_RANGES 16
#define MAX_PROCESSES ARENA_FIXTURE_PROCESSES

const struct plan binder_program = { .key = 1, .nr_bytes = SIZE };
const struct plan binder_library = { .key = 2, .nr_bytes = SIZE };
const struct plan binder_plugin = { .key = 3, .nr_bytes = SIZE };

int binder_fixture_set_up(void **state)
{
	struct binder_fixture *fixture = test_calloc(1, sizeof(*fixture));
	void *slots;

	proc_fixture_init(&fixture->proc, MAX_PROCESSES);
	assert_int_equal(slots_fixture_set_up(&slots), 0);
	fixture->slots = slots;
	*state = fixture;
	return 0;
}

void binder_fixture_start(struct binder_fixture *fixture, size_t max_bytes)
{
	slots_fixture_start(fixture->slots, (struct table_slots_opts){ .max_bytes = max_bytes,
								       .retry_ns = RETRY_NS });
	slots_fixture_settle(fixture->slots);
	fixture->tables.arena = fixture->slots->arena;
	fixture->tables.slots = fixture->slots->slots;
	assert_int_equal(mapping_tables_new(fixture->slots->maps.memory, fixture->tables.arena,
					    &fixture->tables.mapping_tables),
			 0);
	assert_int_equal(runtime_layouts_new(fixture->slots->maps.memory, fixture->tables.arena,
					     &fixture->tables.layouts),
			 0);
	binder_init(&fixture->binder, fixture->proc.proc_fd, fixture->proc.table, &fixture->tables);
}

int binder_fixture_tear_down(void **state)
{
	struct binder_fixture *fixture = *state;

	proc_fixture_done(&fixture->proc);
	binder_done(&fixture->binder);
	mapping_tables_free(fixture->tables.mapping_tables);
	runtime_layouts_free(fixture->tables.layouts);
	slots_fixture_tear_down((void **)&fixture->slots);
	test_free(fixture);
	return 0;
}

void binder_fixture_link(struct binder_fixture *fixture, uint32_t pid, const char *name,
			 const char *target)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%u", fixture->proc.dir, pid);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%u/map_files", fixture->proc.dir, pid);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%u/%s", fixture->proc.dir, pid, name);
	unlink(path);
	assert_int_equal(symlink(target, path), 0);
}

static int open_plan(const struct binder_fixture *fixture, uint64_t key, char path[128])
{
	snprintf(path, 128, "%s/plan-%" PRIu64, fixture->proc.dir, key);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	return fd;
}

static struct stat stat_plan(const struct binder_fixture *fixture, uint64_t key)
{
	char path[128];
	struct stat st;

	_cleanup_close_ int fd = open_plan(fixture, key, path);
	assert_int_equal(fstat(fd, &st), 0);
	return st;
}

void binder_fixture_put_file(struct binder_fixture *fixture, uint32_t pid, uint32_t address,
			     struct plan plan)
{
	char path[128], name[64];

	_cleanup_close_ int fd = open_plan(fixture, plan.key, path);
	assert_int_equal(fd_write_all(fd, &plan, sizeof(plan)), 0);
	snprintf(name, sizeof(name), "map_files/%x-%x", address, address + 0x1000);
	binder_fixture_link(fixture, pid, name, path);
}

/* Each " fe:01 KEY ", a digit, becomes the device and the inode of the plan with that key. */
static void append_maps(const struct binder_fixture *fixture, const char *maps, struct strbuf *text)
{
	const char *device;

	while ((device = strstr(maps, FILE_DEVICE)) != NULL) {
		const char *key = device + strlen(FILE_DEVICE);
		struct stat st = stat_plan(fixture, (uint64_t)(*key - '0'));

		strbuf_append(text, maps, (size_t)(device - maps));
		strbuf_appendf(text, " %02x:%02x %" PRIu64, major(st.st_dev), minor(st.st_dev),
			       (uint64_t)st.st_ino);
		maps = key + 1;
	}
	strbuf_append(text, maps, strlen(maps));
}

void binder_fixture_put_process(struct binder_fixture *fixture, uint32_t pid, const char *maps)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(4096);

	append_maps(fixture, maps, &text);
	proc_fixture_put(&fixture->proc, pid, START_NS, strbuf_str(&text));
	binder_fixture_link(fixture, pid, "mountinfo", "/proc/self/mountinfo");
}

void binder_fixture_put_usual(struct binder_fixture *fixture, uint32_t pid)
{
	binder_fixture_put_process(fixture, pid, PROGRAM_LINE LIBRARY_LINE);
	binder_fixture_put_file(fixture, pid, PROGRAM, binder_program);
	binder_fixture_put_file(fixture, pid, LIBRARY, binder_library);
}

/* As the kernel side does for a process that it does not know. */
static void ask(const struct binder_fixture *fixture, uint32_t pid)
{
	arena_fixture_set_binding(&fixture->slots->maps, pid, 0);
}

void binder_fixture_see_stack(struct binder_fixture *fixture, uint32_t pid,
			      enum unwind_result result, uint16_t nr_frames, uint64_t address)
{
	static struct sample_event event;

	memset(&event, 0, sizeof(event));
	event.time_ns = NOW;
	event.pid = pid;
	event.nr_kernel = 2;
	event.nr_user = nr_frames;
	event.unwind_result = (uint8_t)result;
	if (nr_frames > 0)
		event.frames[1 + nr_frames] = address;
	if (result == UNWIND_NEW_PROCESS)
		ask(fixture, pid);
	assert_non_null(process_table_get(fixture->proc.table, pid, 0, NOW));
	binder_see_sample(&fixture->binder, &event);
}

void binder_fixture_see(struct binder_fixture *fixture, uint32_t pid, enum unwind_result result)
{
	binder_fixture_see_stack(fixture, pid, result, 1, PROGRAM);
}

void binder_fixture_flush(struct binder_fixture *fixture)
{
	binder_flush(&fixture->binder, NOW);
}

void binder_fixture_bind(struct binder_fixture *fixture, uint32_t pid)
{
	binder_fixture_see(fixture, pid, UNWIND_NEW_PROCESS);
	binder_fixture_flush(fixture);
}

void binder_fixture_tell(struct binder_fixture *fixture, const struct proc_event *event)
{
	process_table_handle(fixture->proc.table, event);
	binder_see_event(&fixture->binder, event);
}

void binder_fixture_tell_kind(struct binder_fixture *fixture, enum proc_event_kind kind,
			      uint32_t pid)
{
	binder_fixture_tell(fixture,
			    &(struct proc_event){ .kind = kind, .pid = pid, .time_ns = NOW });
}

void binder_fixture_tell_mmap(struct binder_fixture *fixture, uint32_t pid)
{
	struct stat st = stat_plan(fixture, binder_plugin.key);

	binder_fixture_put_file(fixture, pid, PLUGIN, binder_plugin);
	binder_fixture_tell(fixture, &(struct proc_event){
					     .kind = PROC_MMAP,
					     .pid = pid,
					     .time_ns = NOW,
					     .start = PLUGIN,
					     .len = 0x1000,
					     .inode = st.st_ino,
					     .dev_major = major(st.st_dev),
					     .dev_minor = minor(st.st_dev),
					     .path = "/lib/plugin.so",
				     });
}

uint64_t binder_fixture_binding(const struct binder_fixture *fixture, uint32_t pid)
{
	uint64_t binding = arena_fixture_binding(&fixture->slots->maps, pid);

	return binding == NO_BINDING ? 0 : binding;
}

void binder_fixture_fork(struct binder_fixture *fixture, uint32_t parent_pid, uint32_t pid)
{
	const struct proc_event event = {
		.kind = PROC_FORK, .pid = pid, .parent_pid = parent_pid, .time_ns = NOW
	};

	arena_fixture_set_binding(&fixture->slots->maps, pid,
				  binder_fixture_binding(fixture, parent_pid));
	binder_fixture_tell(fixture, &event);
}

void binder_fixture_end(struct binder_fixture *fixture, uint32_t pid)
{
	binder_fixture_tell_kind(fixture, PROC_EXIT, pid);
	process_table_sweep(fixture->proc.table, NOW + PROCESS_LINGER_NS);
}

/* False when there is none, or no more. */
static bool read_list(const struct binder_fixture *fixture, uint32_t pid, char *list, size_t len)
{
	uint64_t binding = binder_fixture_binding(fixture, pid);
	struct mapping_table head;

	if (binding == 0)
		return false;
	arena_fixture_read(&fixture->slots->maps, MAPPING_BINDING_UNIT(binding), list, len);
	memcpy(&head, list, sizeof(head));
	return head.id == MAPPING_BINDING_ID(binding);
}

struct mapping_range binder_fixture_range(const struct binder_fixture *fixture, uint32_t pid,
					  uint64_t address)
{
	char list[sizeof(struct mapping_table) + sizeof(struct mapping_range) +
		  MAX_RANGES * (sizeof(uint64_t) + sizeof(struct mapping_range))];
	struct mapping_range range = { .is_hole = 1 };
	struct mapping_table head;
	uint64_t begin;

	if (!read_list(fixture, pid, list, sizeof(list)))
		return (struct mapping_range){ .slot = UNBOUND };
	memcpy(&head, list, sizeof(head));
	assert_in_range(head.nr_ranges, 1, MAX_RANGES);
	for (size_t i = 0; i < head.nr_ranges; i++) {
		memcpy(&begin, list + MAPPING_TABLE_STARTS + i * sizeof(begin), sizeof(begin));
		if (begin <= address)
			memcpy(&range, list + head.ranges_offset + i * sizeof(range),
			       sizeof(range));
	}
	return range;
}

uint32_t binder_fixture_slot(const struct binder_fixture *fixture, uint32_t pid, uint64_t address)
{
	struct mapping_range range = binder_fixture_range(fixture, pid, address);

	return range.is_hole ? HOLE : range.slot;
}

bool binder_fixture_is_loaded(const struct binder_fixture *fixture, uint32_t pid, uint64_t address)
{
	uint32_t slot = binder_fixture_slot(fixture, pid, address);

	assert_in_range(slot, 1, MAX_TABLE_SLOTS - 1);
	slots_fixture_settle(fixture->slots);
	return slots_fixture_unit(fixture->slots, slot) > TABLE_WITHOUT_CFI;
}

struct process *binder_fixture_find(const struct binder_fixture *fixture, uint32_t pid)
{
	struct process *process = process_table_find(fixture->proc.table, pid);

	assert_non_null(process);
	return process;
}

uint64_t binder_fixture_nr_slots(const struct binder_fixture *fixture)
{
	return slots_fixture_stats(fixture->slots).nr_slots;
}

struct mapping_tables_stats binder_fixture_mapping_stats(const struct binder_fixture *fixture)
{
	return mapping_tables_get_stats(fixture->tables.mapping_tables);
}
