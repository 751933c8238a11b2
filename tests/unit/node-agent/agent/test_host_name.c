/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/host_name.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "remove_tree.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

/* What a directory like /proc has for a case; NULL: not there. */
struct machine {
	const char *our_namespace, *hosts_namespace;
	const char *kernel_name; /* as we are told it */
	const char *hosts_file; /* /etc/hostname of process 1 */
	const char *hosts_link; /* the same as a link */
	bool has_fifo; /* the same as a FIFO */
};

static void make_dir(int dir_fd, const char *path)
{
	assert_int_equal(mkdirat(dir_fd, path, 0755), 0);
}

static void make_link(int dir_fd, const char *path, const char *target)
{
	if (target)
		assert_int_equal(symlinkat(target, dir_fd, path), 0);
}

static void make_file(int dir_fd, const char *path, const char *text)
{
	if (!text)
		return;
	_cleanup_close_ int fd = openat(dir_fd, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void fill_proc(int proc_fd, const struct machine *machine)
{
	static const char *const dirs[] = { "self",   "self/ns",    "1",   "1/ns",
					    "1/root", "1/root/etc", "sys", "sys/kernel" };

	for (size_t i = 0; i < array_len(dirs); i++)
		make_dir(proc_fd, dirs[i]);
	make_link(proc_fd, "self/ns/uts", machine->our_namespace);
	make_link(proc_fd, "1/ns/uts", machine->hosts_namespace);
	make_file(proc_fd, "sys/kernel/hostname", machine->kernel_name);
	make_file(proc_fd, "1/root/etc/hostname", machine->hosts_file);
	make_link(proc_fd, "1/root/etc/hostname", machine->hosts_link);
	make_file(proc_fd, "1/root/etc/static", "worker-6\n");
	if (machine->has_fifo)
		assert_int_equal(mkfifoat(proc_fd, "1/root/etc/hostname", 0644), 0);
}

static void expect_name(const struct machine *machine, const char *node_name, const char *expected)
{
	char dir[] = "/tmp/flamelet-host-XXXXXX", name[HOST_NAME_SIZE];

	assert_non_null(mkdtemp(dir));
	_cleanup_close_ int proc_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	fill_proc(proc_fd, machine);
	host_name_find(proc_fd, node_name, name);
	remove_tree(dir);
	assert_string_equal(name, expected);
}

static const struct machine container = { "uts:[2]",	"uts:[1]", "agent-x7k2p\n",
					  "worker-3\n", NULL,	   false };
static const struct machine host = { "uts:[1]", "uts:[1]", "worker-3.example\n",
				     "other\n", NULL,	   false };

static void in_a_pod_it_is_the_nodes_name(void **state)
{
	(void)state;
	expect_name(&container, "node-1", "node-1");
	expect_name(&host, "node-1", "node-1");
}

static void on_the_host_it_is_what_the_kernel_says(void **state)
{
	struct machine closed = host;
	(void)state;

	expect_name(&host, NULL, "worker-3.example");
	closed.hosts_namespace = NULL; /* no permission to look */
	expect_name(&closed, "", "worker-3.example");
}

static void in_a_container_it_is_what_the_hosts_file_says(void **state)
{
	(void)state;
	expect_name(&container, NULL, "worker-3");
	expect_name(&container, "", "worker-3");
}

static void a_file_that_names_nothing_leaves_the_kernels_name(void **state)
{
	static const char *const files[] = { NULL, "", "\n \n", "# only this", "#\n\t\n" };
	char long_name[HOST_NAME_SIZE + 1];
	struct machine machine = container;
	(void)state;

	for (size_t i = 0; i < array_len(files); i++) {
		machine.hosts_file = files[i];
		expect_name(&machine, NULL, "agent-x7k2p");
	}
	memset(long_name, 'x', HOST_NAME_SIZE);
	long_name[HOST_NAME_SIZE] = '\0';
	machine.hosts_file = long_name;
	expect_name(&machine, NULL, "agent-x7k2p");
	machine.kernel_name = NULL;
	expect_name(&machine, NULL, "");
}

static void comments_and_blanks_of_the_file_are_passed_over(void **state)
{
	struct machine machine = container;
	(void)state;

	machine.hosts_file = "# the name\n\n  worker-4  \nworker-5\n";
	expect_name(&machine, NULL, "worker-4");
}

static void a_link_leads_to_a_file_of_the_host(void **state)
{
	struct machine machine = container;
	(void)state;

	machine.hosts_file = NULL;
	machine.hosts_link = "/etc/static";
	expect_name(&machine, NULL, "worker-6");
}

static void nobody_waits_for_a_fifo(void **state)
{
	struct machine machine = container;
	(void)state;

	machine.hosts_file = NULL;
	machine.has_fifo = true;
	expect_name(&machine, NULL, "agent-x7k2p");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_a_pod_it_is_the_nodes_name),
		cmocka_unit_test(on_the_host_it_is_what_the_kernel_says),
		cmocka_unit_test(in_a_container_it_is_what_the_hosts_file_says),
		cmocka_unit_test(a_file_that_names_nothing_leaves_the_kernels_name),
		cmocka_unit_test(comments_and_blanks_of_the_file_are_passed_over),
		cmocka_unit_test(a_link_leads_to_a_file_of_the_host),
		cmocka_unit_test(nobody_waits_for_a_fifo),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
