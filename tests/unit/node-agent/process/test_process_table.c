/* SPDX-License-Identifier: Apache-2.0 */
#include "process/process_table.h"

#include "base/clock.h"
#include "base/strbuf.h"
#include "proc_fixture.h"
#include "process/process_set.h"
#include "torture.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define START (1000 * NSEC_PER_SEC + 123456789) /* of a process, since boot */
#define NOW (2000 * NSEC_PER_SEC)
#define MAPS_A "1000-2000 r-xp 00000000 fe:00 1 /bin/a\n"
#define MAPS_B "1000-2000 r-xp 00000000 fe:00 2 /bin/b\n"

static int set_up(void **state)
{
	struct proc_fixture *fixture = test_calloc(1, sizeof(*fixture));

	proc_fixture_init(fixture, 8);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	proc_fixture_done(*state);
	test_free(*state);
	return 0;
}

static void tell(struct process_table *table, enum proc_event_kind kind, uint32_t pid,
		 uint64_t time_ns)
{
	process_table_handle(table,
			     &(struct proc_event){ .kind = kind, .pid = pid, .time_ns = time_ns });
}

static void tell_fork(struct process_table *table, uint32_t parent_pid, uint32_t pid,
		      uint64_t time_ns)
{
	process_table_handle(table, &(struct proc_event){ .kind = PROC_FORK,
							  .pid = pid,
							  .parent_pid = parent_pid,
							  .time_ns = time_ns });
}

static void tell_mmap(struct process_table *table, uint32_t pid, uint64_t start, const char *path)
{
	process_table_handle(table, &(struct proc_event){ .kind = PROC_MMAP,
							  .pid = pid,
							  .time_ns = NOW,
							  .start = start,
							  .len = 0x1000,
							  .file_offset = 0x3000,
							  .inode = path[1] != '/',
							  .dev_major = 0xfe,
							  .path = path });
}

static const struct mapping *look_up(struct process_table *table, uint32_t pid, uint64_t start_ns,
				     uint64_t address, uint64_t now_ns)
{
	struct process *process = process_table_get(table, pid, start_ns, now_ns);

	assert_non_null(process);
	return process_find_mapping(table, process, address, now_ns);
}

/* The path that is mapped at 0x1000, or "?". */
static const char *path_at_0x1000(struct process_table *table, uint32_t pid, uint64_t start_ns,
				  uint64_t now_ns)
{
	const struct mapping *mapping = look_up(table, pid, start_ns, 0x1000, now_ns);

	return mapping ? mapping->file->path : "?";
}

static void maps_are_read_at_the_first_sample(void **state)
{
	const struct proc_fixture *fixture = *state;
	struct process_table *table = fixture->table;

	proc_fixture_put(fixture, 7, START,
			 "1000-3000 r-xp 00005000 fe:01 42   /a b (deleted)\n"
			 "rubbish\n"
			 "3000-4000 rw-p 00007000 fe:01 42   /a b (deleted)\n"
			 "8000-9000 r-xp 00000000 00:00 0    [vdso]");
	const struct mapping *mapping = look_up(table, 7, START, 0x2fff, NOW);
	assert_non_null(mapping);
	assert_int_equal(mapping->start, 0x1000);
	assert_int_equal(mapping->file_offset, 0x5000);
	assert_string_equal(mapping->file->path, "/a b");
	assert_int_equal(mapping->file->inode, 42);
	assert_int_equal(mapping->file->dev_major, 0xfe);
	assert_int_equal(mapping->file->dev_minor, 1);
	assert_string_equal(look_up(table, 7, START, 0x8000, NOW)->file->path, "[vdso]");
	assert_null(look_up(table, 7, START, 0x3000, NOW));

	struct process_table_stats stats = process_table_get_stats(table);
	assert_int_equal(stats.nr_processes, 1);
	assert_int_equal(stats.nr_maps_reads, 1);
	assert_int_equal(stats.nr_bad_lines, 1);
	assert_int_equal(stats.nr_maps_failures, 0);
}

static void maps_of_another_process_with_that_pid_are_not_used(void **state)
{
	const struct proc_fixture *fixture = *state;

	proc_fixture_put(fixture, 7, START + NSEC_PER_SEC, MAPS_A);
	assert_string_equal(path_at_0x1000(fixture->table, 7, START, NOW), "?");
	assert_int_equal(process_table_get_stats(fixture->table).nr_maps_failures, 1);
	/* Without a start time there is nothing to compare. */
	assert_string_equal(path_at_0x1000(fixture->table, 8, 0, NOW), "?");
	proc_fixture_put(fixture, 9, START, MAPS_B);
	assert_string_equal(path_at_0x1000(fixture->table, 9, 0, NOW), "/bin/b");
}

static void a_process_that_is_gone_has_no_mappings(void **state)
{
	const struct proc_fixture *fixture = *state;
	struct process_table *table = fixture->table;

	assert_string_equal(path_at_0x1000(table, 7, START, NOW), "?");
	assert_string_equal(path_at_0x1000(table, 7, START, NOW + NSEC_PER_SEC), "?");
	assert_int_equal(process_table_get_stats(table).nr_maps_reads, 1);
	process_table_sweep(table, NOW + PROCESS_LINGER_NS);
	assert_int_equal(process_table_get_stats(table).nr_processes, 0);
}

static void events_alone_make_a_process_known(void **state)
{
	struct process_table *table = ((struct proc_fixture *)*state)->table;

	tell(table, PROC_EXEC, 7, NOW);
	tell_mmap(table, 7, 0x1000, "/bin/a (deleted)");
	tell_mmap(table, 7, 0x5000, "//anon");
	tell(table, PROC_EXIT, 7, NOW + 1);
	assert_string_equal(path_at_0x1000(table, 7, START, NOW + 2), "/bin/a");
	assert_int_equal(look_up(table, 7, START, 0x1800, NOW + 2)->file_offset, 0x3000);

	const struct mapping *anonymous = look_up(table, 7, START, 0x5000, NOW + 2);
	assert_string_equal(anonymous->file->path, "");
	assert_int_equal(anonymous->file_offset, 0);
	assert_int_equal(process_table_get_stats(table).nr_maps_reads, 0);
}

static void events_of_unknown_processes_are_ignored(void **state)
{
	const struct proc_fixture *fixture = *state;
	struct process_table *table = fixture->table;

	tell_mmap(table, 7, 0x1000, "/bin/a");
	tell(table, PROC_EXIT, 7, NOW);
	tell_fork(table, 6, 7, NOW);
	assert_int_equal(process_table_get_stats(table).nr_processes, 0);
	proc_fixture_put(fixture, 7, START, MAPS_B);
	assert_string_equal(path_at_0x1000(table, 7, START, NOW), "/bin/b");
}

static void a_mapping_without_length_is_counted_and_dropped(void **state)
{
	struct process_table *table = ((struct proc_fixture *)*state)->table;
	struct proc_event event = { .kind = PROC_MMAP, .pid = 7, .start = 0x1000, .path = "//a" };

	tell(table, PROC_EXEC, 7, NOW);
	process_table_handle(table, &event);
	event.len = UINT64_MAX;
	process_table_handle(table, &event);
	assert_int_equal(process_table_get_stats(table).nr_mappings_dropped, 2);
}

static void a_file_that_is_not_told_is_found_in_proc(void **state)
{
	const struct proc_fixture *fixture = *state;
	const struct proc_event event = { .kind = PROC_MMAP, .pid = 7, .len = 1, .path = "/b" };

	tell(fixture->table, PROC_EXEC, 7, NOW);
	process_table_handle(fixture->table, &event);
	proc_fixture_put(fixture, 7, START, MAPS_B);
	assert_string_equal(path_at_0x1000(fixture->table, 7, START, NOW), "/bin/b");
}

static void a_child_has_its_parents_mappings_until_it_changes_them(void **state)
{
	struct process_table *table = ((struct proc_fixture *)*state)->table;

	tell(table, PROC_EXEC, 7, NOW);
	tell_mmap(table, 7, 0x1000, "/bin/a");
	tell_fork(table, 7, 8, NOW);
	tell_fork(table, 8, 9, NOW);
	tell_mmap(table, 8, 0x1000, "/bin/b");
	tell(table, PROC_EXEC, 9, NOW);
	tell(table, PROC_EXIT, 9, NOW);

	assert_string_equal(path_at_0x1000(table, 7, START, NOW), "/bin/a");
	assert_string_equal(path_at_0x1000(table, 8, START + 1, NOW), "/bin/b");
	assert_string_equal(path_at_0x1000(table, 9, START + 2, NOW), "?");
}

static void exec_forgets_the_old_program(void **state)
{
	const struct proc_fixture *fixture = *state;
	struct process_table *table = fixture->table;

	proc_fixture_put(fixture, 7, START, MAPS_A);
	assert_string_equal(path_at_0x1000(table, 7, START, NOW), "/bin/a");
	tell(table, PROC_EXEC, 7, NOW);
	tell_mmap(table, 7, 0x1000, "/bin/b");
	assert_string_equal(path_at_0x1000(table, 7, START, NOW), "/bin/b");
	assert_int_equal(process_table_get_stats(table).nr_processes, 1);
}

static void exec_by_another_thread_follows_the_end_of_the_first(void **state)
{
	const struct proc_fixture *fixture = *state;
	struct process_table *table = fixture->table;

	tell(table, PROC_EXEC, 7, NOW);
	tell_mmap(table, 7, 0x1000, "/bin/a");
	tell(table, PROC_EXIT, 7, NOW);
	tell(table, PROC_EXEC, 7, NOW);
	tell_mmap(table, 7, 0x1000, "/bin/b");
	assert_string_equal(path_at_0x1000(table, 7, START, NOW), "/bin/b");
	proc_fixture_put(fixture, 7, START, MAPS_B);
	process_table_sweep(table, NOW + PROCESS_LINGER_NS);
	assert_int_equal(process_table_get_stats(table).nr_processes, 1);
	assert_string_equal(path_at_0x1000(table, 7, START, NOW + PROCESS_LINGER_NS), "/bin/b");
}

static bool is_bound(struct process_table *table, uint32_t pid)
{
	const struct process *process = process_table_find(table, pid);

	return process->is_bound;
}

static void a_process_stays_bound_until_exec_and_its_children_are(void **state)
{
	struct process_table *table = ((struct proc_fixture *)*state)->table;

	tell(table, PROC_EXEC, 7, NOW);
	tell_mmap(table, 7, 0x1000, "/bin/a");
	assert_false(is_bound(table, 7));
	tell_fork(table, 7, 8, NOW);
	process_table_find(table, 7)->is_bound = true;
	process_table_find(table, 7)->is_noted = true;
	tell_fork(table, 7, 9, NOW);
	tell_mmap(table, 7, 0x3000, "/bin/b");
	assert_true(is_bound(table, 7));
	assert_false(is_bound(table, 8));
	assert_true(is_bound(table, 9));
	assert_false(process_table_find(table, 9)->is_noted);

	tell(table, PROC_EXEC, 7, NOW);
	assert_false(is_bound(table, 7));
	assert_true(is_bound(table, 9));
	tell(table, PROC_EXIT, 9, NOW);
	tell(table, PROC_EXEC, 9, NOW);
	assert_false(is_bound(table, 9));
}

static void maps_that_are_read_again_are_a_changed_list(void **state)
{
	const struct proc_fixture *fixture = *state;
	struct process_table *table = fixture->table;

	proc_fixture_put(fixture, 7, START, MAPS_A);
	assert_string_equal(path_at_0x1000(table, 7, START, NOW), "/bin/a");
	struct process *process = process_table_find(table, 7);
	process->mappings->is_changed = false;
	process->is_bound = true;
	assert_string_equal(path_at_0x1000(table, 7, START, NOW), "/bin/a");
	assert_false(process->mappings->is_changed);
	process_table_lose_events(table, NOW + 1);
	assert_string_equal(path_at_0x1000(table, 7, START, NOW + NSEC_PER_SEC), "/bin/a");
	assert_true(process->mappings->is_changed);
	assert_true(process->is_bound);
}

static void count_list(struct mapping_list *list, void *data)
{
	(void)list;
	++*(unsigned int *)data;
}

static void a_watcher_is_told_when_the_last_process_gives_a_list_up(void **state)
{
	struct process_table *table = ((struct proc_fixture *)*state)->table;
	unsigned int nr_gone = 0;

	process_table_watch(table, &(struct mapping_watcher){ NULL, count_list, &nr_gone });
	tell(table, PROC_EXEC, 7, NOW);
	tell_mmap(table, 7, 0x1000, "/bin/a");
	tell_fork(table, 7, 8, NOW);
	tell(table, PROC_EXEC, 7, NOW);
	tell_mmap(table, 8, 0x1000, "/bin/b");
	tell(table, PROC_EXIT, 8, NOW);
	assert_int_equal(nr_gone, 0);
	process_table_sweep(table, NOW + PROCESS_LINGER_NS);
	assert_int_equal(nr_gone, 1);
}

static void a_process_lingers_after_its_end(void **state)
{
	struct process_table *table = ((struct proc_fixture *)*state)->table;

	tell(table, PROC_EXEC, 7, NOW);
	tell_mmap(table, 7, 0x1000, "/bin/a");
	tell(table, PROC_EXIT, 7, NOW);
	process_table_sweep(table, NOW + PROCESS_LINGER_NS - 1);
	assert_string_equal(path_at_0x1000(table, 7, START, NOW), "/bin/a");
	process_table_sweep(table, NOW + PROCESS_LINGER_NS);
	assert_int_equal(process_table_get_stats(table).nr_processes, 0);
}

static void a_process_outlives_its_first_thread(void **state)
{
	const struct proc_fixture *fixture = *state;
	struct process_table *table = fixture->table;
	uint64_t later = NOW + PROCESS_LINGER_NS;

	proc_fixture_put(fixture, 7, START, MAPS_A);
	assert_string_equal(path_at_0x1000(table, 7, START, NOW), "/bin/a");
	tell(table, PROC_EXIT, 7, NOW + 1);
	proc_fixture_put_stat(fixture, 7, START, 'Z', 3);
	process_table_sweep(table, later + 1);
	assert_int_equal(process_table_get_stats(table).nr_processes, 1);
	assert_string_equal(path_at_0x1000(table, 7, START, later + 1), "/bin/a");

	/* The others' end is not told, and found in /proc. */
	proc_fixture_put_stat(fixture, 7, START, 'Z', 1);
	process_table_sweep(table, later + 2);
	process_table_sweep(table, later + 2 + PROCESS_LINGER_NS);
	assert_int_equal(process_table_get_stats(table).nr_processes, 0);
}

static void missed_exits_are_found_in_proc_one_a_sweep_and_all_after_a_loss(void **state)
{
	const struct proc_fixture *fixture = *state;
	struct process_table *table = fixture->table;

	for (uint32_t pid = 7; pid <= 9; pid++) {
		proc_fixture_put(fixture, pid, START, MAPS_A);
		assert_string_equal(path_at_0x1000(table, pid, START, NOW), "/bin/a");
	}
	proc_fixture_remove(fixture, 7);
	proc_fixture_put(fixture, 8, START + NSEC_PER_SEC, MAPS_B);
	process_table_sweep(table, NOW);
	process_table_lose_events(table, NOW);
	process_table_sweep(table, NOW + PROCESS_LINGER_NS);
	assert_int_equal(process_table_get_stats(table).nr_processes, 2);
	process_table_sweep(table, NOW + 2 * PROCESS_LINGER_NS);
	assert_int_equal(process_table_get_stats(table).nr_processes, 1);
}

static void a_later_start_is_a_new_process_whose_events_were_missed(void **state)
{
	const struct proc_fixture *fixture = *state;
	struct process_table *table = fixture->table;
	uint64_t later_start = START + NSEC_PER_SEC;

	proc_fixture_put(fixture, 7, START, MAPS_A);
	assert_string_equal(path_at_0x1000(table, 7, START, NOW), "/bin/a");
	proc_fixture_put(fixture, 7, later_start, MAPS_B);
	assert_string_equal(path_at_0x1000(table, 7, later_start, NOW), "/bin/b");
	/* Late samples still find the one that had the pid before. */
	assert_string_equal(path_at_0x1000(table, 7, START, NOW), "/bin/a");
	assert_string_equal(path_at_0x1000(table, 7, later_start, NOW), "/bin/b");
	assert_int_equal(process_table_get_stats(table).nr_processes, 2);
	assert_int_equal(process_table_get_stats(table).nr_maps_reads, 2);
}

static void an_earlier_start_is_the_process_that_had_the_pid(void **state)
{
	struct process_table *table = ((struct proc_fixture *)*state)->table;

	tell(table, PROC_EXEC, 6, NOW);
	tell(table, PROC_EXEC, 7, NOW);
	tell_mmap(table, 7, 0x1000, "/bin/a");
	tell(table, PROC_EXIT, 7, NOW + 1);
	tell_fork(table, 6, 7, NOW + 2);
	tell_mmap(table, 7, 0x1000, "/bin/b");
	assert_string_equal(path_at_0x1000(table, 7, START + 9, NOW + 3), "/bin/b");
	assert_string_equal(path_at_0x1000(table, 7, START + 5, NOW + 3), "/bin/a");
	/* Of one that started even earlier nothing is known. */
	assert_string_equal(path_at_0x1000(table, 7, START, NOW + 3), "?");
	assert_string_equal(path_at_0x1000(table, 7, START, NOW + 4), "?");
	assert_string_equal(path_at_0x1000(table, 7, START + 9, NOW + 4), "/bin/b");
	assert_int_equal(process_table_get_stats(table).nr_processes, 4);
	assert_int_equal(process_table_get_stats(table).nr_maps_reads, 0);
}

static void a_fork_that_comes_after_the_childs_sample_changes_nothing(void **state)
{
	const struct proc_fixture *fixture = *state;
	struct process_table *table = fixture->table;

	tell(table, PROC_EXEC, 6, NOW - 9);
	proc_fixture_put(fixture, 7, START, MAPS_A);
	assert_string_equal(path_at_0x1000(table, 7, START, NOW), "/bin/a");
	tell_fork(table, 6, 7, NOW - 1);
	tell(table, PROC_EXIT, 7, NOW - 1);
	tell_mmap(table, 7, 0x1000, "/bin/b");
	assert_string_equal(path_at_0x1000(table, 7, START, NOW), "/bin/b");
	assert_int_equal(process_table_get_stats(table).nr_processes, 2);
}

static void unknown_addresses_make_the_maps_be_read_again_ever_less_often(void **state)
{
	static const unsigned int reads_until_s[][2] = {
		{ 0, 1 }, { 1, 2 }, { 3, 3 }, { 7, 4 }, { 600, 16 },
	};
	const struct proc_fixture *fixture = *state;
	struct process_table *table = fixture->table;
	unsigned int s = 0;

	proc_fixture_put(fixture, 7, START, MAPS_A);
	for (size_t i = 0; i < array_len(reads_until_s); i++) {
		for (; s <= reads_until_s[i][0]; s++)
			assert_null(look_up(table, 7, START, 0x5000, NOW + s * NSEC_PER_SEC));
		assert_int_equal(process_table_get_stats(table).nr_maps_reads, reads_until_s[i][1]);
	}

	proc_fixture_put(fixture, 7, START, "5000-6000 r-xp 00000000 fe:00 1 /bin/c\n");
	uint64_t later = NOW + 700 * NSEC_PER_SEC;
	assert_string_equal(look_up(table, 7, START, 0x5000, later)->file->path, "/bin/c");
	/* A reading that helped ends the long waits. */
	assert_null(look_up(table, 7, START, 0x1000, later + NSEC_PER_SEC - 1));
	assert_null(look_up(table, 7, START, 0x1000, later + NSEC_PER_SEC));
	assert_null(look_up(table, 7, START, 0x1000, later + 2 * NSEC_PER_SEC));
	assert_int_equal(process_table_get_stats(table).nr_maps_reads, 19);
}

static void the_least_recently_sampled_makes_room(void **state)
{
	struct process_table *table = ((struct proc_fixture *)*state)->table;

	for (uint32_t pid = 1; pid <= 8; pid++) {
		tell(table, PROC_EXEC, pid, NOW);
		tell_mmap(table, pid, 0x1000, "/bin/a");
	}
	assert_string_equal(path_at_0x1000(table, 1, START, NOW), "/bin/a");
	tell(table, PROC_EXEC, 9, NOW); /* for 2 */
	tell(table, PROC_EXIT, 5, NOW);
	tell_fork(table, 3, 10, NOW); /* for 5, which ended */
	tell_fork(table, 3, 11, NOW); /* for 3, the parent itself */

	struct process_table_stats stats = process_table_get_stats(table);
	assert_int_equal(stats.nr_processes, 8);
	assert_int_equal(stats.nr_evicted, 2);
	assert_string_equal(path_at_0x1000(table, 1, START, NOW), "/bin/a");
	assert_string_equal(path_at_0x1000(table, 4, START, NOW), "/bin/a");
	assert_string_equal(path_at_0x1000(table, 10, START, NOW), "/bin/a");
	assert_string_equal(path_at_0x1000(table, 11, START, NOW), "/bin/a");
	assert_string_equal(path_at_0x1000(table, 2, START, NOW), "?");
	assert_string_equal(path_at_0x1000(table, 3, START, NOW), "?");
}

static void maps_text_and_mappings_are_bounded(void **state)
{
	const struct proc_fixture *fixture = *state;
	_cleanup_(strbuf_done) struct strbuf maps = strbuf_with_max((size_t)32 << 20);

	for (unsigned int i = 1; i <= MAPPING_LIST_MAX + 10; i++)
		strbuf_appendf(&maps, "%x000-%x800 r-xp 0 0:0 7 /a\n", i, i);
	while (maps.len < (size_t)17 << 20)
		strbuf_append_str(&maps, "1000-2000 r--p 0 0:0 7 /not/executable/at/all\n");
	assert_int_equal(strbuf_error(&maps), 0);
	proc_fixture_put(fixture, 7, START, strbuf_str(&maps));

	assert_string_equal(path_at_0x1000(fixture->table, 7, START, NOW), "/a");
	struct process_table_stats stats = process_table_get_stats(fixture->table);
	assert_int_equal(stats.nr_mappings_dropped, 10);
	assert_int_equal(stats.nr_maps_failures, 1);
	assert_int_equal(stats.nr_bad_lines, 0);
}

static void live_a_little(struct process_table *table)
{
	tell(table, PROC_EXEC, 6, NOW);
	tell_mmap(table, 6, 0x1000, "/bin/a");
	tell_fork(table, 6, 7, NOW);
	tell_mmap(table, 7, 0x1000, "/bin/b");
	tell_mmap(table, 6, 0x1800, "/bin/c");
	for (uint32_t pid = 5; pid <= 7; pid++) {
		struct process *process = process_table_get(table, pid, START, NOW);

		if (process)
			process_find_mapping(table, process, 0x5000, NOW);
	}
	tell(table, PROC_EXIT, 6, NOW);
	process_table_sweep(table, NOW + PROCESS_LINGER_NS);
}

static void nothing_breaks_when_memory_runs_out(void **state)
{
	const struct proc_fixture *fixture = *state;
	bool has_failed = true;

	proc_fixture_put(fixture, 5, START, MAPS_A MAPS_B "3000-4000 r-xp 0 0:0 7 /c\n");
	for (unsigned int n = 1; has_failed; n++) {
		_cleanup_(process_table_freep) struct process_table *table = NULL;

		torture_begin(n);
		int r = process_table_new(fixture->proc_fd, 8, &table);
		if (r == 0)
			live_a_little(table);
		has_failed = torture_end();
		if (!has_failed)
			assert_int_equal(process_table_get_stats(table).nr_mappings_dropped, 0);
	}
}

static void what_events_told_is_not_trusted_after_some_were_lost(void **state)
{
	const struct proc_fixture *fixture = *state;
	struct process_table *table = fixture->table;

	proc_fixture_put(fixture, 7, START, MAPS_B);
	tell(table, PROC_EXEC, 7, NOW);
	tell_mmap(table, 7, 0x1000, "/bin/a");
	tell_fork(table, 7, 8, NOW + 1);
	proc_fixture_put(fixture, 8, START + 1, MAPS_B);
	assert_string_equal(path_at_0x1000(table, 7, START, NOW + 2), "/bin/a");
	assert_int_equal(process_table_get_stats(table).nr_maps_reads, 0);

	process_table_lose_events(table, NOW + 3);
	assert_string_equal(path_at_0x1000(table, 7, START, NOW + 4), "/bin/b");
	assert_string_equal(path_at_0x1000(table, 7, START, NOW + 5), "/bin/b");
	assert_string_equal(path_at_0x1000(table, 8, START + 1, NOW + 5), "/bin/b");
	assert_int_equal(process_table_get_stats(table).nr_maps_reads, 2);
}

/* As many mappings as one process may have, each of another file with a path as long as can be. */
static void map_a_lot(struct process_table *table, uint32_t pid)
{
	char path[4200];

	for (uint64_t i = 0; i < MAPPING_LIST_MAX; i++) {
		snprintf(path, sizeof(path), "/%04090u", (unsigned int)i);
		tell_mmap(table, pid, (i + 2) << 12, path);
	}
}

static void mappings_of_all_processes_are_bounded_together(void **state)
{
	const struct proc_fixture *fixture = *state;
	struct process_table *table = fixture->table;

	for (uint32_t pid = 1; pid <= 3; pid++)
		tell(table, PROC_EXEC, pid, NOW);
	map_a_lot(table, 2);

	/* 1 was the oldest, 2 the next and the one that took the memory; 3 is not touched. */
	assert_int_equal(process_table_get_stats(table).nr_processes, 1);
	assert_int_equal(process_table_get_stats(table).nr_evicted, 2);
	tell_mmap(table, 3, 0x1000, "/bin/c");
	assert_string_equal(path_at_0x1000(table, 3, START, NOW), "/bin/c");
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(maps_are_read_at_the_first_sample),
		CASE(maps_of_another_process_with_that_pid_are_not_used),
		CASE(a_process_that_is_gone_has_no_mappings),
		CASE(events_alone_make_a_process_known),
		CASE(events_of_unknown_processes_are_ignored),
		CASE(a_mapping_without_length_is_counted_and_dropped),
		CASE(a_file_that_is_not_told_is_found_in_proc),
		CASE(a_child_has_its_parents_mappings_until_it_changes_them),
		CASE(exec_forgets_the_old_program),
		CASE(exec_by_another_thread_follows_the_end_of_the_first),
		CASE(a_process_stays_bound_until_exec_and_its_children_are),
		CASE(maps_that_are_read_again_are_a_changed_list),
		CASE(a_watcher_is_told_when_the_last_process_gives_a_list_up),
		CASE(a_process_lingers_after_its_end),
		CASE(a_process_outlives_its_first_thread),
		CASE(missed_exits_are_found_in_proc_one_a_sweep_and_all_after_a_loss),
		CASE(a_later_start_is_a_new_process_whose_events_were_missed),
		CASE(an_earlier_start_is_the_process_that_had_the_pid),
		CASE(a_fork_that_comes_after_the_childs_sample_changes_nothing),
		CASE(unknown_addresses_make_the_maps_be_read_again_ever_less_often),
		CASE(the_least_recently_sampled_makes_room),
		CASE(what_events_told_is_not_trusted_after_some_were_lost),
		CASE(maps_text_and_mappings_are_bounded),
		CASE(mappings_of_all_processes_are_bounded_together),
		CASE(nothing_breaks_when_memory_runs_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
