/* SPDX-License-Identifier: Apache-2.0 */
/* Code of several languages, and code that was made at run time: what kind of frame it becomes, and
 * whose names it has. */
#include "base/array.h"
#include "base/fileio.h"
#include "cfi_bytes.h"
#include "code_fixture.h"
#include "elf_maker.h"
#include "pipeline/symbolizer.h"
#include "jit_worker_main.h"
#include "symbol_worker_main.h"
#include "unit.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_PID 9
#define SECOND_PID 10
#define START_NS UINT64_C(1000000000000)
#define MIXED UINT64_C(0x10000000)
#define COMPILED UINT64_C(0x30000000)

#define COMPILED_LINE "30000000-30001000 r-xp 00000000 00:00 0 \n"

static void write_file(const struct code_fixture *fixture, uint32_t pid, const char *name,
		       const void *bytes, size_t len)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%u/%s", fixture->proc.dir, pid, name);
	assert_int_equal(file_write_atomic(path, bytes, len), 0);
}

static void make_directory(const struct code_fixture *fixture, uint32_t pid, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%u/%s", fixture->proc.dir, pid, name);
	assert_int_equal(mkdir(path, 0700), 0);
}

static void put_process(const struct code_fixture *fixture, uint32_t pid, const char *perf_map)
{
	char path[128];
	char text[96];

	proc_fixture_put(&fixture->proc, pid, START_NS, COMPILED_LINE);
	make_directory(fixture, pid, "map_files");
	make_directory(fixture, pid, "root");
	make_directory(fixture, pid, "root/tmp");
	snprintf(path, sizeof(path), "%s/%u/mountinfo", fixture->proc.dir, pid);
	assert_int_equal(symlink("/proc/self/mountinfo", path), 0);
	snprintf(text, sizeof(text), "Uid:\t%u\t%u\t0\t0\nNSpid:\t%u\n", geteuid(), geteuid(), pid);
	write_file(fixture, pid, "status", text, strlen(text));
	snprintf(path, sizeof(path), "root/tmp/perf-%u.map", pid);
	write_file(fixture, pid, path, perf_map, strlen(perf_map));
}

static int set_up(void **state)
{
	code_fixture_set_up(state);
	put_process(*state, FIRST_PID, "30000000 100 JS:*add /app/math.js:12:5\n");
	put_process(*state, SECOND_PID, "30000000 100 py::f:/a.py\n");
	return 0;
}

static uint32_t locate(struct code_fixture *fixture, uint32_t pid, uint64_t address)
{
	struct sample_event event = {
		.time_ns = CODE_NOW, .pid = pid, .nr_user = 1, .frames = { address }
	};

	return code_fixture_frame(fixture, code_fixture_locate(fixture, &event), 0);
}

static void name_all(const struct code_fixture *fixture)
{
	struct symbolizer symbolizer = { .elfs = fixture->elfs, .jits = fixture->jits };

	assert_int_equal(symbolizer_name_window(&symbolizer, fixture->window, UINT64_MAX), 0);
}

static const struct profile_location *location(const struct code_fixture *fixture, uint32_t id)
{
	return &builder_peek(fixture->window->builder)->locations[id];
}

static const char *name_of(const struct code_fixture *fixture, uint32_t id)
{
	return profile_location_name(builder_peek(fixture->window->builder), id);
}

/* What is mapped at MIXED. */
static void put_mixed(const struct code_fixture *fixture, const struct elf_maker *maker)
{
	char identity[CODE_IDENTITY_BYTES];
	char path[128];
	char link[128];
	char maps[192];

	write_file(fixture, FIRST_PID, "root/mixed", maker->bytes.data, maker->bytes.len);
	snprintf(path, sizeof(path), "%s/%u/root/mixed", fixture->proc.dir, FIRST_PID);
	snprintf(link, sizeof(link), "%s/%u/map_files/10000000-10001000", fixture->proc.dir,
		 FIRST_PID);
	assert_int_equal(symlink(path, link), 0);
	code_fixture_identity(path, identity);
	snprintf(maps, sizeof(maps),
		 "10000000-10001000 r-xp 00001000 %s /opt/mixed\n" COMPILED_LINE, identity);
	write_file(fixture, FIRST_PID, "maps", maps, strlen(maps));
}

/* A program with Go's table, which begins at 0x100. */
static void make_mixed(const struct code_fixture *fixture, const struct maker_symbol *symbols)
{
	static const uint64_t module[] = { [22] = MAKER_TEXT_ADDRESS }; /* runtime.text */
	_cleanup_(strbuf_done) struct strbuf table = strbuf_with_max(1 << 20);
	_cleanup_(elf_maker_done) struct elf_maker maker;

	assert_int_equal(
		file_read_at(AT_FDCWD, FIXTURES_DIR "/../corpus/fuzz_gopclntab/go1.20", &table), 0);
	elf_maker_init(&maker);
	elf_maker_add_symbols(&maker, SHT_SYMTAB, symbols);
	elf_maker_add_plain(&maker, ".gopclntab", table.data, table.len);
	elf_maker_add_plain(&maker, ".go.module", module, sizeof(module));
	elf_maker_finish(&maker);
	put_mixed(fixture, &maker);
}

/* A stripped program: one function that it exports and two that it does not. */
static void make_stripped(const struct code_fixture *fixture)
{
	static const struct maker_symbol symbols[] = { { "exported", 0x10, 0x10 }, { 0 } };
	_cleanup_(elf_maker_done) struct elf_maker maker;
	struct cfi_bytes cfi = { 0 };

	cfi_bytes_usual_cie(&cfi);
	for (uint64_t delta = 0x10; delta < 0x70; delta += 0x20)
		cfi_bytes_fde(&cfi, MAKER_TEXT_ADDRESS + delta, 0x18,
			      (struct byte_string)BYTES(""));
	elf_maker_init(&maker);
	elf_maker_add_symbols(&maker, SHT_DYNSYM, symbols);
	elf_maker_add_plain(&maker, ".eh_frame", cfi.bytes, cfi.len);
	elf_maker_finish(&maker);
	put_mixed(fixture, &maker);
}

static void languages_have_kinds_of_their_own(void **state)
{
	static const struct {
		uint64_t delta;
		const char *system_name;
		const char *name;
		enum frame_kind kind;
	} cases[] = {
		{ 0x10, "_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write", FRAME_RUST },
		{ 0x20, "_RNvC7mycrate4main", "mycrate::main", FRAME_RUST },
		{ 0x30, "_ZN5space5innerEv", "space::inner", FRAME_NATIVE },
		{ 0x40, "_ZN5space3h17h0123456789abcdefE", NULL, FRAME_RUST },
		{ 0x50, "_ZN5space17h0123456789abcdeEv", NULL, FRAME_NATIVE },
		{ 0x60, "17h0123456789abcdefE", "17h0123456789abcdefE", FRAME_NATIVE },
		{ 0x100, "main.main", "main.main", FRAME_GO },
		{ 0x110, "_ZN3cgo4callEv", "cgo::call", FRAME_GO },
	};
	struct maker_symbol symbols[array_len(cases) + 1] = { 0 };
	struct code_fixture *fixture = *state;
	uint32_t ids[array_len(cases)];

	for (size_t i = 0; i < array_len(cases); i++)
		symbols[i] = (struct maker_symbol){ cases[i].system_name, cases[i].delta, 0x10 };
	make_mixed(fixture, symbols);
	for (size_t i = 0; i < array_len(cases); i++)
		ids[i] = locate(fixture, FIRST_PID, MIXED + cases[i].delta);
	name_all(fixture);
	for (size_t i = 0; i < array_len(cases); i++) {
		if (cases[i].name)
			assert_string_equal(name_of(fixture, ids[i]), cases[i].name);
		assert_int_equal(location(fixture, ids[i])->kind, cases[i].kind);
	}
}

/* The address stays in the location. */
static void code_without_a_symbol_is_named_by_its_function(void **state)
{
	static const struct {
		uint64_t delta;
		const char *name;
	} cases[] = {
		{ 0x18, "exported" },	    { 0x30, "mixed+0x401030" }, { 0x47, "mixed+0x401030" },
		{ 0x48, "mixed+0x401048" }, /* between functions */
		{ 0x50, "mixed+0x401050" }, { 0x51, "mixed+0x401050" }, { 0x70, "mixed+0x401070" },
	};
	struct code_fixture *fixture = *state;
	uint32_t ids[array_len(cases)];

	make_stripped(fixture);
	for (size_t i = 0; i < array_len(cases); i++)
		ids[i] = locate(fixture, FIRST_PID, MIXED + cases[i].delta);
	name_all(fixture);
	for (size_t i = 0; i < array_len(cases); i++) {
		assert_string_equal(name_of(fixture, ids[i]), cases[i].name);
		assert_int_equal(location(fixture, ids[i])->address,
				 MAKER_TEXT_ADDRESS + cases[i].delta);
	}
}

static void processes_have_names_of_their_own_for_an_address(void **state)
{
	struct code_fixture *fixture = *state;
	uint32_t first = locate(fixture, FIRST_PID, COMPILED + 0x10);
	uint32_t second = locate(fixture, SECOND_PID, COMPILED + 0x10);

	assert_int_not_equal(first, second);
	name_all(fixture);
	assert_string_equal(name_of(fixture, first), "*add");
	assert_int_equal(location(fixture, first)->kind, FRAME_V8JS);
	assert_int_equal(location(fixture, first)->address, COMPILED + 0x10);
	assert_string_equal(name_of(fixture, second), "py::f:/a.py");
	assert_int_equal(location(fixture, second)->kind, FRAME_JIT);
	assert_int_equal(location(fixture, second)->address, COMPILED + 0x10);
}

static void compiled_code_has_lines(void **state)
{
	struct code_fixture *fixture = *state;
	uint32_t id = locate(fixture, FIRST_PID, COMPILED);

	name_all(fixture);
	const struct profile *profile = builder_peek(fixture->window->builder);
	const struct profile_line *line = &profile->lines[location(fixture, id)->first_line];
	const struct profile_function *function = &profile->functions[line->function];
	assert_int_equal(location(fixture, id)->nr_lines, 1);
	assert_int_equal(line->line, 12);
	assert_string_equal(profile_string(profile, function->filename), "/app/math.js");
	assert_string_equal(profile_string(profile, function->system_name),
			    "JS:*add /app/math.js:12:5");
}

/* An address in memory means nothing to anybody: there is no "[anon]+0x30000200". */
static void compiled_code_that_nobody_knows_has_the_name_of_its_memory(void **state)
{
	struct code_fixture *fixture = *state;
	uint32_t id = locate(fixture, FIRST_PID, COMPILED + 0x200);

	name_all(fixture);
	assert_string_equal(name_of(fixture, id), "[anon]");
	assert_int_equal(location(fixture, id)->kind, FRAME_NATIVE);
}

static void compiled_code_is_named_in_each_window(void **state)
{
	struct code_fixture *fixture = *state;

	for (int i = 0; i < 3; i++) {
		uint32_t id = locate(fixture, FIRST_PID, COMPILED + (uint64_t)i);

		name_all(fixture);
		assert_string_equal(name_of(fixture, id), "*add");
		code_fixture_next_window(fixture);
	}
}

/* The lists are read when a window is first named, not with the rest of it. */
static void lists_of_compiled_code_are_read_once_a_window(void **state)
{
	struct code_fixture *fixture = *state;
	struct symbolizer symbolizer = { .elfs = fixture->elfs, .jits = fixture->jits };
	uint32_t id = locate(fixture, FIRST_PID, COMPILED);
	size_t nr_left = 1;

	assert_int_equal(
		symbolizer_name_window_partly(&symbolizer, fixture->window, UINT64_MAX, &nr_left),
		0);
	assert_int_equal(nr_left, 0);
	assert_string_equal(name_of(fixture, id), "*add");
	locate(fixture, SECOND_PID, COMPILED);
	assert_int_equal(symbolizer_name_window_rest(&symbolizer, fixture->window), 0);
	assert_int_equal(jit_cache_get_stats(fixture->jits).nr_functions, 1);
}

#define SYMBOLIZER_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, code_fixture_tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		SYMBOLIZER_TEST(languages_have_kinds_of_their_own),
		SYMBOLIZER_TEST(code_without_a_symbol_is_named_by_its_function),
		SYMBOLIZER_TEST(processes_have_names_of_their_own_for_an_address),
		SYMBOLIZER_TEST(compiled_code_has_lines),
		SYMBOLIZER_TEST(compiled_code_that_nobody_knows_has_the_name_of_its_memory),
		SYMBOLIZER_TEST(compiled_code_is_named_in_each_window),
		SYMBOLIZER_TEST(lists_of_compiled_code_are_read_once_a_window),
	};

	if (is_jit_worker(argc, argv))
		return jit_worker_main();
	if (is_symbol_worker(argc, argv))
		return symbol_worker_main();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
