/* SPDX-License-Identifier: Apache-2.0 */
/* Debug files that come later than the names of the program, when it may be gone. Who downloads
 * them is this program again, which gives out what it finds in the cache directory, once nobody
 * holds it back. */
#include "elf_cache_fixture.h"
#include "symbol/debuginfod/debuginfod_protocol.h"
#include "worker/worker_process.h"
#include "elf_cache_inside.h"
#include "torture.h"
#include "unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define OFFSET (FUNCTION_OFFSET + 0x10)
#define DOWNLOADED "cache/" FIXTURE_BUILD_ID
#define BARRIER "cache/barrier"
#define HELD_NS (20 * NSEC_PER_MSEC)

struct downloads {
	struct elf_cache_fixture *fixture;
	char cache_dir[FIXTURE_PATH_BYTES];
	struct debuginfod *debuginfod;
	struct debuginfod_stats before; /* the kernel's file was asked for, too */
};

static const struct fixture_file stripped = {
	.exported = "exported",
	.build_id = FIXTURE_BUILD_ID,
};

static const struct fixture_file debug = {
	.function = "by_debug_file",
	.build_id = FIXTURE_BUILD_ID,
	.has_debug_info = true,
	.lines = INVENTS,
};

/* Until all that was asked for is answered, and read. */
static void await_downloads(const struct downloads *downloads)
{
	uint64_t deadline_ns = clock_mono_ns() + FIXTURE_WAIT_NS;

	do {
		assert_true(clock_mono_ns() < deadline_ns);
		(void)elf_cache_wait(downloads->fixture->cache, clock_mono_ns() + HELD_NS);
	} while (debuginfod_get_stats(downloads->debuginfod).nr_waiting > 0);
	read_all(downloads->fixture);
}

static uint64_t count_asked(const struct downloads *downloads)
{
	return debuginfod_get_stats(downloads->debuginfod).nr_asked - downloads->before.nr_asked;
}

static int set_up(void **state)
{
	struct downloads *downloads = test_calloc(1, sizeof(*downloads));
	struct debuginfod_opts opts = {
		.urls = "http://127.0.0.1:1",
		.max_cache_bytes = 1 << 20,
		.max_file_bytes = 1 << 20,
		.timeout_ns = 30 * NSEC_PER_SEC,
	};
	void *fixture;

	assert_int_equal(elf_cache_fixture_set_up(&fixture), 0);
	downloads->fixture = fixture;
	path_in(fixture, ON_HOST, "cache", downloads->cache_dir);
	assert_int_equal(mkdir(downloads->cache_dir, 0700), 0);
	opts.cache_dir = downloads->cache_dir;
	assert_int_equal(debuginfod_new(&opts, &downloads->debuginfod), 0);
	downloads->fixture->opts.debuginfod = downloads->debuginfod;
	elf_cache_fixture_start(downloads->fixture);
	await_downloads(downloads);
	downloads->before = debuginfod_get_stats(downloads->debuginfod);
	*state = downloads;
	return 0;
}

static int tear_down(void **state)
{
	struct downloads *downloads = *state;
	void *fixture = downloads->fixture;

	elf_cache_free(take_ptr(downloads->fixture->cache));
	debuginfod_free(downloads->debuginfod);
	elf_cache_fixture_tear_down(&fixture);
	test_free(downloads);
	return 0;
}

static void hold_back(const struct downloads *downloads)
{
	make_file(downloads->fixture, ON_HOST, BARRIER, &stripped);
}

static void let_go(const struct downloads *downloads)
{
	char path[FIXTURE_PATH_BYTES];

	path_in(downloads->fixture, ON_HOST, BARRIER, path);
	assert_int_equal(unlink(path), 0);
}

/* A minute is long. */
static void ask_again(const struct downloads *downloads)
{
	inside_ask_downloads_again(inside_downloads(inside_client(downloads->fixture->cache)));
	(void)elf_cache_wait(downloads->fixture->cache, 0);
}

static void a_debug_file_that_is_there_names_at_once(void **state)
{
	struct downloads *downloads = *state;

	make_file(downloads->fixture, ON_HOST, DOWNLOADED, &debug);
	uint32_t id = add_file(downloads->fixture, IN_ONE, "bin/a", &stripped);
	assert_string_equal(outer_name(downloads->fixture, id, OFFSET), "src::outer");
	assert_int_equal(stats_of(downloads->fixture).nr_debug_files, 1);
}

static void a_debug_file_that_comes_later_names_what_is_named_later(void **state)
{
	struct downloads *downloads = *state;

	hold_back(downloads);
	make_file(downloads->fixture, ON_HOST, DOWNLOADED, &debug);
	uint32_t id = add_file(downloads->fixture, IN_ONE, "bin/a", &stripped);
	assert_string_equal(outer_name(downloads->fixture, id, OFFSET), "exported");
	let_go(downloads);
	await_downloads(downloads);
	assert_string_equal(outer_name(downloads->fixture, id, OFFSET), "src::outer");
}

static void what_no_server_has_costs_nothing(void **state)
{
	struct downloads *downloads = *state;

	uint32_t id = add_file(downloads->fixture, IN_ONE, "bin/a", &stripped);
	assert_string_equal(outer_name(downloads->fixture, id, OFFSET), "exported");
	await_downloads(downloads);
	assert_string_equal(outer_name(downloads->fixture, id, OFFSET), "exported");
	assert_int_equal(debuginfod_get_stats(downloads->debuginfod).nr_missing,
			 downloads->before.nr_missing + 1);
	ask_again(downloads);
	assert_int_equal(count_asked(downloads), 1);
}

static void programs_with_symbols_and_lines_are_not_asked_for(void **state)
{
	struct downloads *downloads = *state;
	const struct fixture_file nameless = { .exported = "exported" };

	uint32_t whole = add_file(downloads->fixture, IN_ONE, "bin/a", &debug);
	assert_string_equal(outer_name(downloads->fixture, whole, OFFSET), "src::outer");
	uint32_t id = add_file(downloads->fixture, IN_ONE, "bin/b", &nameless);
	assert_string_equal(outer_name(downloads->fixture, id, OFFSET), "exported");
	assert_int_equal(count_asked(downloads), 0);
}

/* It would come from the disk at once, time and again. */
static void a_download_that_is_no_good_is_not_asked_for_again(void **state)
{
	static const enum fixture_fate fates[] = { DIES, FAILS, TALKS_NONSENSE, ANSWERS };
	struct downloads *downloads = *state;

	for (size_t i = 0; i < sizeof(fates) / sizeof(fates[0]); i++) {
		struct fixture_file bad = debug;
		uint64_t nr_asked = count_asked(downloads);

		bad.table = fates[i];
		if (fates[i] == ANSWERS)
			bad.build_id = NULL;
		make_file(downloads->fixture, ON_HOST, DOWNLOADED, &bad);
		elf_cache_fixture_start(downloads->fixture);
		uint32_t id = add_file(downloads->fixture, IN_ONE, "bin/a", &stripped);
		read_all(downloads->fixture);
		for (unsigned int k = 0; k < 10; k++) {
			assert_string_equal(outer_name(downloads->fixture, id, OFFSET + k),
					    "exported");
			ask_again(downloads);
			await_downloads(downloads);
		}
		assert_int_equal(count_asked(downloads), nr_asked + 1);
		assert_int_equal(stats_of(downloads->fixture).nr_debug_files, 0);
	}
}

/* Nobody has the table any more for which it was asked for. */
static void what_comes_for_a_table_that_is_gone_is_for_its_successor(void **state)
{
	struct downloads *downloads = *state;
	struct elf_cache_fixture *fixture = downloads->fixture;
	uint32_t again = 0;

	hold_back(downloads);
	make_file(fixture, ON_HOST, DOWNLOADED, &debug);
	uint32_t id = add_file(fixture, IN_ONE, "bin/a", &stripped);
	assert_string_equal(outer_name(fixture, id, OFFSET), "exported");
	inside_drop_names(fixture->cache, clock_mono_ns() - FILE_REGISTRY_REOPEN_NS);
	assert_int_equal(open_mapped(fixture, IN_ONE, "bin/a", &again), 0);
	assert_int_equal(again, id);
	assert_string_equal(outer_name(fixture, id, OFFSET + 1), "exported");
	let_go(downloads);
	await_downloads(downloads);
	assert_string_equal(outer_name(fixture, id, OFFSET), "src::outer");
	assert_int_equal(count_asked(downloads), 1);
}

static void what_comes_for_nobody_is_closed(void **state)
{
	struct downloads *downloads = *state;
	struct elf_cache_fixture *fixture = downloads->fixture;

	hold_back(downloads);
	make_file(fixture, ON_HOST, DOWNLOADED, &debug);
	uint32_t id = add_file(fixture, IN_ONE, "bin/a", &stripped);
	assert_string_equal(outer_name(fixture, id, OFFSET), "exported");
	inside_drop_names(fixture->cache, clock_mono_ns());
	size_t nr_before = count_descriptors();
	let_go(downloads);
	await_downloads(downloads);
	assert_int_equal(count_descriptors(), nr_before);
	assert_int_equal(stats_of(fixture).nr_debug_files, 0);
	assert_int_equal(debuginfod_get_stats(downloads->debuginfod).nr_found, 1);
	assert_string_equal(outer_name(fixture, id, OFFSET + 1), "");
}

/* Two tables of one build, which do not have all in common. */
static void who_asked_second_gets_it_later(void **state)
{
	struct downloads *downloads = *state;
	struct elf_cache_fixture *fixture = downloads->fixture;
	struct fixture_file second = stripped;

	second.number = 1;
	hold_back(downloads);
	make_file(fixture, ON_HOST, DOWNLOADED, &debug);
	uint32_t ids[] = { add_file(fixture, IN_ONE, "bin/a", &stripped),
			   add_file(fixture, IN_OTHER, "bin/a", &second) };
	assert_string_equal(outer_name(fixture, ids[0], OFFSET), "exported");
	assert_string_equal(outer_name(fixture, ids[1], OFFSET), "exported");
	let_go(downloads);
	await_downloads(downloads);
	ask_again(downloads);
	await_downloads(downloads);
	assert_string_equal(outer_name(fixture, ids[0], OFFSET), "src::outer");
	assert_string_equal(outer_name(fixture, ids[1], OFFSET), "src::outer");
	assert_int_equal(stats_of(fixture).nr_debug_files, 2);
}

/* The host's files come first, and no container's word counts for what others have, too. */
static void what_is_on_disk_is_not_asked_for(void **state)
{
	struct downloads *downloads = *state;

	make_file(downloads->fixture, ON_HOST, FIXTURE_DEBUG_PATH, &debug);
	uint32_t id = add_file(downloads->fixture, IN_ONE, "bin/a", &stripped);
	assert_string_equal(outer_name(downloads->fixture, id, OFFSET), "src::outer");
	assert_int_equal(count_asked(downloads), 0);
}

static void a_failed_allocation_costs_names_alone(void **state)
{
	struct downloads *downloads = *state;
	struct elf_cache_fixture *fixture = downloads->fixture;
	bool has_failed = true;

	make_file(fixture, ON_HOST, DOWNLOADED, &debug);
	for (unsigned int n = 1; has_failed; n++) {
		elf_cache_fixture_start(fixture);
		uint32_t id = add_file(fixture, IN_ONE, "bin/a", &stripped);
		torture_begin(n);
		(void)elf_cache_ask(fixture->cache, id, OFFSET);
		(void)elf_cache_wait(fixture->cache, clock_mono_ns() + FIXTURE_WAIT_NS);
		(void)elf_cache_ask(fixture->cache, id, OFFSET);
		(void)elf_cache_wait(fixture->cache, clock_mono_ns() + FIXTURE_WAIT_NS);
		has_failed = torture_end();
		const char *name = outer_name(fixture, id, OFFSET);
		assert_true(has_failed || strcmp(name, "src::outer") == 0);
		await_downloads(downloads);
	}
}

static int send_reply(const struct debuginfod_reply *reply, int fd)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec bytes = { (void *)(uintptr_t)reply, sizeof(*reply) };
	struct msghdr message = { .msg_iov = &bytes, .msg_iovlen = 1 };

	if (fd >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control.space);
		control.header = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(fd)),
						   .cmsg_level = SOL_SOCKET,
						   .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	return sendmsg(WORKER_PROCESS_SOCKET_FD, &message, MSG_NOSIGNAL) == sizeof(*reply) ? 0 : -1;
}

static int be_debuginfod_worker(void)
{
	const char *dir = getenv("DEBUGINFOD_CACHE_PATH");
	struct debuginfod_request request;
	char path[FIXTURE_PATH_BYTES];

	while (dir && recv(WORKER_PROCESS_SOCKET_FD, &request, sizeof(request), MSG_WAITALL) ==
			      sizeof(request)) {
		snprintf(path, sizeof(path), "%s/barrier", dir);
		while (access(path, F_OK) == 0)
			usleep(1000);
		snprintf(path, sizeof(path), "%s/%.64s", dir, request.build_id);
		_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
		const struct debuginfod_reply reply = { .error = fd < 0 ? -ENOENT : 0 };
		if (send_reply(&reply, fd) < 0)
			return 1;
	}
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(a_debug_file_that_is_there_names_at_once),
		TEST(a_debug_file_that_comes_later_names_what_is_named_later),
		TEST(what_no_server_has_costs_nothing),
		TEST(programs_with_symbols_and_lines_are_not_asked_for),
		TEST(a_download_that_is_no_good_is_not_asked_for_again),
		TEST(what_comes_for_a_table_that_is_gone_is_for_its_successor),
		TEST(what_comes_for_nobody_is_closed),
		TEST(who_asked_second_gets_it_later),
		TEST(what_is_on_disk_is_not_asked_for),
		TEST(a_failed_allocation_costs_names_alone),
	};

	if (is_symbol_worker(argc, argv))
		return elf_cache_fixture_worker();
	if (argc > 1 && strcmp(argv[1], DEBUGINFOD_WORKER_COMMAND) == 0)
		return be_debuginfod_worker();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
