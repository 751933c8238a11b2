/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_cache_fixture.h"

#include "base/array.h"
#include "base/fileio.h"
#include "symbol/dwarf/lines_writer.h"
#include "worker/worker_channel.h"
#include "worker/worker_process.h"
#include "remove_tree.h"
#include "unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <zlib.h>

#define ADDRESS_START UINT64_C(0x1000)
#define ADDRESS_END UINT64_C(0x2000)
#define MAX_REQUEST_BYTES SYMBOL_REQUEST_MAX_BYTES

static const char *const root_names[] = {
	[ON_HOST] = "host",
	[IN_ONE] = "one",
	[IN_OTHER] = "other",
};

/* The last bytes of each file. */
struct fates {
	char magic[8];
	uint8_t by_request[8];
};

static const char fates_magic[8] = "fates";

static void make_process(const struct elf_cache_fixture *fixture, enum fixture_root root)
{
	char path[FIXTURE_PATH_BYTES];
	char target[FIXTURE_PATH_BYTES];

	snprintf(target, sizeof(target), "%s/%s", fixture->dir, root_names[root]);
	assert_int_equal(mkdir(target, 0755), 0);
	snprintf(path, sizeof(path), "%s/proc/%d", fixture->dir, (int)root);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/proc/%d/map_files", fixture->dir, (int)root);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/proc/%d/mountinfo", fixture->dir, (int)root);
	assert_int_equal(symlink("/proc/self/mountinfo", path), 0);
	snprintf(path, sizeof(path), "%s/proc/%d/root", fixture->dir, (int)root);
	assert_int_equal(symlink(target, path), 0);
}

int elf_cache_fixture_set_up(void **state)
{
	struct elf_cache_fixture *fixture = test_calloc(1, sizeof(*fixture));
	char path[FIXTURE_PATH_BYTES];

	snprintf(fixture->dir, sizeof(fixture->dir), "/tmp/elf_cache.XXXXXX");
	assert_non_null(mkdtemp(fixture->dir));
	snprintf(path, sizeof(path), "%s/proc", fixture->dir);
	assert_int_equal(mkdir(path, 0755), 0);
	fixture->proc_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(fixture->proc_fd >= 0);
	for (enum fixture_root root = ON_HOST; root <= IN_OTHER; root++)
		make_process(fixture, root);
	path_in(fixture, ON_HOST, "", path);
	fixture->host_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(fixture->host_fd >= 0);
	fixture->opts = (struct elf_cache_opts){
		.proc_fd = fixture->proc_fd,
		.max_bytes = FIXTURE_BUDGET,
		.demangle = DEMANGLE_SHORT,
		.wants_lines = true,
		.debug_files = { .host_root_fd = fixture->host_fd,
				 .debug_dir = DEBUG_FILES_DEFAULT_DIR },
	};
	*state = fixture;
	return 0;
}

int elf_cache_fixture_tear_down(void **state)
{
	struct elf_cache_fixture *fixture = *state;

	elf_cache_free(fixture->cache);
	close(fixture->proc_fd);
	close(fixture->host_fd);
	remove_tree(fixture->dir);
	test_free(fixture);
	return 0;
}

void elf_cache_fixture_start(struct elf_cache_fixture *fixture)
{
	elf_cache_free(take_ptr(fixture->cache));
	assert_int_equal(elf_cache_new(&fixture->opts, &fixture->cache), 0);
}

void path_in(const struct elf_cache_fixture *fixture, enum fixture_root root, const char *path,
	     char ret_path[static FIXTURE_PATH_BYTES])
{
	int n = snprintf(ret_path, FIXTURE_PATH_BYTES, "%s/%s/%s", fixture->dir, root_names[root],
			 path);

	assert_in_range(n, 0, FIXTURE_PATH_BYTES - 1);
}

static void make_directories_above(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
		*slash = '/';
	}
}

static void add_bytes_of_id(struct strbuf *out, const char *build_id)
{
	for (; build_id[0] && build_id[1]; build_id += 2) {
		unsigned int byte;

		assert_int_equal(sscanf(build_id, "%2x", &byte), 1);
		strbuf_append_char(out, (char)byte);
	}
}

static void add_build_id(struct elf_maker *maker, const char *build_id)
{
	_cleanup_(strbuf_done) struct strbuf note = strbuf_with_max(256);
	const Elf64_Nhdr header = {
		.n_namesz = sizeof("GNU"),
		.n_descsz = (uint32_t)strlen(build_id) / 2,
		.n_type = NT_GNU_BUILD_ID,
	};

	strbuf_append(&note, &header, sizeof(header));
	strbuf_append(&note, "GNU", sizeof("GNU"));
	add_bytes_of_id(&note, build_id);
	elf_maker_add(maker, ".note.gnu.build-id",
		      (Elf64_Shdr){ .sh_type = SHT_NOTE, .sh_flags = SHF_ALLOC }, note.data,
		      note.len);
}

static void add_link(struct elf_maker *maker, const struct fixture_file *file)
{
	char bytes[64] = "";
	size_t len = (strlen(file->link_name) + 4) / 4 * 4;

	assert_true(len + sizeof(file->link_crc) <= sizeof(bytes));
	memcpy(bytes, file->link_name, strlen(file->link_name));
	memcpy(bytes + len, &file->link_crc, sizeof(file->link_crc));
	elf_maker_add_plain(maker, ".gnu_debuglink", bytes, len + sizeof(file->link_crc));
}

static void add_alt_link(struct elf_maker *maker, const char *build_id)
{
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(256);

	strbuf_append(&bytes, "alt.debug", sizeof("alt.debug"));
	add_bytes_of_id(&bytes, build_id);
	elf_maker_add_plain(maker, ".gnu_debugaltlink", bytes.data, bytes.len);
}

static void add_sections(struct elf_maker *maker, const struct fixture_file *file)
{
	const struct maker_symbol own[] = { { file->function, 0, FUNCTION_BYTES }, { 0 } };
	const struct maker_symbol exported[] = { { file->exported, 0, FUNCTION_BYTES }, { 0 } };
	char number[32];

	if (file->function)
		elf_maker_add_symbols(maker, SHT_SYMTAB, own);
	if (file->exported)
		elf_maker_add_symbols(maker, SHT_DYNSYM, exported);
	if (file->build_id)
		add_build_id(maker, file->build_id);
	if (file->link_name)
		add_link(maker, file);
	if (file->alt_link)
		add_alt_link(maker, file->alt_link);
	if (file->has_debug_info)
		elf_maker_add_plain(maker, ".debug_info", &file->debug_number,
				    sizeof(file->debug_number));
	snprintf(number, sizeof(number), ".number%u", file->number);
	elf_maker_add_plain(maker, number, "", 0);
	if (file->extra)
		elf_maker_add_plain(maker, ".gnu_debugdata", file->extra, file->extra_len);
}

void write_file(const struct elf_cache_fixture *fixture, enum fixture_root root, const char *path,
		const void *bytes, size_t len)
{
	char full_path[FIXTURE_PATH_BYTES];

	path_in(fixture, root, path, full_path);
	make_directories_above(full_path);
	assert_int_equal(file_write_atomic(full_path, bytes, len), 0);
}

uint32_t make_file(const struct elf_cache_fixture *fixture, enum fixture_root root,
		   const char *path, const struct fixture_file *file)
{
	_cleanup_(elf_maker_done) struct elf_maker maker;
	struct fates fates = {
		.by_request = { [SYMBOL_REQUEST_TABLE] = (uint8_t)file->table,
				[SYMBOL_REQUEST_CRC] = (uint8_t)file->crc,
				[SYMBOL_REQUEST_LINES] = (uint8_t)file->lines,
				[SYMBOL_REQUEST_FINGERPRINT] = (uint8_t)file->fingerprint },
	};

	elf_maker_init(&maker);
	add_sections(&maker, file);
	elf_maker_finish(&maker);
	memcpy(fates.magic, fates_magic, sizeof(fates_magic));
	strbuf_append(&maker.bytes, &fates, sizeof(fates));
	write_file(fixture, root, path, maker.bytes.data, maker.bytes.len);
	return (uint32_t)crc32(0, (const Bytef *)maker.bytes.data, (uInt)maker.bytes.len);
}

static void identify(const char *path, struct mapped_file *file)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	file->inode = st.st_ino;
	file->dev_major = major(st.st_dev);
	file->dev_minor = minor(st.st_dev);
}

int open_mapped(struct elf_cache_fixture *fixture, enum fixture_root root, const char *path,
		uint32_t *ret_id)
{
	char path_in_root[FIXTURE_PATH_BYTES];
	char target[FIXTURE_PATH_BYTES];
	char link[FIXTURE_PATH_BYTES];
	struct mapped_file file = { .path = path_in_root };
	const struct mapping mapping = { .start = ADDRESS_START,
					 .end = ADDRESS_END,
					 .file = &file };

	snprintf(path_in_root, sizeof(path_in_root), "/%s", path);
	snprintf(link, sizeof(link), "%s/proc/%d/map_files/1000-2000", fixture->dir, (int)root);
	path_in(fixture, root, path, target);
	identify(target, &file);
	unlink(link);
	assert_int_equal(symlink(target, link), 0);
	return elf_cache_open(fixture->cache, (uint64_t)root, (uint32_t)root, &mapping, ret_id);
}

uint32_t add_file(struct elf_cache_fixture *fixture, enum fixture_root root, const char *path,
		  const struct fixture_file *file)
{
	uint32_t id = 0;

	make_file(fixture, root, path, file);
	assert_int_equal(open_mapped(fixture, root, path, &id), 0);
	return id;
}

void read_all(const struct elf_cache_fixture *fixture)
{
	assert_true(elf_cache_wait(fixture->cache, clock_mono_ns() + FIXTURE_WAIT_NS));
}

int name_fully(const struct elf_cache_fixture *fixture, uint32_t id, uint64_t offset,
	       struct symbol_frames *ret_frames)
{
	for (unsigned int i = 0; !elf_cache_ask(fixture->cache, id, offset); i++) {
		assert_true(i < 4);
		read_all(fixture);
	}
	return elf_cache_symbolize(fixture->cache, id, offset, ret_frames);
}

const char *outer_name(const struct elf_cache_fixture *fixture, uint32_t id, uint64_t offset)
{
	struct symbol_frames frames;

	return name_fully(fixture, id, offset, &frames) == 0
		       ? frames.lines[frames.nr_lines - 1].name
		       : "";
}

struct elf_cache_stats stats_of(const struct elf_cache_fixture *fixture)
{
	return elf_cache_get_stats(fixture->cache);
}

size_t count_descriptors(void)
{
	_cleanup_closedir_ DIR *dir = opendir("/proc/self/fd");
	size_t nr = 0;

	assert_non_null(dir);
	while (readdir(dir))
		nr++;
	return nr;
}

/* The first name of a request says what to do with all of them. */
static enum fixture_fate fate_of_names(const struct worker_call *call)
{
	const char *first = call->bytes + sizeof(struct names_header);

	if (strcmp(first, FIXTURE_DYING_NAME) == 0)
		return DIES;
	return strcmp(first, FIXTURE_NONSENSE_NAME) == 0 ? TALKS_NONSENSE : ANSWERS;
}

static enum fixture_fate fate_of(const struct worker_call *call)
{
	struct fates fates;
	struct stat st;

	if (call->request.kind == SYMBOL_REQUEST_NAMES)
		return fate_of_names(call);

	if (call->nr_fds == 0 || fstat(call->fds[0], &st) < 0 || call->request.kind >= 8 ||
	    pread(call->fds[0], &fates, sizeof(fates), st.st_size - (off_t)sizeof(fates)) !=
		    sizeof(fates) ||
	    memcmp(fates.magic, fates_magic, sizeof(fates_magic)) != 0)
		return ANSWERS;
	return fates.by_request[call->request.kind];
}

/* A unit for each address, as long as one byte. */
static int invent_unit(struct lines_writer *writer, uint64_t address, struct strbuf *reply)
{
	lines_writer_begin(writer, address);
	lines_writer_add_range(writer, address, address + 1);
	uint32_t header = lines_writer_add_file(writer, "/src/inner.h");
	uint32_t source = lines_writer_add_file(writer, "/src/outer.cc");
	const struct lines_function outer = { .caller = LINES_NO_FUNCTION };
	const struct lines_function inner = { .start_line = 7,
					      .call_file = source,
					      .call_line = 20 };
	const struct lines_row row = { .line = (uint32_t)address, .file = header, .function = 2 };

	lines_writer_add_function(writer, FIXTURE_OUTER, &outer);
	lines_writer_add_function(writer, FIXTURE_INNER, &inner);
	lines_writer_add_row(writer, address, &row);
	return lines_writer_finish(writer, (uint32_t)address, LANGUAGE_UNKNOWN, reply);
}

static int invent_lines(const struct worker_call *call, struct strbuf *reply)
{
	_cleanup_(lines_writer_done) struct lines_writer writer = lines_writer_with_max(
		call->request.max_bytes);
	const uint64_t *addresses = (const uint64_t *)(const void *)call->bytes;
	size_t nr_addresses = call->request.nr_bytes / sizeof(*addresses);
	int r = 0;

	for (size_t i = 0; i < nr_addresses && r == 0; i++)
		r = invent_unit(&writer, addresses[i], reply);
	return r;
}

static int answer(struct worker_call *call, struct strbuf *reply)
{
	const struct timespec slow = clock_timespec(FIXTURE_SLOW_NS);
	const struct timespec fast_lane = clock_timespec(WORKER_LANES_FAST_NS + NSEC_PER_SEC);

	switch (fate_of(call)) {
	case DIES:
		_exit(1);
	case HANGS:
		for (;;)
			pause();
	case FAILS:
		return -EIO;
	case TALKS_NONSENSE:
		strbuf_append_str(reply, "nonsense, and more of it, and more of it");
		return 0;
	case INVENTS:
		return invent_lines(call, reply);
	case IS_SLOW:
		nanosleep(&slow, NULL);
		break;
	case NEEDS_TIME:
		nanosleep(&fast_lane, NULL);
		break;
	case ANSWERS:
		break;
	}
	return symbol_worker_answer(call, reply, NULL);
}

int elf_cache_fixture_worker(void)
{
	static struct worker_call call;

	if (symbol_worker_prepare_names() < 0)
		return 1;
	while (worker_channel_receive_request(WORKER_PROCESS_SOCKET_FD, MAX_REQUEST_BYTES, &call) ==
	       1) {
		_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(
			(size_t)call.request.max_bytes);
		int r = answer(&call, &bytes);
		const struct worker_reply reply = {
			.error = r,
			.nr_bytes = r == 0 ? (uint32_t)bytes.len : 0,
		};

		worker_call_done(&call);
		if (worker_channel_send_reply(WORKER_PROCESS_SOCKET_FD, &reply, bytes.data) < 0)
			return 1;
	}
	return 0;
}
