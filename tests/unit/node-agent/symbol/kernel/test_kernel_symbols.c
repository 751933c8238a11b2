/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/kernel/kernel_symbols.h"

#include "base/fileio.h"
#include "unit.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)
#define NOWHERE UINT64_C(0xffffffffb0000000)
#define PROGRAM UINT64_C(0xffffffffc0001000)
#define CORE "ffffffff81000000 T do_the_work\n"
#define OLD_PROGRAM "ffffffffc0000000 t bpf_prog_0_old\t[bpf]\n"
#define NEW_PROGRAM "ffffffffc0001000 t bpf_prog_1_new\t[bpf]\n"

/* A directory in place of /proc. */
struct fixture {
	char dir[32];
	char path[64];
	int fd;
	int watch_fd;
	uint64_t nr_readings;
	struct kernel_symbols *symbols;
};

static void write_list(struct fixture *fixture, const char *text)
{
	assert_int_equal(file_write_atomic(fixture->path, text, strlen(text)), 0);
}

static int set_up(void **state)
{
	static struct fixture fixture;

	fixture = (struct fixture){ .dir = "/tmp/flamelet-kernel-XXXXXX" };
	if (!mkdtemp(fixture.dir))
		return -1;
	snprintf(fixture.path, sizeof(fixture.path), "%s/kallsyms", fixture.dir);
	fixture.fd = open(fixture.dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	fixture.watch_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	*state = &fixture;
	return fixture.fd < 0 || inotify_add_watch(fixture.watch_fd, fixture.dir, IN_OPEN) < 0 ? -1
											       : 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	kernel_symbols_free(fixture->symbols);
	close(fixture->fd);
	close(fixture->watch_fd);
	unlink(fixture->path);
	return rmdir(fixture->dir);
}

static void start(struct fixture *fixture, int expected_error)
{
	int error = 1;

	assert_int_equal(kernel_symbols_new(fixture->fd, 0, &error, &fixture->symbols), 0);
	assert_int_equal(error, expected_error);
}

/* The name of an address at a time, "" for none. */
static const char *name_at(struct fixture *fixture, uint64_t address, uint64_t seconds)
{
	const char *module = NULL;
	const char *name = kernel_symbols_find(fixture->symbols, address, seconds * SECOND,
					       &module);

	assert_true(!name || module);
	return name ? name : "";
}

/* How often the list was opened so far. */
static uint64_t nr_readings(struct fixture *fixture)
{
	_Alignas(struct inotify_event) char events[4096];
	ssize_t len;

	while ((len = read(fixture->watch_fd, events, sizeof(events))) > 0) {
		const struct inotify_event *event;

		for (ssize_t pos = 0; pos < len; pos += (ssize_t)(sizeof(*event) + event->len)) {
			event = (const void *)(events + pos);
			fixture->nr_readings += event->len > 0 &&
						strcmp(event->name, "kallsyms") == 0;
		}
	}
	return fixture->nr_readings;
}

static void a_program_loaded_later_gets_its_name(void **state)
{
	struct fixture *fixture = *state;

	write_list(fixture, CORE OLD_PROGRAM);
	start(fixture, 0);
	write_list(fixture, CORE OLD_PROGRAM NEW_PROGRAM);
	assert_string_equal(name_at(fixture, PROGRAM, 9), "bpf_prog_0_old");
	assert_string_equal(name_at(fixture, PROGRAM, 10), "bpf_prog_1_new");
	assert_string_equal(name_at(fixture, PROGRAM - 1, 10), "bpf_prog_0_old");
	assert_int_equal(nr_readings(fixture), 2);
}

static void an_address_in_no_function_is_looked_up_again(void **state)
{
	struct fixture *fixture = *state;

	write_list(fixture, CORE);
	start(fixture, 0);
	write_list(fixture, CORE NEW_PROGRAM);
	assert_string_equal(name_at(fixture, PROGRAM, 1), "");
	assert_string_equal(name_at(fixture, PROGRAM, 10), "bpf_prog_1_new");
}

static void programs_that_went_lose_their_names(void **state)
{
	struct fixture *fixture = *state;

	write_list(fixture, CORE NEW_PROGRAM);
	start(fixture, 0);
	write_list(fixture, CORE);
	assert_string_equal(name_at(fixture, PROGRAM, 9), "bpf_prog_1_new");
	assert_string_equal(name_at(fixture, PROGRAM, 10), "");
}

static void the_kernels_own_functions_cause_no_reading(void **state)
{
	struct fixture *fixture = *state;

	write_list(fixture, CORE);
	start(fixture, 0);
	for (uint64_t second = 0; second < 10000; second += 10)
		assert_string_equal(name_at(fixture, 0xffffffff81000008, second), "do_the_work");
	assert_int_equal(nr_readings(fixture), 1);
}

static void readings_in_vain_become_rare(void **state)
{
	static const uint64_t seconds[] = { 0,	 10,   30,   70,   150,	 310,
					    630, 1230, 1830, 2430, 3030, 3630 };
	struct fixture *fixture = *state;
	uint64_t next = 1;

	write_list(fixture, CORE);
	start(fixture, 0);
	for (uint64_t second = 0; second <= 3600; second++) {
		if (second == seconds[next])
			next++;
		assert_string_equal(name_at(fixture, NOWHERE, second), "");
		assert_int_equal(nr_readings(fixture), next);
	}
	write_list(fixture, CORE "ffffffffb0000000 t found\t[late]\n");
	assert_string_equal(name_at(fixture, NOWHERE, 3629), "");
	assert_string_equal(name_at(fixture, NOWHERE, 3630), "found");
	write_list(fixture, CORE "ffffffffb0000000 t changed\t[late]\n");
	assert_string_equal(name_at(fixture, NOWHERE, 3639), "found");
	assert_string_equal(name_at(fixture, NOWHERE, 3640), "changed");
}

/* However long readings were in vain. */
static void a_change_that_was_told_is_read_soon(void **state)
{
	struct fixture *fixture = *state;

	write_list(fixture, CORE OLD_PROGRAM);
	start(fixture, 0);
	for (uint64_t second = 0; second < 1000; second++)
		name_at(fixture, PROGRAM, second);
	write_list(fixture, CORE OLD_PROGRAM NEW_PROGRAM);
	assert_string_equal(name_at(fixture, PROGRAM, 1000), "bpf_prog_0_old");
	kernel_symbols_outdate(fixture->symbols, 1000 * SECOND);
	assert_string_equal(name_at(fixture, PROGRAM, 1001), "bpf_prog_1_new");
	uint64_t nr = nr_readings(fixture);
	assert_string_equal(name_at(fixture, PROGRAM, 1003), "bpf_prog_1_new");
	kernel_symbols_outdate(fixture->symbols, 1000 * SECOND);
	assert_string_equal(name_at(fixture, PROGRAM, 1004), "bpf_prog_1_new");
	assert_int_equal(nr_readings(fixture), nr);
}

static void a_list_that_cannot_be_read_is_tried_again(void **state)
{
	struct fixture *fixture = *state;

	start(fixture, -ENOENT);
	assert_string_equal(name_at(fixture, NOWHERE, 5), "");
	write_list(fixture, "0000000000000000 T do_the_work\n");
	assert_string_equal(name_at(fixture, 0xffffffff81000000, 10), "");
	write_list(fixture, CORE);
	assert_string_equal(name_at(fixture, 0xffffffff81000000, 29), "");
	assert_string_equal(name_at(fixture, 0xffffffff81000000, 30), "do_the_work");
}

static void a_reading_that_fails_leaves_the_old_list(void **state)
{
	struct fixture *fixture = *state;

	write_list(fixture, CORE NEW_PROGRAM);
	start(fixture, 0);
	write_list(fixture, "junk\n");
	assert_string_equal(name_at(fixture, PROGRAM, 10), "bpf_prog_1_new");
	unlink(fixture->path);
	assert_string_equal(name_at(fixture, PROGRAM, 30), "bpf_prog_1_new");
	write_list(fixture, "bad\n" CORE "ffffffffc0001000 t bpf_prog_2_newer\t[bpf]\n");
	assert_string_equal(name_at(fixture, PROGRAM, 70), "bpf_prog_2_newer");
}

/* A socket filter that returns 0. Skips the test where that is not allowed. */
static int load_program(const char *name)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
		.insns = (uint64_t)(uintptr_t)insns,
		.insn_cnt = array_len(insns),
		.license = (uint64_t)(uintptr_t) "GPL",
	};

	memcpy(attr.prog_name, name, strnlen(name, sizeof(attr.prog_name) - 1));
	int fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	if (fd < 0)
		skip(); /* needs CAP_BPF */
	return fd;
}

/* Where the kernel has put its machine code; 0 when it has none or does not tell. */
static uint64_t address_of_program(int fd)
{
	uint64_t address = 0;
	struct bpf_prog_info info = {
		.nr_jited_ksyms = 1,
		.jited_ksyms = (uint64_t)(uintptr_t)&address,
	};
	union bpf_attr attr = {
		.info = {
			.bpf_fd = (uint32_t)fd,
			.info_len = sizeof(info),
			.info = (uint64_t)(uintptr_t)&info,
		},
	};

	return syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr)) == 0 ? address : 0;
}

static void a_real_bpf_program_loaded_later_is_named(void **state)
{
	_cleanup_(kernel_symbols_freep) struct kernel_symbols *symbols = NULL;
	_cleanup_close_ int proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const char *module = "";
	int error;
	(void)state;

	assert_int_equal(kernel_symbols_new(proc_fd, 0, &error, &symbols), 0);
	if (error < 0)
		skip(); /* this kernel hides its addresses */

	_cleanup_close_ int program_fd = load_program("flamelet_later");
	uint64_t address = address_of_program(program_fd);
	if (address == 0)
		skip(); /* no JIT */

	const char *name = kernel_symbols_find(symbols, address, 9 * SECOND, &module);
	assert_true(!name || !strstr(name, "flamelet_later"));
	name = kernel_symbols_find(symbols, address, 10 * SECOND, &module);
	assert_non_null(name);
	assert_non_null(strstr(name, "flamelet_later"));
	assert_string_equal(module, "bpf");
}

int main(void)
{
#define FIXTURE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(a_program_loaded_later_gets_its_name),
		FIXTURE_TEST(an_address_in_no_function_is_looked_up_again),
		FIXTURE_TEST(programs_that_went_lose_their_names),
		FIXTURE_TEST(the_kernels_own_functions_cause_no_reading),
		FIXTURE_TEST(readings_in_vain_become_rare),
		FIXTURE_TEST(a_change_that_was_told_is_read_soon),
		FIXTURE_TEST(a_list_that_cannot_be_read_is_tried_again),
		FIXTURE_TEST(a_reading_that_fails_leaves_the_old_list),
		cmocka_unit_test(a_real_bpf_program_loaded_later_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
