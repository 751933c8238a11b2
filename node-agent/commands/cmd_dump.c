/* SPDX-License-Identifier: Apache-2.0 */
/* flamelet dump: prints the stacks of all threads of a process. */
#include "agent/agent.h"
#include "agent/signals.h"
#include "agent/thread_dump.h"
#include "base/cleanup.h"
#include "base/fileio.h"
#include "base/heartbeat.h"
#include "commands/commands.h"
#include "dump/dump.h"
#include "privilege/privileges.h"
#include "profile/merge.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MESSAGE_MAX_BYTES 4096
#define OUT_MAX_BYTES ((size_t)256 << 20)
#define PROFILE_MAX_BYTES ((size_t)1 << 30)
#define COMMAND_LINE_MAX_BYTES 4096
#define READER_MAX_NS (30 * NSEC_PER_SEC)
#define LAST_WINDOWS_NS (5500 * NSEC_PER_MSEC) /* of SIGNALS_END_NS */
#define LOSS "the stacks are not printed"

struct taking {
	struct builder *builder; /* owned; used by the symbolizer thread until agent_stop() */
	struct thread_dump dump;
};

static void taking_done(struct taking *taking)
{
	builder_free(taking->builder);
	thread_dump_done(&taking->dump);
}

static void take_profile(struct profile *profile, void *data)
{
	struct taking *taking = data;
	uint64_t nr_lost;

	/* Threads without a sample are shown as such. */
	(void)!merge_profile(taking->builder, profile, &nr_lost);
}

/* Reads the arguments of a process, with blanks between them. Kernel threads have none. */
static void read_command_line(int proc_fd, uint32_t pid, struct strbuf *out)
{
	char path[32];

	snprintf(path, sizeof(path), "%" PRIu32 "/cmdline", pid);
	(void)!file_read_at(proc_fd, path, out); /* what did not fit is left out */
	while (out->len > 0 && out->data[out->len - 1] == '\0')
		out->len--;
	for (size_t i = 0; i < out->len; i++)
		if (out->data[i] == '\0')
			out->data[i] = ' ';
}

static int print(const struct options *options, const struct taking *taking, int proc_fd,
		 const struct profile *profile)
{
	_cleanup_(strbuf_done) struct strbuf line = strbuf_with_max(COMMAND_LINE_MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(OUT_MAX_BYTES);
	struct dump dump = {
		.pid = options->pids.items[0],
		.threads = &taking->dump.threads,
		.profile = profile,
		.stopped_ns = taking->dump.stopped_ns,
	};

	read_command_line(proc_fd, dump.pid, &line);
	dump.command_line = strbuf_str(&line);
	int r = options->json ? dump_append_json(&dump, &out) : dump_append_text(&dump, &out);
	if (r == 0)
		r = fd_write_all(STDOUT_FILENO, strbuf_str(&out), out.len);
	if (r < 0)
		fprintf(stderr, "flamelet: cannot print the stacks: %s\n", strerror(-r));
	return r < 0 ? STATUS_FAILED : STATUS_OK;
}

static int take(const struct options *options, int proc_fd, struct taking *taking,
		struct strbuf *message)
{
	_cleanup_(agent_freep) struct agent *agent = NULL;

	int r = privileges_check(backend_set_wanted(options), message);
	if (r == 0)
		r = builder_new(PROFILE_MAX_BYTES, &taking->builder);
	if (r == 0)
		r = agent_new(options, take_profile, taking, message, &agent);
	if (r < 0)
		return r;
	heartbeat_begin("reader", READER_MAX_NS);
	r = thread_dump_take(agent, proc_fd, options->pids.items[0], message, &taking->dump);
	if (r == 0)
		r = agent_stop(agent, LAST_WINDOWS_NS);
	heartbeat_end();
	return r;
}

static int run(const struct options *options, struct strbuf *message)
{
	_cleanup_(taking_done) struct taking taking = { 0 };
	_cleanup_(profile_unrefp) struct profile *profile = NULL;
	_cleanup_close_ int proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);

	int r = take(options, proc_fd, &taking, message);
	if (r < 0) {
		fprintf(stderr, "flamelet: %s\n", message->len > 0 ? message->data : strerror(-r));
		return STATUS_FAILED;
	}
	profile = builder_seal(take_ptr(taking.builder));
	return print(options, &taking, proc_fd, profile);
}

int cmd_dump(const struct options *options)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_MAX_BYTES);

	if (options->pids.nr != 1) {
		fputs("flamelet: name one process: flamelet dump -p PID\n", stderr);
		return STATUS_USAGE;
	}
	int r = signals_setup(LOSS, STATUS_FAILED);
	int status = r < 0 ? STATUS_FAILED : run(options, &message);
	signals_done(status);
	return status;
}
