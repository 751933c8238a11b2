/* SPDX-License-Identifier: Apache-2.0 */
/* libiberty cannot be interrupted, and some names keep it busy forever: 25 bytes of a Rust name can
 * stand for 62^10 lifetimes, and 500 bytes of a C++ name for nested parameter packs, which take
 * 2^depth steps. So a timer ticks while names are demangled, and a name that sees two ticks has
 * taken too long. At that moment libiberty may be in the middle of an allocation. The process can
 * then only send the names that are complete and end. The signal handler does that. */
#include "symbol/demangle/demangle.h"
#include "symbol/worker/names_block.h"
#include "symbol/worker/symbol_worker.h"
#include "worker/worker_process.h"

#include "base/cleanup.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define TICK_US 10000 /* of CPU time; the kernel's own ticks may be as long */
#define MAX_NAME_TICKS 2
#define MAX_TICKS 40 /* of a request, as others wait */

/* The answer so far. The handler reads it only while a name is being demangled, when it is
 * consistent. */
static struct {
	char *bytes; /* borrowed; NAMES_MAX_REPLY_BYTES of them */
	size_t len;
	uint32_t nr_names;
	volatile sig_atomic_t is_demangling;
	volatile sig_atomic_t nr_ticks; /* of the request */
	volatile sig_atomic_t nr_name_ticks; /* of the present name */
} answer;

static void put_header(enum names_end end)
{
	const struct names_header header = { answer.nr_names, end };

	memcpy(answer.bytes, &header, sizeof(header));
}

static void put_name(const char *name)
{
	size_t len = strlen(name) + 1;

	memcpy(answer.bytes + answer.len, name, len);
	answer.len += len;
	answer.nr_names++;
}

/* Allocates no memory, as a signal handler calls it. */
static void give_up(void)
{
	put_name("");
	put_header(NAMES_GIVEN_UP);
	const struct worker_reply reply = { .nr_bytes = (uint32_t)answer.len, .is_last = 1 };

	int r = worker_channel_send_reply(WORKER_PROCESS_SOCKET_FD, &reply, answer.bytes);
	_exit(r < 0);
}

static void on_tick(int number)
{
	(void)number;
	answer.nr_ticks++;
	if (answer.is_demangling && ++answer.nr_name_ticks >= MAX_NAME_TICKS)
		give_up();
}

int symbol_worker_prepare_names(void)
{
	const struct sigaction action = { .sa_handler = on_tick, .sa_flags = SA_RESTART };

	return sigaction(SIGPROF, &action, NULL) < 0 ? -errno : 0;
}

static int set_timer(suseconds_t tick_us)
{
	const struct itimerval timer = { { 0, tick_us }, { 0, tick_us } };

	return setitimer(ITIMER_PROF, &timer, NULL) < 0 ? -errno : 0;
}

static int demangle_name(const char *name, enum demangle_style style)
{
	answer.nr_name_ticks = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	answer.is_demangling = 1;
	_cleanup_free_ char *pretty = demangle(name, style);
	answer.is_demangling = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);

	if (!pretty)
		return -ENOMEM;
	put_name(strcmp(pretty, name) == 0 ? "" : pretty);
	return 0;
}

/* Returns whether there is room for one more name, and for the empty one that stands for a
 * name that took too long. */
static bool has_room(void)
{
	return NAMES_MAX_REPLY_BYTES - answer.len > DEMANGLE_MAX_BYTES + 1;
}

static int demangle_names(const struct names_block *block)
{
	const char *name = block->first;
	int r = 0;

	answer.nr_ticks = 0;
	while (answer.nr_names < block->nr_names && answer.nr_ticks < MAX_TICKS && has_room()) {
		r = demangle_name(name, (enum demangle_style)block->detail);
		if (r < 0)
			break;
		name = names_block_next(name);
	}
	put_header(answer.nr_ticks < MAX_TICKS ? NAMES_ALL : NAMES_LATE);
	return answer.nr_names > 0 ? 0 : r;
}

int symbol_worker_names(const struct worker_call *call, struct strbuf *reply)
{
	struct names_block block;

	if (!call->bytes || call->nr_fds != 0)
		return -EINVAL;
	int r = names_block_parse(call->bytes, call->request.nr_bytes, NAMES_MAX, DEMANGLE_FULL,
				  &block);
	if (r < 0)
		return r;
	answer.bytes = strbuf_extend(reply, NAMES_MAX_REPLY_BYTES);
	if (!answer.bytes)
		return strbuf_error(reply);
	answer.len = sizeof(struct names_header);
	answer.nr_names = 0;

	r = set_timer(TICK_US);
	if (r < 0)
		return r;
	r = demangle_names(&block);
	strbuf_truncate(reply, answer.len);
	int stopped = set_timer(0);
	return r < 0 ? r : stopped;
}
