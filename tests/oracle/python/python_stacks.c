/* SPDX-License-Identifier: Apache-2.0 */
/* Unwinds the threads of a process by the kernel side's unwinder, compiled for the host, and names
 * their Python frames. The process should be stopped (SIGSTOP).
 *
 *	python_stacks PID
 *
 * For each line of its input it prints all threads, and an empty line behind them:
 *
 *	thread	THREAD-POINTER	RESULT		enum unwind_result; 0: up to the root
 *	LINE	START	NAME	FILE		of each Python frame, innermost first
 *	-	NAME				of a mark, or a frame without a name */
#include "stopped_process.h"

#include "base/cleanup.h"
#include "base/parse.h"
#include "runtime/cpython/cpython_naming.h"
#include "tests/bpf_host/fake_bpf.h"

#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#define MAX_NAME_BYTES ((size_t)1 << 16)
#define QUOTA_BYTES ((uint64_t)1 << 40)

static void print_nameless(uint64_t word)
{
	static const char *const marks[] = {
#define X(NAME, words) words,
		RUNTIME_MARKS(X)
#undef X
	};
	uint64_t mark = RUNTIME_TAG_POSITION(word);

	if (RUNTIME_TAG_FRAME(word) == RUNTIME_FRAME_MARK && mark < RUNTIME_NR_MARKS)
		printf("-\t%s\n", marks[mark]);
	else
		printf("-\tno name\n");
}

static void print_frame(struct process_memory *memory, const uint64_t *words)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_NAME_BYTES);
	struct frame_writer writer = { .out = &out };
	struct runtime_line line;
	uint32_t nr_lines = 0;

	frame_writer_begin(&writer);
	memory->nr_left = QUOTA_BYTES;
	if (RUNTIME_TAG_FRAME(words[0]) == RUNTIME_FRAME_CPYTHON &&
	    cpython_runtime.name(memory, stopped_process_naming(), words, &writer) == 0) {
		struct frame_reader reader = { .bytes = strbuf_str(&out), .len = out.len };

		if (frame_reader_next(&reader, &nr_lines) == 0 && nr_lines == 1 &&
		    frame_reader_line(&reader, &line) == 0) {
			printf("%u\t%u\t%.*s\t%.*s\n", line.line, line.start_line,
			       (int)line.name_len, line.name, (int)line.filename_len,
			       line.filename);
			return;
		}
	}
	print_nameless(words[0]);
}

static void print_frames(struct process_memory *memory)
{
	const struct sample_event *event = fake_event();
	uint32_t nr_words;

	for (uint32_t i = 0; i < event->nr_user; i += nr_words) {
		uint64_t words[RUNTIME_MAX_WORDS] = { 0 };

		nr_words = runtime_nr_words(event->frames[i]);
		if (nr_words == 0 || i + nr_words > event->nr_user)
			errx(1, "the record has no frame at word %u", i);
		for (uint32_t k = 0; k < nr_words; k++)
			words[k] = event->frames[i + k];
		words[0] &= ~(FRAME_INTERRUPTED | FRAME_ENTERED);
		if (RUNTIME_TAG_FRAME(words[0]) != RUNTIME_FRAME_ADDRESS)
			print_frame(memory, words);
	}
}

/* A thread that is gone has no stack. */
static void print_thread(struct process_memory *memory, pid_t tid)
{
	struct tracee_registers registers;
	int status;

	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0)
		return;
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) == 0 &&
	    waitpid(tid, &status, __WALL) == tid && WIFSTOPPED(status)) {
		tracee_read_registers(tid, &registers);
		int result = stopped_process_unwind(&registers);
		printf("thread\t%" PRIu64 "\t%d\n", registers.thread_pointer, result);
		print_frames(memory);
	}
	ptrace(PTRACE_DETACH, tid, NULL, NULL);
}

static void close_directory(DIR **directory)
{
	if (*directory)
		closedir(*directory);
}

static void print_threads(struct process_memory *memory, const char *pid)
{
	char path[64];
	struct dirent *entry;
	uint64_t tid;

	snprintf(path, sizeof(path), "/proc/%s/task", pid);
	_cleanup_(close_directory) DIR *tasks = opendir(path);
	if (!tasks)
		err(1, "%s", path);
	while ((entry = readdir(tasks)))
		if (parse_u64(entry->d_name, &tid) == 0)
			print_thread(memory, (pid_t)tid);
	printf("\n");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	char path[64];

	if (argc != 2)
		errx(2, "usage: python_stacks PID");
	snprintf(path, sizeof(path), "/proc/%s/mem", argv[1]);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		err(1, "%s", path);
	struct process_memory memory = { .fd = fd };
	int r = stopped_process_read(argv[1], fd);
	if (r < 0)
		errx(1, "no Python was found in the process: %d", r);
	for (int c = getchar(); c != EOF; c = getchar())
		if (c == '\n')
			print_threads(&memory, argv[1]);
	return 0;
}
