/* SPDX-License-Identifier: Apache-2.0 */
/* Real compilers, each in a pid and mount namespace of its own as in a container, with a /tmp that
 * only it sees. The test looks names up from outside, at addresses that it reads from the files. */
#include "symbol/jit/jit_cache.h"
#include "symbol/jit/jit_client.h"

#include "base/clock.h"
#include "base/fileio.h"
#include "base/parse.h"
#include "process/process_set.h"
#include "jit_worker_main.h"
#include "unit.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define MAX_BYTES ((size_t)64 << 20)
#define DEADLINE_NS (UINT64_C(60) * NSEC_PER_SEC)

static const char script[] = "function hot(n) { let s = 0; for (let i = 0; i < n; i++) s += "
			     "Math.sqrt(i) * (i % 7); return s }\n"
			     "const anonymous = (() => x =>\n"
			     "	hot(x) + 1)();\n"
			     "const end = Date.now() + Number(process.argv[2]);\n"
			     "while (Date.now() < end) { hot(1000); anonymous(1000) }\n";

static const char program[] =
	"public class Hot {\n"
	"	static double spin(int n) { double s = 0; for (int i = 0; i < n; i++) s += "
	"Math.sqrt(i) * (i % 7); return s; }\n"
	"	public static void main(String[] a) {\n"
	"		double s = 0;\n"
	"		long end = System.currentTimeMillis() + Integer.parseInt(a[0]);\n"
	"		while (System.currentTimeMillis() < end) s += spin(1000);\n"
	"		System.out.println(s);\n"
	"	}\n"
	"}\n";

/* A program in namespaces of its own. */
struct container {
	char dir[64]; /* its /tmp */
	pid_t pid; /* of unshare */
	uint32_t inner_pid; /* of the program, in the pid namespace of the test */
	int proc_fd;
	struct jit_cache *cache;
	struct process_table *processes;
};

static void write_in(const char *dir, const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(file_write_atomic(path, text, strlen(text)), 0);
}

/* Runs a shell command; its pid in the namespace is 1 if it ends in exec. */
static pid_t start_shell(const char *dir, const char *command)
{
	char line[1024];

	snprintf(line, sizeof(line), "mount --bind %s /tmp && cd /tmp && %s", dir, command);
	pid_t pid = fork();
	if (pid == 0) {
		int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(null_fd, STDOUT_FILENO);
		dup2(null_fd, STDERR_FILENO);
		execlp("unshare", "unshare", "-pfm", "--kill-child", "--mount-proc", "sh", "-c",
		       line, (char *)NULL);
		_exit(127);
	}
	return pid;
}

static bool has_program(const char *name)
{
	char command[128];

	snprintf(command, sizeof(command), "command -v %s", name);
	pid_t pid = fork();
	if (pid == 0) {
		int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

		dup2(null_fd, STDOUT_FILENO);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	int status = -1;
	return waitpid(pid, &status, 0) == pid && status == 0;
}

/* Returns the child of unshare, or 0 while there is none. */
static uint32_t find_child(pid_t parent)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(4096);
	char path[96];
	uint64_t pid = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", parent, parent);
	if (file_read_at(AT_FDCWD, path, &text) < 0)
		return 0;
	const char *cursor = strbuf_str(&text);
	if (parse_digits(&cursor, cursor + text.len, 10, &pid) < 0)
		return 0;
	return (uint32_t)pid;
}

static int setup(void **state)
{
	struct container *container = calloc(1, sizeof(*container));

	snprintf(container->dir, sizeof(container->dir), "/tmp/test_jit_live.XXXXXX");
	assert_non_null(mkdtemp(container->dir));
	assert_int_equal(chmod(container->dir, 0777), 0);
	container->proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct jit_cache_opts opts = { .proc_fd = container->proc_fd,
					     .max_bytes = MAX_BYTES };
	assert_int_equal(jit_cache_new(&opts, &container->cache), 0);
	assert_int_equal(process_table_new(container->proc_fd, 8, &container->processes), 0);
	*state = container;
	return 0;
}

static int teardown(void **state)
{
	struct container *container = *state;

	if (container->pid > 0) {
		kill(container->pid, SIGKILL);
		waitpid(container->pid, NULL, 0);
	}
	jit_cache_free(container->cache);
	process_table_free(container->processes);
	close(container->proc_fd);
	pid_t pid = fork();
	if (pid == 0) {
		execlp("rm", "rm", "-rf", container->dir, (char *)NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	free(container);
	return 0;
}

static void start(struct container *container, const char *command)
{
	uint64_t end_ns = clock_mono_ns() + DEADLINE_NS;

	container->pid = start_shell(container->dir, command);
	while (container->inner_pid == 0 && clock_mono_ns() < end_ns) {
		usleep(20000);
		container->inner_pid = find_child(container->pid);
	}
	assert_int_not_equal(container->inner_pid, 0);
}

static void skip_unless(bool can_run)
{
	if (!can_run || geteuid() != 0)
		skip(); /* the compiler is not installed, or the test may not make namespaces */
}

/* Returns the address in the last line of a perf map that contains `part`. */
static uint64_t address_in_map(const struct container *container, const char *part)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max((size_t)16 << 20);
	char path[128];
	uint64_t address = 0;

	snprintf(path, sizeof(path), "%s/perf-1.map", container->dir);
	if (file_read_at(AT_FDCWD, path, &text) < 0)
		return 0;
	for (const char *line = strbuf_str(&text); line && *line;) {
		const char *newline = strchr(line, '\n');
		const char *found = strstr(line, part);
		const char *cursor = strncmp(line, "0x", 2) == 0 ? line + 2 : line;

		if (found && newline && found < newline)
			assert_int_equal(parse_digits(&cursor, newline, 16, &address), 0);
		line = newline ? newline + 1 : NULL;
	}
	return address;
}

/* Waits for a line of the perf map that contains `part`. */
static uint64_t wait_for_map(const struct container *container, const char *part)
{
	uint64_t end_ns = clock_mono_ns() + DEADLINE_NS;
	uint64_t address = 0;

	while (address == 0 && clock_mono_ns() < end_ns) {
		usleep(50000);
		address = address_in_map(container, part);
	}
	assert_int_not_equal(address, 0);
	return address;
}

/* Samples the process as the agent does. */
static uint32_t sample(struct container *container, uint64_t now_ns)
{
	struct process *process = process_table_get(container->processes, container->inner_pid, 0,
						    now_ns);

	assert_non_null(process);
	assert_non_null(process->mappings);
	return jit_cache_open(container->cache, container->inner_pid, 1, 0, process->mappings,
			      now_ns);
}

static struct symbol_frames name(struct container *container, uint32_t id, uint64_t address)
{
	struct symbol_frames frames = { .nr_lines = 0 };

	assert_int_equal(jit_cache_symbolize(container->cache, id, address, &frames), 0);
	assert_int_equal(frames.nr_lines, 1);
	return frames;
}

static void node_with_a_perf_map(void **state)
{
	struct container *container = *state;

	skip_unless(has_program("node"));
	write_in(container->dir, "hot.js", script);
	start(container, "exec node --perf-basic-prof /tmp/hot.js 30000");
	uint64_t hot = wait_for_map(container, "JS:*hot /tmp/hot.js");
	uint64_t anonymous = wait_for_map(container, "JS:~ /tmp/hot.js:2");

	uint32_t id = sample(container, clock_mono_ns());
	assert_int_not_equal(id, 0);
	jit_cache_refresh(container->cache, clock_mono_ns(), UINT64_MAX);
	struct symbol_frames frames = name(container, id, hot + 1);
	assert_string_equal(frames.lines[0].name, "*hot");
	assert_string_equal(frames.lines[0].filename, "/tmp/hot.js");
	assert_int_equal(frames.lines[0].start_line, 1);
	assert_int_equal(frames.language, LANGUAGE_V8JS);
	frames = name(container, id, anonymous + 1);
	assert_string_equal(frames.lines[0].name, "~(anonymous) hot.js:2");
	assert_int_equal(jit_cache_get_stats(container->cache).nr_bad_lines, 0);
}

/* Returns the address of a function in the jitdump, which is 24 bytes before its name. */
static uint64_t address_in_dump(const struct container *container, const char *function)
{
	_cleanup_(strbuf_done) struct strbuf file = strbuf_with_max((size_t)64 << 20);
	uint64_t address = 0;
	char path[128];

	snprintf(path, sizeof(path), "%s/jit-1.dump", container->dir);
	assert_int_equal(file_read_at(AT_FDCWD, path, &file), 0);
	const char *found = memmem(file.data, file.len, function, strlen(function));
	if (found)
		memcpy(&address, found - 24, sizeof(address));
	return address;
}

/* V8 writes 2 MB at a time, so its functions are only certain to be in the file after the process
 * has ended. */
static void node_with_a_jitdump_after_its_end(void **state)
{
	struct container *container = *state;
	uint64_t end_ns = clock_mono_ns() + DEADLINE_NS;
	char path[128];
	struct stat st;

	skip_unless(has_program("node"));
	write_in(container->dir, "hot.js", script);
	start(container, "exec node --perf-prof /tmp/hot.js 2000");
	snprintf(path, sizeof(path), "%s/jit-1.dump", container->dir);
	while (stat(path, &st) < 0 && clock_mono_ns() < end_ns)
		usleep(50000);
	usleep(500000);
	uint32_t id = sample(container, clock_mono_ns());
	assert_int_not_equal(id, 0);
	assert_int_equal(waitpid(container->pid, NULL, 0), container->pid);
	container->pid = 0;

	uint64_t hot = address_in_dump(container, "JS:*hot /tmp/hot.js");
	assert_int_not_equal(hot, 0);
	jit_cache_refresh(container->cache, clock_mono_ns(), UINT64_MAX);
	struct symbol_frames frames = name(container, id, hot + 64);
	assert_string_equal(frames.lines[0].name, "*hot");
	assert_string_equal(frames.lines[0].filename, "/tmp/hot.js");
	assert_int_equal(frames.lines[0].line, 1);
}

static void dump_java_map(const struct container *container)
{
	char target[32];
	int status = -1;

	snprintf(target, sizeof(target), "%u", container->inner_pid);
	pid_t pid = fork();
	if (pid == 0) {
		int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

		dup2(null_fd, STDOUT_FILENO);
		dup2(null_fd, STDERR_FILENO);
		execlp("nsenter", "nsenter", "-t", target, "-m", "-p", "jcmd", "1",
		       "Compiler.perfmap", (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void java_with_a_perf_map_written_twice(void **state)
{
	struct container *container = *state;
	struct symbol_frames frames;

	skip_unless(has_program("javac") && has_program("jcmd"));
	write_in(container->dir, "Hot.java", program);
	start(container, "javac Hot.java && touch compiled && exec java -cp . Hot 60000");
	char path[128];
	struct stat st;
	snprintf(path, sizeof(path), "%s/compiled", container->dir);
	while (stat(path, &st) < 0)
		usleep(50000);
	usleep(3000000);
	assert_int_equal(sample(container, clock_mono_ns()), 0); /* no map was requested */
	for (int i = 1; i <= 2; i++) {
		dump_java_map(container);
		uint64_t spin = wait_for_map(container, "double Hot.spin(int)");
		uint32_t id = sample(container, clock_mono_ns() + (uint64_t)i * JIT_REOPEN_NS);
		assert_int_not_equal(id, 0);
		jit_cache_refresh(container->cache, clock_mono_ns(), UINT64_MAX);
		frames = name(container, id, spin + 1);
		assert_string_equal(frames.lines[0].name, "Hot::spin");
		assert_string_equal(frames.lines[0].system_name, "double Hot.spin(int)");
		assert_int_equal(frames.language, LANGUAGE_JVM);
	}
	assert_int_equal(jit_cache_get_stats(container->cache).nr_bad_lines, 0);
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(node_with_a_perf_map),
		TEST(node_with_a_jitdump_after_its_end),
		TEST(java_with_a_perf_map_written_twice),
	};

	if (is_jit_worker(argc, argv))
		return jit_worker_main();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
