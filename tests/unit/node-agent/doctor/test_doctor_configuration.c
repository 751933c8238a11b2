/* SPDX-License-Identifier: Apache-2.0 */
/* The doctor's finding about the configuration file says what the agent would say. */
#include "base/cleanup.h"
#include "base/fileio.h"
#include "doctor/doctor.h"
#include "remove_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

static char temp_dir[] = "/tmp/flamelet-doctor-XXXXXX";

static int make_temp_dir(void **state)
{
	(void)state;
	return mkdtemp(temp_dir) ? 0 : -1;
}

static int remove_temp_dir(void **state)
{
	(void)state;
	remove_tree(temp_dir);
	return 0;
}

static void examine(char *path, struct doctor_report *report)
{
	struct options options = { .config_file = path };
	const struct doctor_host host = { .proc_dir = "/proc",
					  .sys_dir = "/sys",
					  .kernel_release = "6.1.0",
					  .options = &options };

	check_configuration(&host, report);
	assert_int_equal(report->error, 0);
}

static void without_a_file_there_is_nothing_to_say(void **state)
{
	_cleanup_(doctor_report_done) struct doctor_report report = { 0 };
	(void)state;

	examine(NULL, &report);
	assert_int_equal(report.nr_findings, 0);
}

static void a_file_is_read_as_the_agent_reads_it(void **state)
{
	static const struct {
		const char *text;
		enum finding_level level;
		const char *detail;
	} cases[] = {
		{ "frequency: 19\nselector: app=web\n", FINDING_OK, "agent.yaml" },
		{ "", FINDING_OK, "agent.yaml" },
		{ "frequency: abc\n", FINDING_FAIL, "expected a number of Hz" },
		{ "frequenzy: 19\n", FINDING_FAIL, "did you mean frequency?" },
		{ "selector: \"app in (\"\n", FINDING_FAIL, "selector" },
		{ "frequency: [\n", FINDING_FAIL, "agent.yaml:" },
	};
	char path[64];
	(void)state;

	snprintf(path, sizeof(path), "%s/agent.yaml", temp_dir);
	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(doctor_report_done) struct doctor_report report = { 0 };

		assert_int_equal(file_write_atomic(path, cases[i].text, strlen(cases[i].text)), 0);
		examine(path, &report);
		assert_int_equal(report.nr_findings, 1);
		assert_int_equal(report.findings[0].level, cases[i].level);
		assert_non_null(strstr(report.findings[0].detail, cases[i].detail));
	}
}

static void a_file_that_is_not_there_is_a_fault(void **state)
{
	_cleanup_(doctor_report_done) struct doctor_report report = { 0 };
	char path[] = "/no/such/agent.yaml";
	(void)state;

	examine(path, &report);
	assert_int_equal(report.findings[0].level, FINDING_FAIL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_file_there_is_nothing_to_say),
		cmocka_unit_test(a_file_is_read_as_the_agent_reads_it),
		cmocka_unit_test(a_file_that_is_not_there_is_a_fault),
	};

	return cmocka_run_group_tests(tests, make_temp_dir, remove_temp_dir);
}
