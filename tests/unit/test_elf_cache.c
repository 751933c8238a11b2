/* SPDX-License-Identifier: Apache-2.0 */
/* With real processes: copies of this program that wait (see main), and files that were made for the test,
 * offered through a directory that stands for /proc. */
#include "symbol/elf_cache.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/fileio.h"
#include "base/strbuf.h"
#include "symbol_worker_main.h"
#include "unit.h"

#include <elf.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#define BUDGET ((size_t)256 << 20)
#define FAKE_PID 7
#define TEXT_ADDRESS 0x10000

#define WAIT_NS (60 * NSEC_PER_SEC)

struct fixture {
	char dir[64];
	int proc_fd; /* the real one */
	struct elf_cache *cache;
};

void named_function_of_the_waiter(void);

void named_function_of_the_waiter(void)
{
	for (;;)
		pause();
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static struct elf_cache *new_cache(int proc_fd, size_t max_bytes)
{
	const struct elf_cache_opts opts = {
		.proc_fd = proc_fd,
		.max_bytes = max_bytes,
		.demangle = DEMANGLE_SHORT,
		.debug_files = { .host_root_fd = -EBADF },
	};
	struct elf_cache *cache = NULL;

	assert_int_equal(elf_cache_new(&opts, &cache), 0);
	return cache;
}

static void read_all(struct elf_cache *cache)
{
	assert_true(elf_cache_wait(cache, clock_mono_ns() + WAIT_NS));
}

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
		read_all(cache);
	return elf_cache_symbolize(cache, id, offset, ret_frames);
}

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	snprintf(fixture->dir, sizeof(fixture->dir), "/tmp/test_elf_cache.XXXXXX");
	assert_non_null(mkdtemp(fixture->dir));
	fixture->proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	fixture->cache = new_cache(fixture->proc_fd, BUDGET);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	elf_cache_free(fixture->cache);
	close(fixture->proc_fd);
	nftw(fixture->dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	free(fixture);
	return 0;
}

static void copy_file(const char *from, const char *to)
{
	_cleanup_(strbuf_done) struct strbuf data = strbuf_with_max(BUDGET);

	assert_int_equal(file_read_at(AT_FDCWD, from, &data), 0);
	assert_int_equal(file_write_atomic(to, data.data, data.len), 0);
	assert_int_equal(chmod(to, 0755), 0);
}

/* Starts a copy of this program; returns when it has been executed. */
static pid_t start(const char *path)
{
	int fds[2];
	char byte;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		execl(path, path, "wait", NULL);
		_exit(1);
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], &byte, 1), 0);
	close(fds[0]);
	return pid;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* The executable mapping of the program itself, by a name in its path. */
static struct mapping find_mapping(pid_t pid, const char *name, struct mapped_file *ret_file)
{
	struct mapping mapping = { .file = ret_file };
	char path[64];
	char line[512];

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	_cleanup_fclose_ FILE *maps = fopen(path, "re");
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		char file_path[256] = "";
		char perms[8];

		int n = sscanf(
			line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %255s",
			&mapping.start, &mapping.end, perms, &mapping.file_offset,
			&ret_file->dev_major, &ret_file->dev_minor, &ret_file->inode, file_path);
		if (n == 8 && perms[2] == 'x' && strstr(file_path, name))
			return mapping;
	}
	fail();
	return mapping;
}

static bool finds_waiter(struct elf_cache *cache, uint32_t id, const struct mapping *mapping)
{
	struct symbol_frames frames;

	read_all(cache);
	for (uint64_t pos = 0; pos < mapping->end - mapping->start; pos += 4)
		if (elf_cache_symbolize(cache, id, mapping->file_offset + pos, &frames) == 0 &&
		    strcmp(frames.lines[0].name, "named_function_of_the_waiter") == 0)
			return true;
	return false;
}

static void a_deleted_program_still_has_its_names(void **state)
{
	struct fixture *fixture = *state;
	struct mapped_file file = { 0 };
	char path[96];
	uint32_t id = 0;

	snprintf(path, sizeof(path), "%s/program", fixture->dir);
	copy_file("/proc/self/exe", path);
	pid_t pid = start(path);
	struct mapping mapping = find_mapping(pid, "program", &file);
	assert_int_equal(unlink(path), 0);
	int r = elf_cache_open(fixture->cache, (uint32_t)pid, &mapping, &id);
	stop(pid);
	if (r == -EPERM || r == -ESRCH)
		skip(); /* without the right to use map_files */
	assert_int_equal(r, 0);
	assert_true(finds_waiter(fixture->cache, id, &mapping));
	assert_int_equal(elf_cache_get_stats(fixture->cache).nr_waiting, 0);
}

static void a_program_replaced_while_it_runs_is_not_mistaken(void **state)
{
	struct fixture *fixture = *state;
	struct mapped_file file = { 0 };
	char path[96];
	uint32_t id = 0;

	snprintf(path, sizeof(path), "%s/program", fixture->dir);
	copy_file("/proc/self/exe", path);
	pid_t pid = start(path);
	assert_int_equal(file_write_atomic(path, "nonsense", 8), 0);
	struct mapping mapping = find_mapping(pid, "program", &file);
	file.path = path;
	int r = elf_cache_open(fixture->cache, (uint32_t)pid, &mapping, &id);
	stop(pid);
	if (r == -ESRCH)
		skip(); /* without the right to use map_files; at least nothing wrong was opened */
	assert_int_equal(r, 0);
	assert_true(finds_waiter(fixture->cache, id, &mapping));
}

static void nobody_waits_for_a_file_longer_than_he_wants(void **state)
{
	struct fixture *fixture = *state;
	struct mapped_file file = { .path = (char *)(uintptr_t) "/proc/self/exe" };
	uint32_t id = 0;

	pid_t pid = start("/proc/self/exe");
	struct mapping mapping = find_mapping(pid, "test_elf_cache", &file);
	int r = elf_cache_open(fixture->cache, (uint32_t)pid, &mapping, &id);
	stop(pid);
	if (r == -ESRCH)
		skip(); /* without the right to use map_files */
	assert_int_equal(r, 0);

	struct symbol_frames frames;
	assert_false(elf_cache_ask(fixture->cache, id, mapping.file_offset));
	assert_false(elf_cache_wait(fixture->cache, 0));
	assert_int_equal(elf_cache_symbolize(fixture->cache, id, mapping.file_offset, &frames),
			 -ENOENT);
	assert_int_equal(frames.nr_lines, 0);
	assert_int_equal(frames.address, mapping.file_offset);
	assert_true(finds_waiter(fixture->cache, id, &mapping));
	assert_int_equal(elf_cache_get_stats(fixture->cache).nr_waiting, 0);
}

static void a_process_that_is_gone_is_an_error(void **state)
{
	struct fixture *fixture = *state;
	struct mapped_file file = { 0 };
	uint32_t id = 77;

	pid_t pid = start("/proc/self/exe");
	struct mapping mapping = find_mapping(pid, "test_elf_cache", &file);
	stop(pid);
	assert_int_equal(elf_cache_open(fixture->cache, (uint32_t)pid, &mapping, &id), -ESRCH);
	assert_int_equal(id, 77);
	assert_int_equal(elf_cache_get_stats(fixture->cache).nr_open_failures, 1);
}

/* In a mount namespace of its own, as a container's process. */
static pid_t start_on_overlay(const char *dir)
{
	char merged[96];
	char options[256];
	char program[128];
	int fds[2];
	char byte;

	snprintf(merged, sizeof(merged), "%s/merged", dir);
	snprintf(program, sizeof(program), "%s/program", merged);
	snprintf(options, sizeof(options), "lowerdir=%s/lower,upperdir=%s/upper,workdir=%s/work",
		 dir, dir, dir);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		if (unshare(CLONE_NEWNS) < 0 ||
		    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		    mount("overlay", merged, "overlay", 0, options) < 0)
			_exit(77);
		execl(program, program, "wait", NULL);
		_exit(1);
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], &byte, 1), 0);
	close(fds[0]);
	usleep(1000); /* so that a child that gave up is a zombie */
	if (waitpid(pid, NULL, WNOHANG) == pid)
		return -1;
	return pid;
}

static void a_program_on_a_containers_overlay_has_names(void **state)
{
	static const char *const dirs[] = { "lower", "upper", "work", "merged" };
	struct fixture *fixture = *state;
	struct mapped_file file = { 0 };
	char path[96];
	uint32_t id = 0;

	/* An overlay's upper layer cannot lie on an overlay: tmpfs will do. */
	if (mount("tmpfs", fixture->dir, "tmpfs", 0, "") < 0)
		skip(); /* not root */
	for (size_t i = 0; i < array_len(dirs); i++) {
		snprintf(path, sizeof(path), "%s/%s", fixture->dir, dirs[i]);
		assert_int_equal(mkdir(path, 0755), 0);
	}
	snprintf(path, sizeof(path), "%s/lower/program", fixture->dir);
	copy_file("/proc/self/exe", path);

	pid_t pid = start_on_overlay(fixture->dir);
	int r = -EOPNOTSUPP;
	struct mapping mapping = { 0 };
	if (pid > 0) {
		mapping = find_mapping(pid, "program", &file);
		r = elf_cache_open(fixture->cache, (uint32_t)pid, &mapping, &id);
		stop(pid);
	}
	umount2(fixture->dir, MNT_DETACH);
	if (pid < 0)
		skip(); /* no overlay here */
	assert_int_equal(r, 0);
	assert_true(finds_waiter(fixture->cache, id, &mapping));
}

/* A shared object with `nr_functions` functions "space::n<number>::f<i>" of 16 bytes each. */
static void write_elf(const char *path, unsigned int number, unsigned int nr_functions)
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
		strbuf_appendf(&names, "_ZN5space4n%03u6f%05uEv", number % 1000, i);
		strbuf_append_char(&names, '\0');
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

/* A directory like /proc with one process, into which files can be mapped. */
static int open_fake_proc(const struct fixture *fixture)
{
	int fd = open(fixture->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(mkdirat(fd, "7", 0700), 0);
	assert_int_equal(mkdirat(fd, "7/map_files", 0700), 0);
	assert_int_equal(symlinkat("/proc/self/mountinfo", fd, "7/mountinfo"), 0);
	return fd;
}

static int open_as_mapped(const struct fixture *fixture, struct elf_cache *cache, const char *path,
			  uint32_t *ret_id)
{
	struct mapped_file file = { .inode = 1, .dev_major = 1 };
	const struct mapping mapping = { .start = 0x1000, .end = 0x2000, .file = &file };
	char link[128];

	snprintf(link, sizeof(link), "%s/7/map_files/1000-2000", fixture->dir);
	unlink(link);
	assert_int_equal(symlink(path, link), 0);
	return elf_cache_open(cache, FAKE_PID, &mapping, ret_id);
}

static void copies_share_one_table(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_close_ int fake_fd = open_fake_proc(fixture);
	_cleanup_(elf_cache_freep) struct elf_cache *cache = NULL;
	struct symbol_frames frames;
	uint32_t ids[4];
	char path[96];

	cache = new_cache(fake_fd, BUDGET);
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
	assert_int_equal(elf_cache_get_stats(cache).nr_files, 3 + has_vdso(cache));
	assert_int_equal(elf_cache_get_stats(cache).nr_tables, 2 + has_vdso(cache));
}

static void a_name_is_demangled_once(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_close_ int fake_fd = open_fake_proc(fixture);
	_cleanup_(elf_cache_freep) struct elf_cache *cache = NULL;
	struct symbol_frames frames;
	char path[96];
	uint32_t id = 0;

	cache = new_cache(fake_fd, BUDGET);
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
	assert_string_equal(elf_cache_build_id(cache, id), "");
}

static void the_least_recently_used_names_go_first(void **state)
{
	enum { NR_FILES = 12, NR_FUNCTIONS = 1000, TABLE_BYTES = NR_FUNCTIONS * (12 + 24) };
	struct fixture *fixture = *state;
	_cleanup_close_ int fake_fd = open_fake_proc(fixture);
	_cleanup_(elf_cache_freep) struct elf_cache *cache = NULL;
	struct symbol_frames frames;
	uint32_t ids[NR_FILES];
	char path[96];

	cache = new_cache(fake_fd, (size_t)4 * TABLE_BYTES);
	for (unsigned int i = 0; i < NR_FILES; i++) {
		snprintf(path, sizeof(path), "%s/elf%u", fixture->dir, i);
		write_elf(path, i, NR_FUNCTIONS);
		assert_int_equal(open_as_mapped(fixture, cache, path, &ids[i]), 0);
		assert_int_equal(name(cache, ids[i], 0x1010, &frames), 0);
		assert_int_equal(name(cache, ids[0], 0x1010, &frames), 0);
		read_all(cache);
		assert_true(elf_cache_get_stats(cache).nr_bytes <= (size_t)4 * TABLE_BYTES);
	}
	const struct elf_cache_stats stats = elf_cache_get_stats(cache);
	assert_in_range(stats.nr_tables, 2, 4);
	assert_int_equal(stats.nr_evicted + stats.nr_tables, NR_FILES + has_vdso(cache));
	assert_int_equal(name(cache, ids[1], 0x1020, &frames), -ENOENT);
	assert_int_equal(frames.nr_lines, 0);
	assert_int_equal(frames.address, TEXT_ADDRESS + 0x20);
}

static void a_file_that_is_no_elf_is_bad_once(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_close_ int fake_fd = open_fake_proc(fixture);
	_cleanup_(elf_cache_freep) struct elf_cache *cache = NULL;
	struct symbol_frames frames;
	char path[96];
	uint32_t id = 0;

	cache = new_cache(fake_fd, BUDGET);
	snprintf(path, sizeof(path), "%s/text", fixture->dir);
	assert_int_equal(file_write_atomic(path, "nonsense", 8), 0);
	assert_int_equal(open_as_mapped(fixture, cache, path, &id), 0);
	assert_int_equal(name(cache, id, 0x1234, &frames), -EBADMSG);
	assert_int_equal(name(cache, id, 0x1234, &frames), -EBADMSG);
	assert_int_equal(frames.address, 0x1234);
	assert_int_equal(elf_cache_get_stats(cache).nr_bad_files, 1);
	assert_int_equal(name(cache, id + 1, 0x1234, &frames), -ENOENT);
	assert_int_equal(name(cache, 0, 0x1234, &frames), -ENOENT);
}

static void no_more_files_wait_than_may(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_close_ int fake_fd = open_fake_proc(fixture);
	_cleanup_(elf_cache_freep) struct elf_cache *cache = NULL;
	struct symbol_frames frames;
	uint32_t first = 0;
	uint32_t id = 0;
	char path[96];

	cache = new_cache(fake_fd, BUDGET);
	read_all(cache);
	for (unsigned int i = 0; i <= ELF_CACHE_MAX_OPEN; i++) {
		snprintf(path, sizeof(path), "%s/file%u", fixture->dir, i);
		assert_int_equal(file_write_atomic(path, path, strlen(path)), 0);
		assert_int_equal(open_as_mapped(fixture, cache, path, &id),
				 i < ELF_CACHE_MAX_OPEN ? 0 : -ENOSPC);
		first = first ?: id;
	}
	assert_int_equal(elf_cache_get_stats(cache).nr_waiting, ELF_CACHE_MAX_OPEN);
	assert_int_equal(name(cache, first, 0, &frames), -EBADMSG);
	assert_int_equal(open_as_mapped(fixture, cache, path, &id), 0);
}

struct reader {
	const struct fixture *fixture;
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
	struct fixture *fixture = *state;
	_cleanup_close_ int fake_fd = open_fake_proc(fixture);
	_cleanup_(elf_cache_freep) struct elf_cache *cache = NULL;
	struct reader reader = { .fixture = fixture };
	struct symbol_frames frames;
	pthread_t thread;
	char path[96];

	cache = new_cache(fake_fd, (size_t)1 << 17);
	reader.cache = cache;
	for (unsigned int i = 0; i < 20; i++) {
		snprintf(path, sizeof(path), "%s/elf%u", fixture->dir, i);
		write_elf(path, i, 500);
	}
	assert_int_equal(pthread_create(&thread, NULL, open_many, &reader), 0);
	for (unsigned int i = 0; i < 20000; i++) {
		uint32_t nr_ids = __atomic_load_n(&reader.nr_opened, __ATOMIC_ACQUIRE);

		if (nr_ids == 0)
			continue;
		if (i % 16 == 0)
			(void)elf_cache_wait(cache, clock_mono_ns() + NSEC_PER_MSEC);
		if (elf_cache_symbolize(cache, 1 + i % nr_ids, 0x1000 + i % 8000, &frames) == 0)
			assert_int_equal(strncmp(frames.lines[0].name, "space::n0", 9), 0);
		assert_non_null(elf_cache_build_id(cache, 1 + i % nr_ids));
	}
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_deleted_program_still_has_its_names),
		TEST(a_program_replaced_while_it_runs_is_not_mistaken),
		TEST(nobody_waits_for_a_file_longer_than_he_wants),
		TEST(a_process_that_is_gone_is_an_error),
		TEST(a_program_on_a_containers_overlay_has_names),
		TEST(copies_share_one_table),
		TEST(a_name_is_demangled_once),
		TEST(the_least_recently_used_names_go_first),
		TEST(a_file_that_is_no_elf_is_bad_once),
		TEST(no_more_files_wait_than_may),
		TEST(files_are_opened_while_others_are_read),
	};

	if (argc == 2 && strcmp(argv[1], "wait") == 0)
		named_function_of_the_waiter();
	if (is_symbol_worker(argc, argv))
		return symbol_worker_main();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
