/* SPDX-License-Identifier: Apache-2.0 */
/* Small files that ask for much memory or time. Each is read in a child process that may have
 * little more memory than what all that grows with a file may take together: what is not charged
 * to the budget fails there with -ENOMEM. */
#include "unwind/file/elf_rows.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "elf_image.h"
#include "unit.h"
#include "elf/arch.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <zlib.h>

#define MB ((size_t)1 << 20)
#define MAX_HELD_BYTES (24 * MB)
#define SLACK_BYTES (3 * MB) /* of the C library, and what does not grow with a file */
#define MAX_CPU_SECONDS 5
#define MAX_FILE_BYTES (64 * MB)
#define DATA_OFFSET (IMAGE_TEXT_OFFSET + IMAGE_TEXT_BYTES)
#define MAX_SECTIONS 16
#define NR_OVERLAPPING 12
#define MAX_SEGMENTS 64

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED true
#elif defined(__has_feature)
#define IS_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define IS_SANITIZED false
#endif

/* A file in which more sections and data follow on an image. */
struct bomb {
	struct elf_image image;
	Elf64_Shdr sections[MAX_SECTIONS];
	uint16_t nr_sections;
	Elf64_Phdr segments[MAX_SEGMENTS]; /* in place of the image's, if there are any */
	uint16_t nr_segments;
	struct strbuf data; /* at DATA_OFFSET */
};

struct outcome {
	int error;
	uint64_t nr_bad_entries;
};

static void bomb_init(struct bomb *bomb)
{
	*bomb = (struct bomb){ .data = strbuf_with_max(MAX_FILE_BYTES) };
	elf_image_init(&bomb->image, 10, 0);
	memcpy(bomb->sections, bomb->image.sections, sizeof(bomb->image.sections));
	bomb->nr_sections = IMAGE_NR_SECTIONS;
}

static void bomb_done(struct bomb *bomb)
{
	strbuf_done(&bomb->data);
}

/* Named and typed like another section. */
static Elf64_Shdr *add_section(struct bomb *bomb, size_t like, uint64_t offset, uint64_t len)
{
	Elf64_Shdr *section = &bomb->sections[bomb->nr_sections++];

	*section = bomb->sections[like];
	section->sh_offset = offset;
	section->sh_size = len;
	section->sh_addr = 0x10000000 + offset;
	return section;
}

static int write_bomb(struct bomb *bomb, uint64_t hole_bytes)
{
	uint64_t tables = (DATA_OFFSET + bomb->data.len + hole_bytes + 4095) & ~UINT64_C(4095);
	Elf64_Ehdr *header = &bomb->image.header;
	size_t headers_len = bomb->nr_sections * sizeof(*bomb->sections);
	int fd;

	header->e_shoff = tables;
	header->e_shnum = bomb->nr_sections;
	if (bomb->nr_segments > 0) {
		header->e_phoff = tables + sizeof(bomb->sections);
		header->e_phnum = bomb->nr_segments;
	}
	fd = elf_image_write_all(&bomb->image);
	assert_int_equal(strbuf_error(&bomb->data), 0);
	assert_int_equal(ftruncate(fd, (off_t)(tables + 8192)), 0);
	if (bomb->data.len > 0)
		assert_int_equal(pwrite(fd, bomb->data.data, bomb->data.len, DATA_OFFSET),
				 bomb->data.len);
	assert_int_equal(pwrite(fd, bomb->sections, headers_len, (off_t)tables), headers_len);
	assert_int_equal(pwrite(fd, bomb->segments, sizeof(bomb->segments),
				(off_t)(tables + sizeof(bomb->sections))),
			 sizeof(bomb->segments));
	return fd;
}

/* VmData of this process, which RLIMIT_DATA bounds. */
static uint64_t data_bytes(void)
{
	_cleanup_(strbuf_done) struct strbuf status = strbuf_with_max(16384);
	uint64_t nr_kilobytes;

	if (file_read_at(AT_FDCWD, "/proc/self/status", &status) < 0)
		return 0;
	const char *cursor = strstr(status.data, "VmData:");
	cursor += strcspn(cursor, "0123456789");
	if (parse_digits(&cursor, status.data + status.len, 10, &nr_kilobytes) < 0)
		return 0;
	return nr_kilobytes * 1024;
}

static void limit(__rlimit_resource_t resource, uint64_t value)
{
	const struct rlimit limit = { value, value };

	if (setrlimit(resource, &limit) < 0)
		_exit(1);
}

static struct outcome build(int fd)
{
	const struct elf_rows_opts opts = { .max_bytes = 4 * MB, .max_held_bytes = MAX_HELD_BYTES };
	_cleanup_(elf_rows_closep) struct elf_rows *rows = NULL;
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };
	struct elf_rows_stats stats = { 0 };

	int r = elf_rows_open(fd, &opts, &rows);
	if (r == 0)
		r = elf_rows_build(rows, &table, &stats);
	return (struct outcome){ r, stats.losses.nr_bad_entries };
}

/* Reads the file in a child. */
static struct outcome explode(struct bomb *bomb, uint64_t hole_bytes)
{
	struct outcome *outcome = mmap(NULL, sizeof(*outcome), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int fd = write_bomb(bomb, hole_bytes);
	struct outcome result;
	int status;

	assert_true(outcome != MAP_FAILED);
	bomb_done(bomb);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		limit(RLIMIT_CPU, MAX_CPU_SECONDS);
		if (!IS_SANITIZED)
			limit(RLIMIT_DATA, data_bytes() + MAX_HELD_BYTES + SLACK_BYTES);
		*outcome = build(fd);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(fd);
	result = *outcome;
	munmap(outcome, sizeof(*outcome));
	return result;
}

static void append_cies(struct strbuf *data, size_t nr)
{
	static const uint8_t cie[] = { 0x0c,	     0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78,
				       DWARF_REG_RA, 0, 0, 0 };

	for (size_t i = 0; i < nr; i++)
		strbuf_append(data, cie, sizeof(cie));
}

static void cies_in_overlapping_sections_are_read_once(void **state)
{
	struct bomb bomb;
	(void)state;

	bomb_init(&bomb);
	append_cies(&bomb.data, 50000);
	for (uint64_t i = 0; i < NR_OVERLAPPING - 2; i++)
		add_section(&bomb, IMAGE_EH_FRAME, DATA_OFFSET + 16 * i, bomb.data.len - 16 * i);

	struct outcome outcome = explode(&bomb, 0);
	assert_int_equal(outcome.error, 0);
	assert_int_equal(outcome.nr_bad_entries, NR_OVERLAPPING - 3);
}

static void more_cies_than_any_file_has_are_counted_as_bad(void **state)
{
	struct bomb bomb;
	(void)state;

	bomb_init(&bomb);
	append_cies(&bomb.data, 1 << 18);
	add_section(&bomb, IMAGE_EH_FRAME, DATA_OFFSET, bomb.data.len);

	struct outcome outcome = explode(&bomb, 0);
	assert_int_equal(outcome.error, 0);
	assert_in_range(outcome.nr_bad_entries, (1 << 18) - (1 << 16), 1 << 18);
}

static void holes_take_no_memory(void **state)
{
	struct bomb bomb;
	(void)state;

	bomb_init(&bomb);
	add_section(&bomb, IMAGE_EH_FRAME, DATA_OFFSET, 200 * MB);

	struct outcome outcome = explode(&bomb, 200 * MB);
	assert_int_equal(outcome.error, 0);
	assert_int_equal(outcome.nr_bad_entries, 1);
}

static void a_section_that_is_too_large_is_over_the_limit(void **state)
{
	struct bomb bomb;
	(void)state;

	bomb_init(&bomb);
	memset(strbuf_extend(&bomb.data, 2 * MAX_HELD_BYTES), 1, 2 * MAX_HELD_BYTES);
	add_section(&bomb, IMAGE_EH_FRAME, DATA_OFFSET, bomb.data.len);
	assert_int_equal(explode(&bomb, 0).error, -ENOSPC);
}

static void names_that_are_too_large_are_over_the_limit(void **state)
{
	struct bomb bomb;
	(void)state;

	bomb_init(&bomb);
	bomb.sections[IMAGE_NAMES].sh_size = 40 * MB;
	assert_int_equal(explode(&bomb, 64 * MB).error, -ENOSPC);
}

static void functions_without_number_are_over_the_limit(void **state)
{
	struct bomb bomb;
	(void)state;

	bomb_init(&bomb);
	append_cies(&bomb.data, 1);
	for (uint32_t i = 0; i < 500000; i++) {
		uint32_t at = (uint32_t)bomb.data.len;
		uint32_t fde[] = { 20, at + 4, IMAGE_TEXT_ADDRESS + i % IMAGE_TEXT_BYTES, 0, 1, 0 };

		strbuf_append(&bomb.data, fde, sizeof(fde));
	}
	add_section(&bomb, IMAGE_EH_FRAME, DATA_OFFSET, bomb.data.len);
	assert_int_equal(explode(&bomb, 0).error, -ENOSPC);
}

static void compression_beyond_all_reason_is_refused(void **state)
{
	const size_t nr_bytes = 20 * MB; /* within the budget, were it not for the ratio */
	_cleanup_free_ uint8_t *packed = malloc(MB);
	_cleanup_free_ uint8_t *zeros = calloc(1, nr_bytes);
	uLongf len = MB;
	struct bomb bomb;
	(void)state;

	assert_non_null(packed);
	assert_non_null(zeros);
	assert_int_equal(compress(packed, &len, zeros, nr_bytes), Z_OK);
	bomb_init(&bomb);
	elf_image_init(&bomb.image, 2, 0);
	bomb.sections[IMAGE_EH_FRAME] = bomb.image.sections[IMAGE_EH_FRAME];
	const Elf64_Chdr head = { .ch_type = ELFCOMPRESS_ZLIB, .ch_size = nr_bytes };
	strbuf_append(&bomb.data, &head, sizeof(head));
	strbuf_append(&bomb.data, packed, len);
	bomb.sections[IMAGE_DEBUG_FRAME].sh_type = SHT_PROGBITS;
	bomb.sections[IMAGE_DEBUG_FRAME].sh_flags = SHF_COMPRESSED;
	bomb.sections[IMAGE_DEBUG_FRAME].sh_offset = DATA_OFFSET;
	bomb.sections[IMAGE_DEBUG_FRAME].sh_size = bomb.data.len;

	struct outcome outcome = explode(&bomb, 0);
	assert_int_equal(outcome.error, 0);
	assert_int_equal(outcome.nr_bad_entries, 1);
}

/* Code in many pieces between functions, and more of it than there is memory to scan it with. */
static void code_that_is_too_much_is_left_out_and_counted(void **state)
{
	const uint64_t address = 0x20000000, distance = 64, nr_bytes = 4 * MB - 4096;
	struct bomb bomb;
	(void)state;

	bomb_init(&bomb);
	memset(strbuf_extend(&bomb.data, nr_bytes), 0x50, nr_bytes);
	bomb.image.segments[IMAGE_LOAD_TEXT].p_vaddr = address;
	bomb.image.segments[IMAGE_LOAD_TEXT].p_offset = DATA_OFFSET;
	bomb.image.segments[IMAGE_LOAD_TEXT].p_filesz = nr_bytes;
	Elf64_Shdr *text = add_section(&bomb, IMAGE_TEXT, DATA_OFFSET, nr_bytes);
	text->sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	text->sh_addr = address;

	size_t frames = bomb.data.len;
	append_cies(&bomb.data, 1);
	for (uint64_t at = 0; at < nr_bytes; at += distance) {
		uint32_t fde[] = {
			20, (uint32_t)(bomb.data.len - frames) + 4, (uint32_t)(address + at), 0, 1,
			0
		};

		strbuf_append(&bomb.data, fde, sizeof(fde));
	}
	add_section(&bomb, IMAGE_EH_FRAME, DATA_OFFSET + frames, bomb.data.len - frames);

	/* The image's ten functions are in no segment now. */
	struct outcome outcome = explode(&bomb, 0);
	assert_int_equal(outcome.error, 0);
	assert_int_equal(outcome.nr_bad_entries, 1);
}

/* One function in all of the code, whose long program has a row at each byte, and the same
 * addresses in each segment. */
static void segments_do_not_multiply_the_work(void **state)
{
	struct bomb bomb;
	(void)state;

	bomb_init(&bomb);
	append_cies(&bomb.data, 1);
	size_t len = 8 * MB;
	uint32_t head[] = { (uint32_t)len + 20, 20, 0x10000000, 0, 0x10000000, 0 };
	strbuf_append(&bomb.data, head, sizeof(head));
	memset(strbuf_extend(&bomb.data, len), 0x41, len); /* DW_CFA_advance_loc 1 */
	add_section(&bomb, IMAGE_EH_FRAME, DATA_OFFSET, bomb.data.len);
	for (bomb.nr_segments = 0; bomb.nr_segments < MAX_SEGMENTS; bomb.nr_segments++)
		bomb.segments[bomb.nr_segments] = (Elf64_Phdr){
			.p_type = PT_LOAD,
			.p_flags = PF_X,
			.p_vaddr = 0x10000000,
			.p_offset = bomb.nr_segments * UINT64_C(0x10000),
			.p_filesz = 0x10000,
		};
	assert_int_equal(explode(&bomb, 0).error, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cies_in_overlapping_sections_are_read_once),
		cmocka_unit_test(more_cies_than_any_file_has_are_counted_as_bad),
		cmocka_unit_test(holes_take_no_memory),
		cmocka_unit_test(a_section_that_is_too_large_is_over_the_limit),
		cmocka_unit_test(names_that_are_too_large_are_over_the_limit),
		cmocka_unit_test(functions_without_number_are_over_the_limit),
		cmocka_unit_test(compression_beyond_all_reason_is_refused),
		cmocka_unit_test(code_that_is_too_much_is_left_out_and_counted),
		cmocka_unit_test(segments_do_not_multiply_the_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
