/* SPDX-License-Identifier: Apache-2.0 */
/* Unwinds the threads of a process by the kernel side's unwinder, compiled for the host, and names
 * their frames of a language runtime. The process should be stopped (SIGSTOP).
 *
 *	runtime_stacks cpython|hotspot|v8 PID
 *
 * For each line of its input it prints all threads, and an empty line behind them:
 *
 *	thread	TID	THREAD-POINTER	RESULT	IP	FP
 *				RESULT: enum unwind_result; 0: up to the root
 *	frame	KIND	ADDRESS	of each frame of the runtime, innermost first; KIND: enum
 *				runtime_frame; ADDRESS: of V8's compiled code, else 0
 *	LINE	START	NAME	FILE	of each function in that frame, innermost first; none: it has
 *				no name
 *	mark	NAME */
#include "stopped_process.h"

#include "base/cleanup.h"
#include "base/parse.h"
#include "runtime/runtime.h"
#include "tests/bpf_host/fake_bpf.h"

#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#define MAX_NAME_BYTES ((size_t)1 << 16)
#define QUOTA_BYTES ((uint64_t)1 << 40)

static void print_mark(uint64_t word)
{
	static const char *const marks[] = {
#define X(NAME, words) words,
		RUNTIME_MARKS(X)
#undef X
	};
	uint64_t mark = RUNTIME_TAG_POSITION(word);

	printf("mark\t%s\n", mark < RUNTIME_NR_MARKS ? marks[mark] : "unknown");
}

static void print_lines(const struct strbuf *out)
{
	struct frame_reader reader = { .bytes = strbuf_str(out), .len = out->len };
	struct runtime_line line;
	uint32_t nr_lines = 0;

	if (frame_reader_next(&reader, &nr_lines) < 0)
		return;
	for (uint32_t i = 0; i < nr_lines && frame_reader_line(&reader, &line) == 0; i++)
		printf("%u\t%u\t%.*s\t%.*s\n", line.line, line.start_line, (int)line.name_len,
		       line.name, (int)line.filename_len, line.filename);
}

/* The address of compiled code is without the mark that it was interrupted there. */
static void print_frame(const struct runtime_ops *ops, struct process_memory *memory,
			const uint64_t *words)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_NAME_BYTES);
	uint32_t kind = RUNTIME_TAG_FRAME(words[0]);
	struct frame_writer writer = { .out = &out };

	if (kind == RUNTIME_FRAME_MARK) {
		print_mark(words[0]);
		return;
	}
	printf("frame\t%u\t%" PRIu64 "\n", kind, kind == RUNTIME_FRAME_V8_CODE ? words[1] - 1 : 0);
	frame_writer_begin(&writer);
	memory->nr_left = QUOTA_BYTES;
	if (ops->name(memory, stopped_process_naming(), words, &writer) == 0)
		print_lines(&out);
}

static void print_frames(const struct runtime_ops *ops, struct process_memory *memory)
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
			print_frame(ops, memory, words);
	}
}

/* A thread that is gone has no stack. */
static void print_thread(const struct runtime_ops *ops, struct process_memory *memory, pid_t tid)
{
	struct tracee_registers registers;
	int status;

	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0)
		return;
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) == 0 &&
	    waitpid(tid, &status, __WALL) == tid && WIFSTOPPED(status)) {
		tracee_read_registers(tid, &registers);
		int result = stopped_process_unwind(&registers);
		printf("thread\t%d\t%" PRIu64 "\t%d\t%" PRIu64 "\t%" PRIu64 "\n", tid,
		       registers.thread_pointer, result, registers.ip,
		       registers.by_number[CFI_RBP]);
		print_frames(ops, memory);
	}
	ptrace(PTRACE_DETACH, tid, NULL, NULL);
}

static void close_directory(DIR **directory)
{
	if (*directory)
		closedir(*directory);
}

static void print_threads(const struct runtime_ops *ops, struct process_memory *memory,
			  const char *pid)
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
			print_thread(ops, memory, (pid_t)tid);
	printf("\n");
	fflush(stdout);
}

static const struct runtime_ops *find_runtime(const char *label)
{
	static const struct runtime_ops *const runtimes[] = { &cpython_runtime, &hotspot_runtime,
							      &v8_runtime };

	for (size_t i = 0; i < array_len(runtimes); i++)
		if (strcmp(runtimes[i]->label, label) == 0)
			return runtimes[i];
	errx(2, "%s is no runtime", label);
}

int main(int argc, char **argv)
{
	char path[64];

	if (argc != 3)
		errx(2, "usage: runtime_stacks cpython|hotspot|v8 PID");
	const struct runtime_ops *ops = find_runtime(argv[1]);
	const char *pid = argv[2];
	snprintf(path, sizeof(path), "/proc/%s/mem", pid);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		err(1, "%s", path);
	struct process_memory memory = { .fd = fd };
	int r = stopped_process_read(ops, pid, fd);
	if (r < 0)
		errx(1, "the runtime was not found in the process: %d", r);
	for (int c = getchar(); c != EOF; c = getchar())
		if (c == '\n')
			print_threads(ops, &memory, pid);
	return 0;
}
