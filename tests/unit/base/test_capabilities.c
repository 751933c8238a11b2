/* SPDX-License-Identifier: Apache-2.0 */
/* What is given up is gone for good, so each test is a process of its own, and believes only
 * what the kernel says of it in /proc/self/status. */
#include "base/capabilities.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "base/parse.h"
#include "base/strbuf.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#define NOBODY 65534
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			return __LINE__;                                                           \
	} while (0)

static uint64_t status_of(const char *key)
{
	_cleanup_(strbuf_done) struct strbuf status = strbuf_with_max(65536);
	uint64_t value = UINT64_MAX;

	if (file_read_at(AT_FDCWD, "/proc/thread-self/status", &status) < 0)
		return value;
	const char *line = strstr(strbuf_str(&status), key);
	if (!line)
		return value;
	line += strlen(key);
	if (parse_digits(&line, status.data + status.len, 16, &value) < 0)
		return UINT64_MAX;
	return value;
}

/* The body returns 0, or the line of the check that failed. */
static void run_as_root(int (*body)(void))
{
	int status = 0;

	if (geteuid() != 0)
		skip(); /* only root has what could be given up */
	pid_t pid = fork();
	if (pid == 0)
		_exit(body() & 0xff);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static int keep_two(void)
{
	uint64_t wanted = CAPABILITY(DAC_READ_SEARCH) | CAPABILITY(SYS_PTRACE);

	CHECK(capabilities_effective() == status_of("\nCapEff:\t"));
	CHECK(capabilities_keep(wanted) == 0);
	CHECK(capabilities_effective() == wanted);
	CHECK(status_of("\nCapEff:\t") == wanted);
	CHECK(status_of("\nCapPrm:\t") == wanted);
	CHECK(capabilities_keep(UINT64_MAX) == 0);
	CHECK(status_of("\nCapPrm:\t") == wanted);
	CHECK(capabilities_keep(0) == 0);
	CHECK(status_of("\nCapPrm:\t") == 0);
	return 0;
}

static void what_is_not_kept_is_gone_for_good(void **state)
{
	(void)state;
	run_as_root(keep_two);
}

static int inherit_one(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	CHECK(syscall(SYS_capget, &header, data) == 0);
	data[0].inheritable = (uint32_t)CAPABILITY(KILL);
	CHECK(syscall(SYS_capset, &header, data) == 0);
	CHECK(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_KILL, 0, 0) == 0);
	CHECK(status_of("\nCapAmb:\t") == CAPABILITY(KILL));
	CHECK(capabilities_keep(CAPABILITY(KILL)) == 0);
	CHECK(status_of("\nCapInh:\t") == 0);
	CHECK(status_of("\nCapAmb:\t") == 0);
	CHECK(status_of("\nCapPrm:\t") == CAPABILITY(KILL));
	return 0;
}

static void nothing_is_inherited(void **state)
{
	(void)state;
	run_as_root(inherit_one);
}

static int keep_stand_in(void)
{
	CHECK(capabilities_keep(CAPABILITY(SYS_ADMIN) | CAPABILITY(PERFMON)) == 0);
	CHECK(capabilities_keep(CAPABILITY(PERFMON) | CAPABILITY(BPF)) == 0);
	CHECK(capabilities_effective() == (CAPABILITY(SYS_ADMIN) | CAPABILITY(PERFMON)));
	CHECK(capabilities_keep(CAPABILITY(PERFMON)) == 0);
	CHECK(capabilities_effective() == CAPABILITY(PERFMON));
	return 0;
}

static void sys_admin_stays_where_it_stands_for_one_that_is_missing(void **state)
{
	(void)state;
	run_as_root(keep_stand_in);
}

static int deny(void)
{
	CHECK(capabilities_keep(CAPABILITY(KILL) | CAPABILITY(SETPCAP)) == 0);
	CHECK(capabilities_deny_programs() == 0);
	CHECK(status_of("\nCapBnd:\t") == 0);
	CHECK(capabilities_effective() == (CAPABILITY(KILL) | CAPABILITY(SETPCAP)));
	CHECK(capabilities_keep(CAPABILITY(KILL)) == 0);
	CHECK(capabilities_deny_programs() == -EPERM);
	return 0;
}

static void programs_are_denied_all(void **state)
{
	(void)state;
	run_as_root(deny);
}

static int look_at_file(const char *path)
{
	uint64_t all = capabilities_effective();

	CHECK(capabilities_for_file(path, W_OK) == 0);
	CHECK(capabilities_for_reading(path) == 0);
	CHECK(chown(path, NOBODY, NOBODY) == 0);
	CHECK(capabilities_for_file(path, W_OK) == CAPABILITY(DAC_OVERRIDE));
	CHECK(capabilities_for_file(path, R_OK) == 0); /* by DAC_READ_SEARCH */
	CHECK(capabilities_for_file("/absent", W_OK) == 0);
	CHECK(capabilities_for_reading(path) == CAPABILITY(DAC_READ_SEARCH));
	CHECK(capabilities_for_reading("/absent") == 0);
	CHECK(capabilities_effective() == all);
	CHECK(capabilities_keep(CAPABILITY(DAC_OVERRIDE)) == 0);
	CHECK(capabilities_for_reading(path) == CAPABILITY(DAC_OVERRIDE));
	CHECK(capabilities_keep(CAPABILITY(KILL)) == 0);
	CHECK(capabilities_for_file(path, W_OK) == 0);
	CHECK(capabilities_for_reading(path) == 0);
	return 0;
}

static int look_at_files(void)
{
	char path[] = "/tmp/flamelet-test-XXXXXX";
	_cleanup_close_ int fd = mkostemp(path, O_CLOEXEC);

	CHECK(fd >= 0);
	int r = look_at_file(path);
	unlink(path);
	return r;
}

static void only_files_of_others_need_dac_override(void **state)
{
	(void)state;
	run_as_root(look_at_files);
}

static void sys_admin_stands_for_some(void **state)
{
	const uint64_t admin = CAPABILITY(SYS_ADMIN), bpf = CAPABILITY(BPF);
	const uint64_t both = bpf | CAPABILITY(PERFMON), syslog = CAPABILITY(SYSLOG);
	(void)state;

	assert_true(capabilities_include(both, both));
	assert_true(capabilities_include(admin, both));
	assert_true(capabilities_include(admin, admin));
	assert_true(capabilities_include(0, 0));
	assert_false(capabilities_include(bpf, both));
	assert_false(capabilities_include(admin, both | syslog));
	assert_false(capabilities_include(both, admin));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sys_admin_stands_for_some),
		cmocka_unit_test(what_is_not_kept_is_gone_for_good),
		cmocka_unit_test(nothing_is_inherited),
		cmocka_unit_test(sys_admin_stays_where_it_stands_for_one_that_is_missing),
		cmocka_unit_test(programs_are_denied_all),
		cmocka_unit_test(only_files_of_others_need_dac_override),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
