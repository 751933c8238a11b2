/* SPDX-License-Identifier: Apache-2.0 */
/* Against elfutils' own server, where it is installed. */
#include "symbol/debuginfod/debuginfod.h"

#include "base/clock.h"
#include "base/fileio.h"
#include "debuginfod_fixture.h"
#include "unit.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

static pid_t spawn(const char *const *args)
{
	posix_spawn_file_actions_t actions;
	char *const no_environment[] = { (char *)(uintptr_t) "PATH=/usr/bin:/bin", NULL };
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	int r = posix_spawnp(&pid, args[0], &actions, NULL, (char *const *)(uintptr_t)args,
			     no_environment);
	posix_spawn_file_actions_destroy(&actions);
	return r == 0 ? pid : -1;
}

static bool run(const char *const *args)
{
	pid_t pid = spawn(args);
	int status;

	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

#define REAL_ID "0123456789abcdef0123456789abcdef01234567"

/* A program's debug file in DIR/debug. */
static bool make_debug_file(const struct fixture *fixture)
{
	char source[PATH_MAX], program[PATH_MAX], debug_dir[PATH_MAX], debug_file[PATH_MAX];

	snprintf(source, sizeof(source), "%s/program.c", fixture->dir);
	snprintf(program, sizeof(program), "%s/program", fixture->dir);
	snprintf(debug_dir, sizeof(debug_dir), "%s/debug", fixture->dir);
	snprintf(debug_file, sizeof(debug_file), "%s/debug/program.debug", fixture->dir);
	if (file_write_atomic(source, "int main(void){return 0;}\n", 26) < 0 ||
	    mkdir(debug_dir, 0755) < 0)
		return false;

	const char *const compile[] = { "cc",	"-g", "-Wl,--build-id=0x" REAL_ID, "-o", program,
					source, NULL };
	const char *const extract[] = { "objcopy", "--only-keep-debug", program, debug_file, NULL };
	return run(compile) && run(extract);
}

static pid_t start_debuginfod(const struct fixture *fixture, unsigned int port)
{
	uint64_t deadline_ns = clock_mono_ns() + PATIENCE_NS;
	char port_text[16];
	char debug_dir[PATH_MAX];

	snprintf(port_text, sizeof(port_text), "%u", port);
	snprintf(debug_dir, sizeof(debug_dir), "%s/debug", fixture->dir);
	const char *const args[] = { "debuginfod", "-F",       "-p",	  port_text,
				     "-d",	   ":memory:", debug_dir, NULL };
	pid_t pid = spawn(args);
	if (pid < 0)
		return pid;
	while (http_status(port, "/buildid/" REAL_ID "/debuginfo") != 200) {
		assert_true(clock_mono_ns() < deadline_ns);
		assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
		sleep_a_step();
	}
	return pid;
}

static void elfutils_debuginfod_is_understood(void **state)
{
	struct fixture *fixture = *state;
	unsigned int port = free_port();
	char url[64];
	char magic[4];
	uint64_t cookie;

	if (!make_debug_file(fixture))
		skip(); /* no compiler or objcopy */
	pid_t server = start_debuginfod(fixture, port);
	if (server < 0)
		skip(); /* debuginfod is not installed */
	snprintf(url, sizeof(url), "http://127.0.0.1:%u", port);
	fixture->opts.urls = url;
	start(fixture);
	ask(fixture, REAL_ID, 5);
	ask(fixture, ID(STANDIN_MISSING, "01"), 6);
	int fd = wait_for_file(fixture, &cookie);
	assert_true(fd >= 0);
	assert_int_equal(cookie, 5);
	assert_int_equal(pread(fd, magic, sizeof(magic), 0), sizeof(magic));
	assert_memory_equal(magic, "\177ELF", sizeof(magic));
	close(fd);
	expect_nothing(fixture);
	assert_int_equal(stats_of(fixture).nr_missing, 1);
	kill(server, SIGTERM);
	waitpid(server, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(elfutils_debuginfod_is_understood,
						debuginfod_fixture_setup,
						debuginfod_fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
