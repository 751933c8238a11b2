/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/file/elf_rows.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "elf_image.h"
#include "row_lookup.h"
#include "torture.h"
#include "unit.h"
#include "unwind/file/debug_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#define MAX_BYTES ((size_t)1 << 20)
#define BUILD_ID                                                                                   \
	"303132333435363738396162636465666768"                                                     \
	"6900"

/* What came of a file. */
struct built {
	struct elf_rows *rows;
	struct row_table_bytes table;
	struct elf_rows_stats stats;
};

/* As the agent does it, which opens debug files for the worker. */
static int open_with_debug_file(int fd, const char *debug_dir, struct elf_rows **ret_rows)
{
	struct elf_rows_wanted wanted;
	struct elf_rows_opts opts = { .max_bytes = MAX_BYTES, .ret_wanted = &wanted };
	_cleanup_close_ int debug_fd = -EBADF;

	opts.debug = debug_dir ? ELF_ROWS_DEBUG_ASK : ELF_ROWS_DEBUG_NONE;
	int r = elf_rows_open(fd, &opts, ret_rows);
	if (r != -ENOLINK)
		return r;
	opts.debug = debug_file_find(debug_dir, &wanted, &debug_fd);
	opts.debug_fd = debug_fd;
	return elf_rows_open(fd, &opts, ret_rows);
}

static int build_fd(int fd, const char *debug_dir, struct built *built)
{
	*built = (struct built){ 0 };
	int r = open_with_debug_file(fd, debug_dir, &built->rows);
	close(fd);
	return r < 0 ? r : elf_rows_build(built->rows, &built->table, &built->stats);
}

static int build(const struct elf_image *image, struct built *built)
{
	return build_fd(elf_image_write_all(image), NULL, built);
}

static void built_done(struct built *built)
{
	row_table_bytes_done(&built->table);
	elf_rows_close(built->rows);
}

static void assert_kind(const struct built *built, uint64_t offset, enum cfa_kind kind)
{
	struct cfi_rule rule;

	row_lookup(built->table.data, offset, &rule);
	assert_int_equal(rule.kind, kind);
}

static void assert_cfa(const struct built *built, uint64_t offset, int32_t cfa_offset)
{
	struct cfi_rule rule;

	assert_kind(built, offset, CFA_REGISTER);
	row_lookup(built->table.data, offset, &rule);
	assert_int_equal(rule.reg, CFI_RSP);
	assert_int_equal(rule.offset, cfa_offset);
}

static void assert_result(const struct elf_image *image, int expected)
{
	_cleanup_(built_done) struct built built;

	assert_int_equal(build(image, &built), expected);
}

static void rows_are_found_at_offsets_of_the_file(void **state)
{
	_cleanup_(built_done) struct built built;
	struct elf_image image;
	(void)state;

	elf_image_init(&image, 10, 0);
	assert_int_equal(build(&image, &built), 0);
	assert_true(row_table_is_valid(built.table.data, built.table.len));
	assert_int_equal(built.stats.nr_functions, 10);
	assert_int_equal(built.stats.losses.nr_bad_entries, 0);
	assert_int_equal(built.stats.nr_section_bytes, image.sections[IMAGE_EH_FRAME].sh_size);
	assert_kind(&built, IMAGE_TEXT_OFFSET, CFA_NONE);
	assert_cfa(&built, elf_image_function(0), 8);
	assert_cfa(&built, elf_image_function(9) + IMAGE_FUNCTION_BYTES - 1, 8);
	assert_kind(&built, elf_image_function(9) + IMAGE_FUNCTION_BYTES, CFA_NONE);
}

static void program_headers_lead_to_eh_frame_without_section_headers(void **state)
{
	_cleanup_(built_done) struct built built;
	struct elf_image image;
	(void)state;

	elf_image_init(&image, 10, 0);
	image.header.e_shoff = image.header.e_shnum = image.header.e_shstrndx = 0;
	assert_int_equal(build(&image, &built), 0);
	assert_cfa(&built, elf_image_function(5), 8);
}

static void a_section_of_the_unwind_type_needs_no_name(void **state)
{
	_cleanup_(built_done) struct built built;
	struct elf_image image;
	(void)state;

	elf_image_init(&image, 10, 0);
	elf_image_hide(&image, IMAGE_EH_FRAME);
	image.segments[IMAGE_FRAME_HDR].p_type = PT_NULL;
	image.sections[IMAGE_EH_FRAME].sh_type = 0x70000001;
	assert_int_equal(build(&image, &built), 0);
	assert_cfa(&built, elf_image_function(5), 8);
}

static void the_entry_point_ends_stacks_unless_it_has_cfi(void **state)
{
	_cleanup_(built_done) struct built bare;
	_cleanup_(built_done) struct built covered;
	struct elf_image image;
	(void)state;

	elf_image_init(&image, 10, 0);
	image.header.e_entry = IMAGE_TEXT_ADDRESS + IMAGE_FIRST_FUNCTION - 0x10;
	assert_int_equal(build(&image, &bare), 0);
	assert_kind(&bare, elf_image_function(0) - 0x11, CFA_NONE);
	assert_kind(&bare, elf_image_function(0) - 0x10, CFA_END);
	assert_kind(&bare, elf_image_function(0) - 1, CFA_END);
	assert_cfa(&bare, elf_image_function(0), 8);
	image.header.e_entry += 0x10 + 0x40;
	assert_int_equal(build(&image, &covered), 0);
	assert_cfa(&covered, elf_image_function(1), 8);
	assert_kind(&covered, elf_image_function(1) + IMAGE_FUNCTION_BYTES, CFA_NONE);
}

static void debug_frame_counts_where_eh_frame_has_nearly_nothing(void **state)
{
	static const struct {
		size_t nr_eh_frame;
		int32_t first, last;
	} cases[] = { { 0, 16, 16 }, { 7, 8, 16 } };
	struct elf_image image;
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_(built_done) struct built built;

		elf_image_init(&image, cases[i].nr_eh_frame, 10);
		assert_int_equal(build(&image, &built), 0);
		assert_cfa(&built, elf_image_function(0), cases[i].first);
		assert_cfa(&built, elf_image_function(9), cases[i].last);
	}

	_cleanup_(built_done) struct built enough;
	elf_image_init(&image, 8, 10);
	assert_int_equal(build(&image, &enough), 0);
	assert_kind(&enough, elf_image_function(9), CFA_NONE);
}

/* Puts a compressed .debug_frame into the image: with the gABI's header, or with GNU's. */
static void compress_debug_frame(struct elf_image *image, bool is_gnu, uint64_t claimed_bytes)
{
	Elf64_Shdr *section = &image->sections[IMAGE_DEBUG_FRAME];
	Elf64_Chdr header = { .ch_type = ELFCOMPRESS_ZLIB, .ch_size = section->sh_size };
	uint8_t gnu_header[12] = "ZLIB";
	uint8_t packed[sizeof(image->debug_frame)];
	size_t head = is_gnu ? sizeof(gnu_header) : sizeof(header);
	uLongf len = sizeof(packed) - head;

	header.ch_size = claimed_bytes ? claimed_bytes : section->sh_size;
	for (size_t i = 0; i < 8; i++)
		gnu_header[4 + i] = (uint8_t)(header.ch_size >> (56 - 8 * i));
	assert_int_equal(compress(packed, &len, image->debug_frame, section->sh_size), Z_OK);
	memcpy(image->debug_frame, is_gnu ? (void *)gnu_header : (void *)&header, head);
	memcpy(image->debug_frame + head, packed, len);
	section->sh_size = head + len;
	if (is_gnu)
		memcpy(image->names + section->sh_name, ".zdebug_frame", sizeof(".zdebug_frame"));
	else
		section->sh_flags = SHF_COMPRESSED;
}

static void compressed_debug_frame_is_read(void **state)
{
	(void)state;
	for (int is_gnu = 0; is_gnu < 2; is_gnu++) {
		_cleanup_(built_done) struct built built;
		struct elf_image image;

		elf_image_init(&image, 0, 10);
		/* .zdebug_frame takes the place of two names. */
		elf_image_hide(&image, IMAGE_DEBUGLINK);
		compress_debug_frame(&image, is_gnu, 0);
		assert_int_equal(build(&image, &built), 0);
		assert_cfa(&built, elf_image_function(9), 16);
	}
}

static void lies_about_the_decompressed_size_are_found_out(void **state)
{
	static const uint64_t claims[] = { 1, 200, 1000, 1 << 20, UINT64_C(1) << 40, UINT64_MAX };
	(void)state;

	for (size_t i = 0; i < 2 * sizeof(claims) / sizeof(claims[0]); i++) {
		_cleanup_(built_done) struct built built;
		struct elf_image image;

		elf_image_init(&image, 7, 10);
		elf_image_hide(&image, IMAGE_DEBUGLINK);
		compress_debug_frame(&image, i % 2, claims[i / 2]);
		assert_int_equal(build(&image, &built), 0);
		assert_int_equal(built.stats.losses.nr_bad_entries, 1);
		assert_cfa(&built, elf_image_function(6), 8);
		assert_kind(&built, elf_image_function(9), CFA_NONE);
	}
}

/* A directory of debug files. */
struct debug_dir {
	char path[64];
	char ids[96];
	char by_id_dir[96];
	char by_id[160];
	char by_link[160];
};

static int make_debug_dir(void **state)
{
	static struct debug_dir dir;

	dir = (struct debug_dir){ .path = "/tmp/flamelet-debug-XXXXXX" };
	if (!mkdtemp(dir.path))
		return -1;
	snprintf(dir.ids, sizeof(dir.ids), "%s/.build-id", dir.path);
	snprintf(dir.by_id_dir, sizeof(dir.by_id_dir), "%s/.build-id/%.2s", dir.path, BUILD_ID);
	snprintf(dir.by_id, sizeof(dir.by_id), "%s/%s.debug", dir.by_id_dir, &BUILD_ID[2]);
	snprintf(dir.by_link, sizeof(dir.by_link), "%s/linked.debug", dir.path);
	if (mkdir(dir.ids, 0700) < 0 || mkdir(dir.by_id_dir, 0700) < 0)
		return -1;
	*state = &dir;
	return 0;
}

static int remove_debug_dir(void **state)
{
	const struct debug_dir *dir = *state;

	(void)unlink(dir->by_id);
	(void)unlink(dir->by_link);
	(void)rmdir(dir->by_id_dir);
	(void)rmdir(dir->ids);
	return rmdir(dir->path);
}

static void write_debug_file(const char *path, const struct elf_image *image)
{
	char bytes[IMAGE_TEXT_OFFSET + IMAGE_TEXT_BYTES] = { 0 };

	memcpy(bytes, image, sizeof(*image));
	assert_int_equal(file_write_atomic(path, bytes, sizeof(bytes)), 0);
}

static uint32_t crc_of(const struct elf_image *image)
{
	char bytes[IMAGE_TEXT_OFFSET + IMAGE_TEXT_BYTES] = { 0 };

	memcpy(bytes, image, sizeof(*image));
	return (uint32_t)crc32(0, (const uint8_t *)bytes, sizeof(bytes));
}

static void set_link(struct elf_image *image, const char *name, uint32_t crc)
{
	size_t len = (strlen(name) + 4) & ~(size_t)3;

	memset(image->debuglink, 0, sizeof(image->debuglink));
	memcpy(image->debuglink, name, strlen(name));
	memcpy(image->debuglink + len, &crc, sizeof(crc));
	image->sections[IMAGE_DEBUGLINK].sh_size = len + 4;
}

static void the_debug_file_is_found_by_build_id(void **state)
{
	const struct debug_dir *dir = *state;
	_cleanup_(built_done) struct built built;
	struct elf_image image;
	struct elf_image debug;

	elf_image_init(&debug, 0, 10);
	debug.sections[IMAGE_EH_FRAME].sh_type = SHT_NOBITS;
	write_debug_file(dir->by_id, &debug);
	elf_image_init(&image, 1, 0);
	elf_image_hide(&image, IMAGE_DEBUG_FRAME);
	assert_int_equal(build_fd(elf_image_write_all(&image), dir->path, &built), 0);
	assert_string_equal(elf_rows_get_key(built.rows)->build_id, BUILD_ID);
	assert_cfa(&built, elf_image_function(0), 8);
	assert_cfa(&built, elf_image_function(9), 16);
}

static void the_debug_file_is_found_by_debuglink(void **state)
{
	const struct debug_dir *dir = *state;
	_cleanup_(built_done) struct built built;
	struct elf_image image;
	struct elf_image debug;

	elf_image_init(&debug, 0, 10);
	write_debug_file(dir->by_link, &debug);
	elf_image_init(&image, 1, 0);
	elf_image_hide(&image, IMAGE_DEBUG_FRAME);
	set_link(&image, "linked.debug", crc_of(&debug));
	assert_int_equal(build_fd(elf_image_write_all(&image), dir->path, &built), 0);
	assert_cfa(&built, elf_image_function(9), 16);
}

static void assert_no_debug_file(const struct elf_image *image, const char *debug_dir)
{
	_cleanup_(built_done) struct built built;

	assert_int_equal(build_fd(elf_image_write_all(image), debug_dir, &built), 0);
	assert_kind(&built, elf_image_function(9), CFA_NONE);
}

static void other_debug_files_are_not_taken(void **state)
{
	const struct debug_dir at = *(const struct debug_dir *)*state;
	const struct debug_dir *dir = &at;
	struct elf_image image;
	struct elf_image debug;

	elf_image_init(&image, 1, 0);
	elf_image_hide(&image, IMAGE_DEBUG_FRAME);
	assert_no_debug_file(&image, "/nonexistent");
	assert_no_debug_file(&image, dir->path);
	elf_image_init(&debug, 0, 10);
	set_link(&image, "linked.debug", crc_of(&debug) + 1);
	write_debug_file(dir->by_link, &debug);
	assert_no_debug_file(&image, dir->path);
	set_link(&image, "../linked.debug", crc_of(&debug));
	assert_no_debug_file(&image, dir->path);
	memset(image.debuglink, 'a', sizeof(image.debuglink));
	assert_no_debug_file(&image, dir->path);
	debug.note.id[0] ^= 1;
	write_debug_file(dir->by_id, &debug);
	assert_no_debug_file(&image, dir->path);
	assert_int_equal(truncate(dir->by_id, 100), 0);
	assert_no_debug_file(&image, dir->path);
}

static void no_link_leads_out_of_the_debug_directory(void **state)
{
	const struct debug_dir *dir = *state;
	char outside[] = "/tmp/flamelet-outside-XXXXXX";
	_cleanup_close_ int fd = mkostemp(outside, O_CLOEXEC);
	struct elf_image image;
	struct elf_image debug;

	assert_true(fd >= 0);
	elf_image_init(&debug, 0, 10);
	write_debug_file(outside, &debug);
	assert_int_equal(symlink(outside, dir->by_id), 0);
	elf_image_init(&image, 1, 0);
	elf_image_hide(&image, IMAGE_DEBUG_FRAME);
	assert_no_debug_file(&image, dir->path);
	assert_int_equal(unlink(dir->by_id), 0);
	assert_int_equal(mkfifo(dir->by_id, 0600), 0);
	assert_no_debug_file(&image, dir->path);
	assert_int_equal(unlink(outside), 0);
}

static void get_key(const struct elf_image *image, struct elf_rows_key *ret_key)
{
	_cleanup_(built_done) struct built built;

	assert_int_equal(build(image, &built), 0);
	*ret_key = *elf_rows_get_key(built.rows);
}

static void the_key_changes_with_what_the_rows_depend_on(void **state)
{
	struct elf_image image, other;
	struct elf_rows_key key, other_key;
	(void)state;

	elf_image_init(&image, 10, 0);
	get_key(&image, &key);
	get_key(&image, &other_key);
	assert_memory_equal(&key, &other_key, sizeof(key));
	other = image;
	other.eh_frame[20]++;
	get_key(&other, &other_key);
	assert_memory_not_equal(key.hash, other_key.hash, sizeof(key.hash));
	other = image;
	other.segments[IMAGE_LOAD_TEXT].p_filesz--;
	get_key(&other, &other_key);
	assert_memory_not_equal(key.hash, other_key.hash, sizeof(key.hash));
	other = image;
	other.header.e_entry = IMAGE_TEXT_ADDRESS;
	get_key(&other, &other_key);
	assert_memory_not_equal(key.hash, other_key.hash, sizeof(key.hash));
	other = image;
	other.note.id[0]++;
	get_key(&other, &other_key);
	assert_memory_equal(key.hash, other_key.hash, sizeof(key.hash));
	assert_string_not_equal(key.build_id, other_key.build_id);
}

static void functions_end_with_their_segment(void **state)
{
	_cleanup_(built_done) struct built built;
	struct elf_image image;
	(void)state;

	elf_image_init(&image, 10, 0);
	image.segments[IMAGE_LOAD_TEXT].p_filesz = elf_image_function(3) + 8 - IMAGE_TEXT_OFFSET;
	assert_int_equal(build(&image, &built), 0);
	assert_int_equal(built.stats.nr_functions, 4);
	assert_cfa(&built, elf_image_function(3) + 7, 8);
	assert_kind(&built, elf_image_function(3) + 8, CFA_NONE);
}

static void other_files_are_refused(void **state)
{
	struct elf_image image;
	(void)state;

	elf_image_init(&image, 10, 0);
	image.header.e_machine = EM_AARCH64;
	assert_result(&image, -EBADMSG);
	elf_image_init(&image, 10, 0);
	image.header.e_ident[EI_CLASS] = ELFCLASS32;
	assert_result(&image, -EBADMSG);
	elf_image_init(&image, 10, 0);
	image.header.e_type = ET_REL;
	assert_result(&image, -EBADMSG);
	elf_image_init(&image, 10, 0);
	image.header.e_ident[0] = 0;
	assert_result(&image, -EBADMSG);
	elf_image_init(&image, 10, 0);
	image.segments[IMAGE_LOAD_TEXT].p_filesz = UINT64_MAX - 0x10000;
	assert_result(&image, -EBADMSG);
	elf_image_init(&image, 10, 0);
	image.sections[IMAGE_EH_FRAME].sh_size = 1 << 20;
	assert_result(&image, -EBADMSG);
	elf_image_init(&image, 10, 0);
	image.sections[IMAGE_EH_FRAME].sh_size = UINT64_C(1) << 40;
	assert_result(&image, -ENOSPC);
}

static void files_without_code_or_cfi_have_no_data(void **state)
{
	struct elf_image image;
	(void)state;

	elf_image_init(&image, 10, 0);
	image.segments[IMAGE_LOAD_TEXT].p_flags = PF_R;
	assert_result(&image, -ENODATA);
	elf_image_init(&image, 0, 0);
	assert_result(&image, -ENODATA);
	elf_image_init(&image, 10, 10);
	elf_image_hide(&image, IMAGE_EH_FRAME);
	elf_image_hide(&image, IMAGE_DEBUG_FRAME);
	image.segments[IMAGE_FRAME_HDR].p_type = PT_NULL;
	assert_result(&image, -ENODATA);
	/* An index that is damaged leads nowhere. */
	image.segments[IMAGE_FRAME_HDR].p_type = PT_GNU_EH_FRAME;
	image.frame_hdr.version = 2;
	assert_result(&image, -ENODATA);
	image.frame_hdr.version = 1;
	image.frame_hdr.eh_frame = INT32_MAX;
	assert_result(&image, -ENODATA);
	image.frame_hdr.encodings[0] = 0x41;
	assert_result(&image, -ENODATA);
}

static void files_truncated_anywhere_are_refused(void **state)
{
	struct elf_image image;
	(void)state;

	elf_image_init(&image, 10, 10);
	for (size_t len = 0; len < sizeof(image) + 64; len++) {
		_cleanup_(built_done) struct built built;

		assert_true(build_fd(elf_image_write(&image, len), NULL, &built) < 0);
	}
}

/* Whatever byte is wrong: no crash, and what is built is valid. */
static void damaged_bytes_never_make_a_bad_table(void **state)
{
	struct elf_image image;
	(void)state;

	for (size_t i = 0; i < sizeof(image); i++) {
		_cleanup_(built_done) struct built built;

		elf_image_init(&image, 3, 3);
		((uint8_t *)&image)[i] ^= 0xff;
		if (build(&image, &built) == 0)
			assert_true(row_table_is_valid(built.table.data, built.table.len));
	}
}

static void a_table_over_its_limit_is_refused(void **state)
{
	const struct elf_rows_opts opts = { .max_bytes = 64 };
	_cleanup_(elf_rows_closep) struct elf_rows *rows = NULL;
	struct row_table_bytes table;
	struct elf_rows_stats stats;
	struct elf_image image;
	(void)state;

	elf_image_init(&image, 10, 0);
	_cleanup_close_ int fd = elf_image_write_all(&image);
	assert_int_equal(elf_rows_open(fd, &opts, &rows), 0);
	assert_int_equal(elf_rows_build(rows, &table, &stats), -ENOSPC);
}

static void memory_that_runs_out_is_reported(void **state)
{
	struct elf_image image;
	bool has_failed = true;
	(void)state;

	elf_image_init(&image, 3, 3);
	for (unsigned int n = 1; has_failed; n++) {
		_cleanup_(built_done) struct built built;
		int fd = elf_image_write_all(&image);

		torture_begin(n);
		int r = build_fd(fd, NULL, &built);
		has_failed = torture_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
	}
}

/* This program is a file that the compiler and the linker made. */
static void this_program_has_rows_for_main(void **state)
{
	_cleanup_(built_done) struct built built = { 0 };
	int fd;
	(void)state;

	elf_image_skip_on_other_machines();
	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(build_fd(fd, NULL, &built), 0);
	assert_true(row_table_is_valid(built.table.data, built.table.len));
	assert_true(built.stats.nr_functions > 50);
	assert_int_equal(built.stats.losses.nr_bad_entries, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_found_at_offsets_of_the_file),
		cmocka_unit_test(program_headers_lead_to_eh_frame_without_section_headers),
		cmocka_unit_test(a_section_of_the_unwind_type_needs_no_name),
		cmocka_unit_test(the_entry_point_ends_stacks_unless_it_has_cfi),
		cmocka_unit_test(debug_frame_counts_where_eh_frame_has_nearly_nothing),
		cmocka_unit_test(compressed_debug_frame_is_read),
		cmocka_unit_test(lies_about_the_decompressed_size_are_found_out),
		cmocka_unit_test_setup_teardown(the_debug_file_is_found_by_build_id, make_debug_dir,
						remove_debug_dir),
		cmocka_unit_test_setup_teardown(the_debug_file_is_found_by_debuglink,
						make_debug_dir, remove_debug_dir),
		cmocka_unit_test_setup_teardown(other_debug_files_are_not_taken, make_debug_dir,
						remove_debug_dir),
		cmocka_unit_test_setup_teardown(no_link_leads_out_of_the_debug_directory,
						make_debug_dir, remove_debug_dir),
		cmocka_unit_test(the_key_changes_with_what_the_rows_depend_on),
		cmocka_unit_test(functions_end_with_their_segment),
		cmocka_unit_test(other_files_are_refused),
		cmocka_unit_test(files_without_code_or_cfi_have_no_data),
		cmocka_unit_test(files_truncated_anywhere_are_refused),
		cmocka_unit_test(damaged_bytes_never_make_a_bad_table),
		cmocka_unit_test(a_table_over_its_limit_is_refused),
		cmocka_unit_test(memory_that_runs_out_is_reported),
		cmocka_unit_test(this_program_has_rows_for_main),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
