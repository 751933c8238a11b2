/* SPDX-License-Identifier: Apache-2.0 */
/* Files that were made for the test, offered through a directory that stands for /proc. */
#include "symbol/elf_cache.h"
#include "symbol/file_registry.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/fileio.h"
#include "base/strbuf.h"
#include "elf_cache_dir.h"
#include "endless_names.h"
#include "symbol_worker_main.h"
#include "unit.h"

#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define VDSO_ID 1 /* the first file of each cache, with names of its own */
#define FAKE_PID 7
#define TEXT_ADDRESS 0x10000

/* The kernel's own file is there from the beginning. */
static unsigned int has_vdso(const struct elf_cache *cache)
{
	return elf_cache_vdso(cache) != 0;
}

/* Names an offset with all that can be known. */
static int name(struct elf_cache *cache, uint32_t id, uint64_t offset,
		struct symbol_frames *ret_frames)
{
	while (!elf_cache_ask(cache, id, offset))
		cache_dir_read_all(cache);
	return elf_cache_symbolize(cache, id, offset, ret_frames);
}

static void append_name(struct strbuf *names, const char *name, unsigned int number, unsigned int i)
{
	if (name)
		strbuf_append_str(names, name);
	else
		strbuf_appendf(names, "_ZN5space4n%03u6f%05uEv", number % 1000, i);
	strbuf_append_char(names, '\0');
}

/* A shared object with `nr_functions` functions "space::n<number>::f<i>" of 16 bytes each;
 * `first`, if not NULL, is the raw name of the first one. */
static void write_elf_with(const char *path, const char *first, unsigned int number,
			   unsigned int nr_functions)
{
	_cleanup_(strbuf_done) struct strbuf symbols = strbuf_with_max(1 << 24);
	_cleanup_(strbuf_done) struct strbuf names = strbuf_with_max(1 << 24);
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(1 << 25);

	strbuf_append_char(&names, '\0');
	for (unsigned int i = 0; i < nr_functions; i++) {
		const Elf64_Sym symbol = {
			.st_name = (uint32_t)names.len,
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = 1,
			.st_value = TEXT_ADDRESS + i * 16,
			.st_size = 16,
		};

		strbuf_append(&symbols, &symbol, sizeof(symbol));
		append_name(&names, i == 0 ? first : NULL, number, i);
	}
	const Elf64_Phdr segment = {
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_offset = 0x1000,
		.p_vaddr = TEXT_ADDRESS,
		.p_filesz = nr_functions * 16,
	};
	const uint64_t symbols_offset = sizeof(Elf64_Ehdr) + sizeof(segment) +
					4 * sizeof(Elf64_Shdr);
	const Elf64_Shdr sections[4] = {
		[1] = { .sh_type = SHT_PROGBITS,
			.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			.sh_addr = TEXT_ADDRESS,
			.sh_offset = 0x1000,
			.sh_size = nr_functions * 16 },
		[2] = { .sh_type = SHT_SYMTAB,
			.sh_offset = symbols_offset,
			.sh_size = symbols.len,
			.sh_link = 3 },
		[3] = { .sh_type = SHT_STRTAB,
			.sh_offset = symbols_offset + symbols.len,
			.sh_size = names.len },
	};
	const Elf64_Ehdr header = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(segment),
		.e_phnum = 1,
		.e_shoff = sizeof(Elf64_Ehdr) + sizeof(segment),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 4,
	};

	strbuf_append(&out, &header, sizeof(header));
	strbuf_append(&out, &segment, sizeof(segment));
	strbuf_append(&out, sections, sizeof(sections));
	strbuf_append(&out, symbols.data, symbols.len);
	strbuf_append(&out, names.data, names.len);
	assert_int_equal(file_write_atomic(path, out.data, out.len), 0);
}

static void write_elf(const char *path, unsigned int number, unsigned int nr_functions)
{
	write_elf_with(path, NULL, number, nr_functions);
}

/* A directory like /proc with one process, into which files can be mapped. */
static int open_fake_proc(const struct cache_dir *fixture)
{
	int fd = open(fixture->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(mkdirat(fd, "7", 0700), 0);
	assert_int_equal(mkdirat(fd, "7/map_files", 0700), 0);
	assert_int_equal(symlinkat("/proc/self/mountinfo", fd, "7/mountinfo"), 0);
	return fd;
}

static int open_as_mapped(const struct cache_dir *fixture, struct elf_cache *cache,
			  const char *path, uint32_t *ret_id)
{
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	struct mapped_file file = { .inode = st.st_ino,
				    .dev_major = major(st.st_dev),
				    .dev_minor = minor(st.st_dev) };
	const struct mapping mapping = { .start = 0x1000, .end = 0x2000, .file = &file };
	char link[128];

	snprintf(link, sizeof(link), "%s/7/map_files/1000-2000", fixture->dir);
	unlink(link);
	assert_int_equal(symlink(path, link), 0);
	return elf_cache_open(cache, 0, FAKE_PID, &mapping, ret_id);
}

static void copies_share_one_table(void **state)
{
	struct cache_dir *fixture = *state;
	_cleanup_close_ int fake_fd = open_fake_proc(fixture);
	_cleanup_(elf_cache_freep) struct elf_cache *cache = NULL;
	struct symbol_frames frames;
	uint32_t ids[4];
	char path[96];

	cache = cache_dir_new_cache(fake_fd, CACHE_BUDGET);
	for (unsigned int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/elf%u", fixture->dir, i);
		write_elf(path, i / 2, 100);
		assert_int_equal(open_as_mapped(fixture, cache, path, &ids[i]), 0);
		assert_int_equal(name(cache, ids[i], 0x1000, &frames), 0);
		assert_int_equal(frames.address, TEXT_ADDRESS);
		assert_string_equal(frames.lines[0].name,
				    i < 2 ? "space::n000::f00000" : "space::n001::f00000");
	}
	assert_int_equal(open_as_mapped(fixture, cache, path, &ids[3]), 0);
	assert_int_equal(ids[3], ids[2]);
	assert_true(ids[0] != ids[1] && ids[1] != ids[2]);
	assert_int_equal(elf_cache_get_stats(cache).files.nr_files, 3 + has_vdso(cache));
	assert_int_equal(elf_cache_get_stats(cache).tables.nr_tables, 2 + has_vdso(cache));
}

static void a_name_is_demangled_once(void **state)
{
	struct cache_dir *fixture = *state;
	_cleanup_close_ int fake_fd = open_fake_proc(fixture);
	_cleanup_(elf_cache_freep) struct elf_cache *cache = NULL;
	struct symbol_frames frames;
	char path[96];
	uint32_t id = 0;

	cache = cache_dir_new_cache(fake_fd, CACHE_BUDGET);
	snprintf(path, sizeof(path), "%s/elf", fixture->dir);
	write_elf(path, 1, 100);
	assert_int_equal(open_as_mapped(fixture, cache, path, &id), 0);
	assert_int_equal(name(cache, id, 0x1015, &frames), 0);
	const char *first = frames.lines[0].name;
	assert_int_equal(name(cache, id, 0x1016, &frames), 0);
	assert_ptr_equal(frames.lines[0].name, first);
	assert_int_equal(name(cache, id, 0x1000 + 100 * 16, &frames), -ENOENT);
	assert_int_equal(frames.nr_lines, 0);
	assert_int_equal(elf_cache_size(cache, id) > 0, 1);
	assert_string_equal(elf_cache_build_ids(cache, id).gnu, "");
}

/* The worker is the real one here, confined as it is in the agent. */
static void a_name_that_takes_for_ever_costs_nobody_elses(void **state)
{
	static const char *const names[] = { HOSTILE_RUST_NAME, HOSTILE_CPLUS_NAME };
	struct cache_dir *fixture = *state;
	_cleanup_close_ int fake_fd = open_fake_proc(fixture);
	_cleanup_(elf_cache_freep) struct elf_cache *cache = NULL;
	struct symbol_frames frames;
	char path[96];

	SKIP_WITHOUT_SIGNALS();
	cache = cache_dir_new_cache(fake_fd, CACHE_BUDGET);
	for (unsigned int i = 0; i < array_len(names); i++) {
		uint32_t id = 0;

		snprintf(path, sizeof(path), "%s/elf%u", fixture->dir, i);
		write_elf_with(path, names[i], i, 2);
		assert_int_equal(open_as_mapped(fixture, cache, path, &id), 0);
		assert_int_equal(name(cache, id, 0x1000, &frames), 0);
		assert_string_equal(frames.lines[0].name, names[i]);
		assert_int_equal(name(cache, id, 0x1010, &frames), 0);
		assert_string_equal(frames.lines[0].name,
				    i == 0 ? "space::n000::f00001" : "space::n001::f00001");
		assert_int_equal(elf_cache_get_stats(cache).names.nr_given_up, i + 1);
	}
}

enum { NR_FILES = 12, NR_FUNCTIONS = 1000, TABLE_BYTES = NR_FUNCTIONS * (12 + 24) };

/* With the strings of frames, 64 KB at least. */
#define FEW_TABLES_BYTES ((size_t)6 * TABLE_BYTES)

static void use_more_than_there_is_room_for(const struct cache_dir *fixture,
					    struct elf_cache *cache)
{
	struct symbol_frames frames;
	uint32_t ids[NR_FILES];
	char path[96];

	for (unsigned int i = 0; i < NR_FILES; i++) {
		snprintf(path, sizeof(path), "%s/elf%u", fixture->dir, i);
		write_elf(path, i, NR_FUNCTIONS);
		assert_int_equal(open_as_mapped(fixture, cache, path, &ids[i]), 0);
		assert_int_equal(name(cache, ids[i], 0x1010, &frames), 0);
		assert_int_equal(name(cache, ids[0], 0x1010, &frames), 0);
		cache_dir_read_all(cache);
		assert_true(elf_cache_get_stats(cache).tables.nr_bytes <= FEW_TABLES_BYTES);
	}
	const struct elf_cache_stats stats = elf_cache_get_stats(cache);
	assert_in_range(stats.tables.nr_tables, 2, 6);
	assert_int_equal(stats.tables.nr_evicted + stats.tables.nr_tables,
			 NR_FILES + has_vdso(cache));
	assert_int_equal(name(cache, ids[1], 0x1020, &frames), -ENOENT);
	assert_int_equal(frames.nr_lines, 0);
	assert_int_equal(frames.address, TEXT_ADDRESS + 0x20);
}

static void the_least_recently_used_names_go_first(void **state)
{
	struct cache_dir *fixture = *state;
	_cleanup_close_ int fake_fd = open_fake_proc(fixture);
	_cleanup_(elf_cache_freep) struct elf_cache *cache = NULL;

	cache = cache_dir_new_cache(fake_fd, FEW_TABLES_BYTES);
	use_more_than_there_is_room_for(fixture, cache);
}

static void names_go_when_others_have_the_room_of_the_pool(void **state)
{
	struct memory_pool pool = { .max_bytes = FEW_TABLES_BYTES + 1000 };
	struct cache_dir *fixture = *state;
	_cleanup_close_ int fake_fd = open_fake_proc(fixture);
	struct elf_cache *cache = NULL;

	assert_int_equal(memory_pool_take(&pool, 1000), 0);
	cache = cache_dir_new_pooled_cache(fake_fd, CACHE_BUDGET, &pool);
	use_more_than_there_is_room_for(fixture, cache);
	assert_true(memory_pool_room(&pool) < 3 * TABLE_BYTES);
	elf_cache_free(cache);
	assert_int_equal(memory_pool_room(&pool), FEW_TABLES_BYTES);
}

static void a_file_that_is_no_elf_is_bad_once(void **state)
{
	struct cache_dir *fixture = *state;
	_cleanup_close_ int fake_fd = open_fake_proc(fixture);
	_cleanup_(elf_cache_freep) struct elf_cache *cache = NULL;
	struct symbol_frames frames;
	char path[96];
	uint32_t id = 0;

	cache = cache_dir_new_cache(fake_fd, CACHE_BUDGET);
	snprintf(path, sizeof(path), "%s/text", fixture->dir);
	assert_int_equal(file_write_atomic(path, "nonsense", 8), 0);
	assert_int_equal(open_as_mapped(fixture, cache, path, &id), 0);
	assert_int_equal(name(cache, id, 0x1234, &frames), -EBADMSG);
	assert_int_equal(name(cache, id, 0x1234, &frames), -EBADMSG);
	assert_int_equal(frames.address, 0x1234);
	assert_int_equal(elf_cache_get_stats(cache).files.nr_bad_files, 1);
	assert_int_equal(name(cache, id + 1, 0x1234, &frames), -ENOENT);
	assert_int_equal(name(cache, 0, 0x1234, &frames), -ENOENT);
}

static void no_more_files_wait_than_may(void **state)
{
	struct cache_dir *fixture = *state;
	_cleanup_close_ int fake_fd = open_fake_proc(fixture);
	_cleanup_(elf_cache_freep) struct elf_cache *cache = NULL;
	struct symbol_frames frames;
	uint32_t first = 0;
	uint32_t id = 0;
	char path[96];

	cache = cache_dir_new_cache(fake_fd, CACHE_BUDGET);
	cache_dir_read_all(cache);
	for (unsigned int i = 0; i <= FILE_REGISTRY_MAX_OPEN; i++) {
		snprintf(path, sizeof(path), "%s/file%u", fixture->dir, i);
		assert_int_equal(file_write_atomic(path, path, strlen(path)), 0);
		assert_int_equal(open_as_mapped(fixture, cache, path, &id),
				 i < FILE_REGISTRY_MAX_OPEN ? 0 : -ENOSPC);
		first = first ?: id;
	}
	assert_int_equal(elf_cache_get_stats(cache).files.nr_waiting, FILE_REGISTRY_MAX_OPEN);
	assert_int_equal(name(cache, first, 0, &frames), -EBADMSG);
	assert_int_equal(open_as_mapped(fixture, cache, path, &id), 0);
}

struct reader {
	const struct cache_dir *fixture;
	struct elf_cache *cache;
	uint32_t nr_opened; /* atomic */
};

static void *open_many(void *opaque)
{
	struct reader *reader = opaque;
	char path[96];

	for (unsigned int i = 0; i < 200; i++) {
		uint32_t id;

		snprintf(path, sizeof(path), "%s/elf%u", reader->fixture->dir, i % 20);
		if (open_as_mapped(reader->fixture, reader->cache, path, &id) == 0)
			__atomic_store_n(&reader->nr_opened, id, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void files_are_opened_while_others_are_read(void **state)
{
	struct cache_dir *fixture = *state;
	_cleanup_close_ int fake_fd = open_fake_proc(fixture);
	_cleanup_(elf_cache_freep) struct elf_cache *cache = NULL;
	struct reader reader = { .fixture = fixture };
	struct symbol_frames frames;
	pthread_t thread;
	char path[96];

	cache = cache_dir_new_cache(fake_fd, (size_t)1 << 17);
	reader.cache = cache;
	for (unsigned int i = 0; i < 20; i++) {
		snprintf(path, sizeof(path), "%s/elf%u", fixture->dir, i);
		write_elf(path, i, 500);
	}
	assert_int_equal(pthread_create(&thread, NULL, open_many, &reader), 0);
	for (unsigned int i = 0; i < 20000; i++) {
		uint32_t nr_ids = __atomic_load_n(&reader.nr_opened, __ATOMIC_ACQUIRE);

		if (nr_ids <= VDSO_ID)
			continue;
		uint32_t id = VDSO_ID + 1 + i % (nr_ids - VDSO_ID);
		if (i % 16 == 0)
			(void)elf_cache_wait(cache, clock_mono_ns() + NSEC_PER_MSEC);
		if (elf_cache_symbolize(cache, id, 0x1000 + i % 8000, &frames) == 0)
			assert_int_equal(strncmp(frames.lines[0].system_name, "_ZN5space4n0", 12),
					 0);
		assert_non_null(elf_cache_build_ids(cache, id).gnu);
	}
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, cache_dir_setup, cache_dir_teardown)
	const struct CMUnitTest tests[] = {
		TEST(copies_share_one_table),
		TEST(a_name_is_demangled_once),
		TEST(a_name_that_takes_for_ever_costs_nobody_elses),
		TEST(the_least_recently_used_names_go_first),
		TEST(names_go_when_others_have_the_room_of_the_pool),
		TEST(a_file_that_is_no_elf_is_bad_once),
		TEST(no_more_files_wait_than_may),
		TEST(files_are_opened_while_others_are_read),
	};

	if (is_symbol_worker(argc, argv))
		return symbol_worker_main();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
