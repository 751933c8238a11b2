/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of a real CPython in the running kernel: the layout that is found in its process is put
 * into the arena, and the words of samples are named. The program's chain of calls is known. An
 * argument is the path of another Python. */
#include "base/cleanup.h"
#include "bpf/shared/frames.h"
#include "bpf/shared/runtime.h"
#include "elf/elf_reader.h"
#include "process/process_set.h"
#include "rows_worker_main.h"
#include "runtime/runtime.h"
#include "small_agent.h"
#include "tested_backend.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#define NR_SAMPLES 200
#define MIN_WHOLE (NR_SAMPLES * 98 / 100)
#define MIN_COPIES 3
#define MAX_TEXT 4096

static const char program[] = "import functools\n"
			      "def spin(x, y):\n"
			      "    for i in range(20000):\n"
			      "        x += i * y\n"
			      "    return x\n"
			      "def inner():\n"
			      "    return functools.reduce(spin, [1, 2, 3])\n"
			      "def outer():\n"
			      "    return [inner() for _ in range(3)]\n"
			      "while True:\n"
			      "    outer()\n";

/* Forks processes that end soon. */
static const char forking_program[] = "import os, time\n"
				      "def child():\n"
				      "    end = time.process_time() + 0.05\n"
				      "    while time.process_time() < end:\n"
				      "        pass\n"
				      "    os._exit(0)\n"
				      "while True:\n"
				      "    os.fork() or child()\n"
				      "    os.wait()\n";

static const char *python = "/usr/bin/python3";

struct fixture {
	struct small_agent agent;
	pid_t python;
	int memory_fd;
	struct runtime_found found;
	bool is_found;
	unsigned int nr_seen;
	unsigned int nr_whole;
	unsigned int nr_copies; /* of child() */
	char odd[MAX_TEXT]; /* the last stack that was not as expected */
};

static pid_t start_python(const char *text)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(python, python, "-c", text, (char *)NULL);
		_exit(127);
	}
	assert_true(pid > 0);
	return pid;
}

static int set_up_program(void **state, const char *text)
{
	struct fixture *fixture = test_calloc(1, sizeof(*fixture));
	char path[64];

	fixture->python = start_python(text);
	snprintf(path, sizeof(path), "/proc/%d/mem", fixture->python);
	small_agent_start(&fixture->agent, (uint32_t)fixture->python);
	fixture->memory_fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fixture->memory_fd >= 0);
	*state = fixture;
	return 0;
}

static int set_up(void **state)
{
	return set_up_program(state, program);
}

static int set_up_forking(void **state)
{
	return set_up_program(state, forking_program);
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	kill(fixture->python, SIGKILL);
	waitpid(fixture->python, NULL, 0);
	small_agent_stop(&fixture->agent);
	close(fixture->memory_fd);
	test_free(fixture);
	return 0;
}

/* Returns the difference between a mapping's addresses and the virtual addresses of its file. */
static uint64_t bias_of(const struct elf_reader *reader, const struct mapping *mapping)
{
	for (size_t i = 0; i < reader->nr_segments; i++) {
		const GElf_Phdr *segment = &reader->segments[i];

		if (segment->p_type == PT_LOAD && mapping->file_offset >= segment->p_offset &&
		    mapping->file_offset < segment->p_offset + segment->p_filesz)
			return mapping->start -
			       (segment->p_vaddr + mapping->file_offset - segment->p_offset);
	}
	return mapping->start - mapping->file_offset;
}

/* Asks the file of a mapping, and if it is a CPython, the process. */
static bool find_python(struct fixture *fixture, const struct mapping *mapping)
{
	_cleanup_(elf_reader_done) struct elf_reader reader = { .fd = -EBADF };
	struct process_memory memory = { .fd = fixture->memory_fd, .nr_left = UINT64_MAX };
	struct elf_exports exports;
	struct runtime_file file;

	if (mapping->file->inode == 0)
		return false;
	_cleanup_close_ int fd = open(mapping->file->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || elf_reader_init(&reader, fd) < 0 || elf_exports_init(&exports, &reader) < 0 ||
	    cpython_runtime.read_file(&exports, &file) != 1)
		return false;
	assert_int_equal(
		cpython_runtime.inspect(&memory, &file, bias_of(&reader, mapping), &fixture->found),
		0);
	if (fixture->found.state != RUNTIME_READY)
		return false;
	assert_int_equal(runtime_layouts_set(fixture->agent.tables->layouts, mapping->file->slot,
					     &fixture->found.layout),
			 0);
	return true;
}

static bool on_first_samples(const struct sample_event *event, struct process *process, void *data)
{
	struct fixture *fixture = data;

	if (!process->mappings || event->unwind_result != UNWIND_COMPLETE)
		return false;
	for (size_t i = 0; i < process->mappings->nr_items && !fixture->is_found; i++)
		fixture->is_found = find_python(fixture, &process->mappings->items[i]);
	return fixture->is_found;
}

/* Appends the name of a Python frame. */
static void append_name(const struct fixture *fixture, struct process_memory *memory,
			const uint64_t *words, struct strbuf *text)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_TEXT);
	struct frame_writer writer = { .out = &out };
	struct runtime_line line;
	uint32_t nr_lines = 0;

	frame_writer_begin(&writer);
	int r = cpython_runtime.name(memory, fixture->found.naming, words, &writer);
	struct frame_reader reader = { .bytes = strbuf_str(&out), .len = out.len };
	if (r < 0 || frame_reader_next(&reader, &nr_lines) < 0 || nr_lines == 0 ||
	    frame_reader_line(&reader, &line) < 0)
		strbuf_append_str(text, "?;");
	else
		strbuf_appendf(text, "%.*s:%u;", (int)line.name_len, line.name, line.line);
}

/* Writes the Python frames of a stack, leaf first, with "." for the native frames behind spin(),
 * which is called by C, and for those at the root. Up to 3.10 there are more between the others. */
static void describe(struct fixture *fixture, const struct sample_event *event, struct strbuf *text)
{
	struct process_memory memory = { .fd = fixture->memory_fd, .nr_left = UINT64_MAX };
	const __u64 *words = event->frames + event->nr_kernel;
	bool is_native = false;

	for (uint32_t i = 0; i < event->nr_user; i += runtime_nr_words(words[i])) {
		bool was_spin = text->len >= 7 && strncmp(strbuf_str(text), "spin:", 5) == 0 &&
				!strchr(strchr(strbuf_str(text), ';') + 1, ';');

		assert_true(runtime_nr_words(words[i]) > 0);
		is_native = RUNTIME_TAG_FRAME(words[i]) == RUNTIME_FRAME_ADDRESS;
		if (RUNTIME_TAG_FRAME(words[i]) == RUNTIME_FRAME_CPYTHON)
			append_name(fixture, &memory, (const uint64_t[]){ words[i], words[i + 1] },
				    text);
		else if (!is_native)
			strbuf_append_str(text, "mark;");
		else if (was_spin)
			strbuf_append_str(text, ".;");
	}
	strbuf_append_str(text, is_native ? "." : "no native root");
}

/* Returns whether a stack is spin(), called by functools.reduce(), or one of its callers. */
static bool is_whole(const char *stack)
{
	static const char *const roots[] = {
		"inner:7;outer.<locals>.<listcomp>:9;outer:9;<module>:11;.",
		"inner:7;<listcomp>:9;outer:9;<module>:11;.",
		"inner:7;outer:9;<module>:11;.",
	};

	if (strncmp(stack, "spin:", 5) == 0) {
		const char *between = strstr(stack, ";.;");

		if (!between || between != strchr(stack, ';'))
			return false;
		stack = between + 3;
	}
	for (size_t i = 0; i < array_len(roots); i++)
		if (strcmp(stack, roots[i]) == 0)
			return true;
	return false;
}

static bool on_sample(const struct sample_event *event, struct process *process, void *data)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MAX_TEXT);
	struct fixture *fixture = data;

	(void)process;
	if (event->nr_user == 0)
		return false;
	describe(fixture, event, &text);
	if (event->unwind_result == UNWIND_COMPLETE && is_whole(strbuf_str(&text)))
		fixture->nr_whole++;
	else
		snprintf(fixture->odd, sizeof(fixture->odd), "%d %s", event->unwind_result,
			 strbuf_str(&text));
	return ++fixture->nr_seen == NR_SAMPLES;
}

static void stacks_have_the_chain_of_calls_from_the_module_to_the_leaf(void **state)
{
	struct fixture *fixture = *state;

	assert_true(small_agent_run(&fixture->agent, on_first_samples, fixture));
	assert_true(small_agent_run(&fixture->agent, on_sample, fixture));
	print_message("%u of %u whole; odd: %s\n", fixture->nr_whole, fixture->nr_seen,
		      fixture->odd);
	assert_in_range(fixture->nr_whole, MIN_WHOLE, NR_SAMPLES);
}

/* Counts the copies of child() from which it is named. */
static void take_copy(const struct code_copy *copy, void *data)
{
	const uint64_t words[] = { RUNTIME_TAG(RUNTIME_FRAME_CPYTHON, copy->check, 0),
				   copy->addresses[CODE_COPY_OBJECT] };
	const struct memory_part parts[] = {
		{ copy->addresses[CODE_COPY_OBJECT], copy->object, sizeof(copy->object) },
		{ copy->addresses[CODE_COPY_FILENAME], copy->filename, sizeof(copy->filename) },
		{ copy->addresses[CODE_COPY_NAME], copy->name, sizeof(copy->name) },
		{ copy->addresses[CODE_COPY_LINES], copy->lines, copy->nr_line_bytes },
	};
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MAX_TEXT);
	struct fixture *fixture = data;
	struct process_memory memory = {
		.fd = -EBADF,
		.nr_left = UINT64_MAX,
		.parts = parts,
		.nr_parts = array_len(parts),
	};

	append_name(fixture, &memory, words, &text);
	fixture->nr_copies += strncmp(strbuf_str(&text), "child:", strlen("child:")) == 0;
}

static bool has_copies(const struct sample_event *event, struct process *process, void *data)
{
	const struct fixture *fixture = data;

	(void)event, (void)process;
	return fixture->nr_copies >= MIN_COPIES;
}

static void code_objects_of_young_processes_are_copied(void **state)
{
	struct fixture *fixture = *state;

	assert_true(small_agent_run(&fixture->agent, on_first_samples, fixture));
	fixture->agent.take_copy = take_copy;
	assert_true(small_agent_run(&fixture->agent, has_copies, fixture));
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			stacks_have_the_chain_of_calls_from_the_module_to_the_leaf, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(code_objects_of_young_processes_are_copied,
						set_up_forking, tear_down),
	};

	if (is_rows_worker(argc, argv))
		return rows_worker_main();
	if (argc > 1)
		python = argv[1];
	if (geteuid() != 0 || access(python, X_OK) != 0) {
		print_message("SKIP: needs root and %s\n", python);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
