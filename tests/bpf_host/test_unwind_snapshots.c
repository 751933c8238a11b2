/* SPDX-License-Identifier: Apache-2.0 */
/* bpf/unwind_native.bpf.c, and the row tables it reads, on what real programs' stacks looked
 * like at hard places: the frames are those that libdw saw. */
#include "fake_bpf.h"
#include "snapshot.h"

#include "base/fileio.h"
#include "unwind/cfi/cfi.h"
#include "unwind/rows/row_builder.h"

#include "unit.h"

#include <string.h>
#include <sys/mman.h>

#define PID 1
#define LIST_ID 1
#define FIRST_UNIT 64
#define TABLE_MAX_BYTES ((size_t)1 << 20)
#define MAX_FUNCTIONS 1024

/* A recording with what the agent would have made of it. */
struct replay {
	struct snapshots snapshots;
	struct row_table_bytes tables[SNAPSHOT_MAX_FILES];
};

static int compare_functions(const void *a, const void *b)
{
	const struct unwind_function *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void add_functions(const struct snapshot_file *file, struct row_builder *builder)
{
	const struct cfi_section section = { .data = (const uint8_t *)file->eh_frame.data,
					     .len = file->eh_frame.len,
					     .address = file->eh_frame_address };
	_cleanup_(unwind_source_freep) struct unwind_source *source = NULL;
	struct unwind_functions functions = { .max_items = MAX_FUNCTIONS };
	struct unwind_losses losses = { 0 };

	assert_int_equal(cfi_source_new(&section, &source), 0);
	assert_int_equal(source->ops->list(source, &functions, &losses), 0);
	qsort(functions.items, functions.nr_items, sizeof(*functions.items), compare_functions);
	for (size_t i = 0; i < functions.nr_items; i++) {
		const struct unwind_function *function = &functions.items[i];

		assert_int_equal(row_builder_begin(builder, function->start,
						   function->end - function->start,
						   function->start - file->delta),
				 0);
		assert_int_equal(source->ops->emit(source, function, builder, &losses), 0);
	}
	assert_int_equal(losses.nr_bad_entries, 0);
	free(functions.items);
}

static void build_tables(struct replay *replay)
{
	for (size_t i = 0; i < replay->snapshots.nr_files; i++) {
		_cleanup_(row_builder_freep) struct row_builder *builder = NULL;

		if (replay->snapshots.files[i].eh_frame.len == 0)
			continue;
		assert_int_equal(row_builder_new(TABLE_MAX_BYTES, &builder), 0);
		add_functions(&replay->snapshots.files[i], builder);
		assert_int_equal(row_builder_seal(builder, &replay->tables[i]), 0);
	}
}

/* Ranges and, where they leave one, holes behind them. */
static void put_list(const struct snapshots *snapshots, uint32_t unit)
{
	struct {
		struct mapping_table head;
		uint64_t starts[2 * SNAPSHOT_MAX_CODE];
		_Alignas(32) struct mapping_range ranges[2 * SNAPSHOT_MAX_CODE];
	} list = { .head = { .id = LIST_ID, .ranges_offset = offsetof(typeof(list), ranges) } };
	uint32_t nr = 0;

	for (size_t i = 0; i < snapshots->nr_code; i++) {
		const struct snapshot_code *code = &snapshots->code[i];

		list.starts[nr] = code->start;
		list.ranges[nr++] = (struct mapping_range){ .bias = code->bias,
							    .slot = (uint32_t)code->slot };
		if (i + 1 < snapshots->nr_code && code[1].start == code->end)
			continue;
		list.starts[nr] = code->end;
		list.ranges[nr++] = (struct mapping_range){ .is_hole = true };
	}
	list.head.nr_ranges = nr;
	fake_put(unit, &list, sizeof(list));
	fake_bind(PID, MAPPING_BINDING(unit, LIST_ID));
}

static void set_scene(const struct replay *replay)
{
	const struct snapshots *snapshots = &replay->snapshots;
	uint32_t unit = FIRST_UNIT;

	fake_bpf_reset();
	for (uint32_t i = 0; i < snapshots->nr_files; i++) {
		const struct row_table_bytes *table = &replay->tables[i];

		fake_set_table(i + 1, table->len ? unit : TABLE_WITHOUT_CFI);
		fake_put(unit, table->data, table->len);
		unit += (uint32_t)(table->len / ARENA_UNIT) + 1;
	}
	put_list(snapshots, unit);
	for (size_t i = 0; i < snapshots->nr_lines; i++)
		fake_add_memory(snapshots->lines[i].address, snapshots->lines[i].data,
				SNAPSHOT_LINE_BYTES);
	memcpy(fake_state()->regs, snapshots->regs, sizeof(fake_state()->regs));
	fake_state()->ip = snapshots->regs[NR_REGS];
	fake_state()->pid = PID;
}

/* Assembly that keeps its place below the stack pointer, and a handler with a stack of its own. */
static bool is_beside_its_copy(const char *name, int result)
{
	return fake_reads_copy_only() && result == UNWIND_UNREADABLE_STACK &&
	       (strcmp(name, "openssl") == 0 || strcmp(name, "signal") == 0);
}

static void check_snapshot(const struct snapshots *snapshots, const char *name)
{
	int result = unwind_native();
	const uint64_t *frames = (const uint64_t *)fake_event()->frames;
	size_t nr = fake_event()->nr_user;

	for (size_t i = 0; i < nr && i < snapshots->nr_frames; i++)
		if (frames[i] != snapshots->frames[i])
			fail_msg("%s, before line %u: frame %zu is %#lx, not %#lx", name,
				 snapshots->line, i, frames[i], snapshots->frames[i]);
	if ((snapshots->is_open && nr >= snapshots->nr_frames) || is_beside_its_copy(name, result))
		return;
	if (nr != snapshots->nr_frames || result != (int)snapshots->result)
		fail_msg("%s, before line %u: %zu frames of %zu, result %d", name, snapshots->line,
			 nr, snapshots->nr_frames, result);
}

/* A recording's own name is the test's state. */
static void recorded_stacks_are_unwound_as_by_libdw(void **state)
{
	const char *name = *state;
	struct replay *replay = calloc(1, sizeof(*replay));
	unsigned int nr_snapshots = 0;
	char path[512];
	int r;

	assert_non_null(replay);
	snprintf(path, sizeof(path), "%s/unwind%s/%s", FIXTURES_DIR, CFI_IS_ARM64 ? "/arm64" : "",
		 name);
	assert_int_equal(snapshots_open(&replay->snapshots, path), 0);
	while ((r = snapshots_next(&replay->snapshots)) == 1) {
		if (nr_snapshots++ == 0)
			build_tables(replay);
		set_scene(replay);
		check_snapshot(&replay->snapshots, name);
	}
	if (r < 0 || nr_snapshots == 0)
		fail_msg("%s: damaged at line %u", name, replay->snapshots.line);
	for (size_t i = 0; i < replay->snapshots.nr_files; i++)
		row_table_bytes_done(&replay->tables[i]);
	snapshots_done(&replay->snapshots);
	free(replay);
}

static void damaged_recordings_are_refused(void **state)
{
	static const struct {
		const char *text;
		int result;
	} cases[] = {
		{ "", 0 },
		{ "# nothing\n\n", 0 },
		{ "snapshot 0\nframe 1 a\nend complete\n", 1 },
		{ "snapshot 0\nend any\n", 1 },
		{ "end complete", -EBADMSG },
		{ "end\n", -EBADMSG },
		{ "end completely\n", -EBADMSG },
		{ "nonsense 1\n", -EBADMSG },
		{ "file 2 0 a\n", -EBADMSG },
		{ "bytes 00\n", -EBADMSG },
		{ "eh_frame 0\n", -EBADMSG },
		{ "file 1 0 a\nbytes 0\n", -EBADMSG },
		{ "file 1 0 a\nbytes 0g\n", -EBADMSG },
		{ "code 2 1 0 0\n", -EBADMSG },
		{ "code 1 2 0 1\n", -EBADMSG },
		{ "code 4 8 0 0\ncode 6 9 0 0\n", -EBADMSG },
		{ "regs 1 2 3\n", -EBADMSG },
		{ "memory 21 00\n", -EBADMSG },
		{ "memory 20 00\n", -EBADMSG },
		{ "frame 11111111111111111\n", -EBADMSG },
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		struct snapshots *snapshots = calloc(1, sizeof(*snapshots));
		int fd = memfd_create("recording", MFD_CLOEXEC);
		char path[64];

		assert_non_null(snapshots);
		assert_int_equal(fd_write_all(fd, cases[i].text, strlen(cases[i].text)), 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		assert_int_equal(snapshots_open(snapshots, path), 0);
		assert_int_equal(snapshots_next(snapshots), cases[i].result);
		snapshots_done(snapshots);
		free(snapshots);
		close(fd);
	}
}

#define SNAPSHOT_TEST(name)                                                                        \
	{                                                                                          \
		name, recorded_stacks_are_unwound_as_by_libdw, NULL, NULL, (void *)name            \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(damaged_recordings_are_refused),
		SNAPSHOT_TEST("alloca"),
		SNAPSHOT_TEST("coroutine"),
		SNAPSHOT_TEST("main"),
		SNAPSHOT_TEST("plt"),
		SNAPSHOT_TEST("prologue"),
		SNAPSHOT_TEST("qsort"),
		SNAPSHOT_TEST("signal"),
		SNAPSHOT_TEST("thread"),
		SNAPSHOT_TEST("vdso"),
#if !CFI_IS_ARM64
		SNAPSHOT_TEST("drap"),
		SNAPSHOT_TEST("frame_pointer"),
		SNAPSHOT_TEST("openssl"),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
