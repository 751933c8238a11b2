/* SPDX-License-Identifier: Apache-2.0 */
#include "privilege/least_privilege.h"

#include "base/capabilities.h"

#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#define THE_FIVE                                                                                   \
	(CAPABILITY(BPF) | CAPABILITY(PERFMON) | CAPABILITY(SYS_PTRACE) |                          \
	 CAPABILITY(DAC_READ_SEARCH) | CAPABILITY(CHECKPOINT_RESTORE))
#define THE_SIX (THE_FIVE | CAPABILITY(SYSLOG))
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			return __LINE__;                                                           \
	} while (0)

/* Runs a check in a process of its own. Returns 0, or the line of the check that failed; `log` gets
 * what the process logged. */
static void run(int (*body)(void), char *log, size_t log_bytes)
{
	int ends[2], status = 0;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(ends[1], STDERR_FILENO);
		_exit(body() & 0xff);
	}
	close(ends[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	ssize_t n = read(ends[0], log, log_bytes - 1);
	log[n > 0 ? n : 0] = '\0';
	close(ends[0]);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static int start_as_root(void)
{
	uint64_t had = capabilities_effective();

	least_privilege_begin(BACKENDS_ALL);
	CHECK((capabilities_effective() & THE_SIX) == (had & THE_SIX));
	CHECK((capabilities_effective() & CAPABILITY(SYS_ADMIN)) == (had & CAPABILITY(SYS_ADMIN)));
	CHECK(!(capabilities_effective() & (CAPABILITY(SETUID) | CAPABILITY(NET_ADMIN))));
	CHECK(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
	CHECK(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0);
	CHECK(prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN, 0, 0, 0) == 0);
	least_privilege_finish(true);
	CHECK(capabilities_effective() == THE_FIVE);
	CHECK(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0);
	return 0;
}

static int start_with_six(void)
{
	CHECK(capabilities_keep(THE_SIX) == 0);
	least_privilege_begin(BACKENDS_ALL);
	CHECK(capabilities_effective() == THE_SIX);
	least_privilege_finish(true);
	CHECK(capabilities_effective() == THE_FIVE);
	return 0;
}

static int capture_by_perf(void)
{
	CHECK(capabilities_keep(THE_SIX) == 0);
	least_privilege_begin(BACKENDS_ALL);
	CHECK(capabilities_effective() == THE_SIX);
	least_privilege_finish(false);
	CHECK(capabilities_effective() == (THE_FIVE & ~CAPABILITY(BPF)));
	return 0;
}

/* A set of capabilities as before Linux 5.8. */
static int capture_by_perf_with_sys_admin(void)
{
	CHECK(capabilities_keep(CAPABILITY(SYS_ADMIN) | CAPABILITY(SYS_PTRACE)) == 0);
	least_privilege_begin(BACKENDS_ALL);
	least_privilege_finish(false);
	CHECK(capabilities_effective() == (CAPABILITY(SYS_ADMIN) | CAPABILITY(SYS_PTRACE)));
	return 0;
}

static int start_with_sys_admin_alone(void)
{
	CHECK(capabilities_keep(CAPABILITY(SYS_ADMIN)) == 0);
	least_privilege_begin(BACKENDS_ALL);
	least_privilege_finish(true);
	CHECK(capabilities_effective() == CAPABILITY(SYS_ADMIN));
	return 0;
}

static int start_with_nothing(void)
{
	CHECK(capabilities_keep(0) == 0);
	least_privilege_begin(BACKENDS_ALL);
	least_privilege_finish(true);
	CHECK(capabilities_effective() == 0);
	CHECK(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
	return 0;
}

static size_t count(const char *text, const char *part)
{
	size_t nr = 0;

	for (const char *at = text; (at = strstr(at, part)); at++)
		nr++;
	return nr;
}

static void what_is_left_is_what_goes_on(void **state)
{
	char log[4096];
	(void)state;

	if ((capabilities_effective() & THE_SIX) != THE_SIX)
		skip(); /* only root has capabilities that can be dropped */
	run(start_as_root, log, sizeof(log));
	assert_string_equal(log, "");
	run(start_with_six, log, sizeof(log));
	assert_string_equal(log, "");
	run(capture_by_perf, log, sizeof(log));
	run(capture_by_perf_with_sys_admin, log, sizeof(log));
}

static void sys_admin_stays_where_it_stands_for_others(void **state)
{
	char log[4096];
	(void)state;

	if (!(capabilities_effective() & CAPABILITY(SYS_ADMIN)))
		skip(); /* as above */
	run(start_with_sys_admin_alone, log, sizeof(log));
	assert_int_equal(count(log, "is missing"), 2);
	assert_non_null(strstr(log, "CAP_SYS_PTRACE is missing"));
	assert_non_null(strstr(log, "CAP_DAC_READ_SEARCH is missing"));
}

static void each_missing_one_is_one_warning_with_what_to_add(void **state)
{
	char log[4096];
	(void)state;

	run(start_with_nothing, log, sizeof(log));
	assert_int_equal(count(log, "level=warn"), 5);
	assert_int_equal(count(log, "\n"), 5);
	assert_non_null(strstr(log, "CAP_SYS_PTRACE is missing: functions of other users' "
				    "processes have no names; in a pod, add SYS_PTRACE to "
				    "securityContext.capabilities.add"));
	assert_null(strstr(log, "SYSLOG"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_left_is_what_goes_on),
		cmocka_unit_test(sys_admin_stays_where_it_stands_for_others),
		cmocka_unit_test(each_missing_one_is_one_warning_with_what_to_add),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
