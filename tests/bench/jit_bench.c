/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the cost of the lists of functions that JIT compilers write:
 *
 *	jit_bench FLAMELET	a perf map and a jitdump of 10 MB each, as node writes them, and one line more
 *
 * FLAMELET is the program whose `jit-worker` reads the files. Figures are CPU times: of this
 * process, which does what the agent does, and of the worker; the best of several. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "symbol/jit/jit_client.h"
#include "symbol/jit/jit_source.h"
#include "worker/worker_client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define FILE_BYTES ((size_t)10000000)
#define MAX_BYTES ((size_t)256 << 20)
#define NR_TURNS 10
#define NR_GROWTHS 1000
#define NR_LINES 10
#define CODE_BYTES 600

static void put32(struct strbuf *file, uint32_t value)
{
	strbuf_append(file, &value, sizeof(value));
}

static void put64(struct strbuf *file, uint64_t value)
{
	strbuf_append(file, &value, sizeof(value));
}

static void put_path(struct strbuf *file, unsigned int i)
{
	strbuf_appendf(file, "/srv/app/node_modules/package%u/lib/module%u.js", i % 300, i % 37);
}

static void put_name(struct strbuf *file, unsigned int i)
{
	strbuf_appendf(file, "JS:*function%u_%u ", i % 5000, i);
	put_path(file, i);
	strbuf_appendf(file, ":%u:%u", i % 900, i % 80);
}

static void make_map(struct strbuf *file)
{
	for (unsigned int i = 1; file->len < FILE_BYTES; i++) {
		strbuf_appendf(file, "%llx 140 ", 0x7f0000000000ULL + i * 0x400ULL);
		put_name(file, i);
		strbuf_append_char(file, '\n');
	}
}

/* Begins a record, whose length is not known yet. */
static size_t begin_record(struct strbuf *file, uint32_t id)
{
	size_t start = file->len;

	put32(file, id);
	put32(file, 0);
	put64(file, 0);
	return start;
}

static void end_record(struct strbuf *file, size_t start)
{
	uint32_t len = (uint32_t)(file->len - start);

	if (file->data)
		memcpy(file->data + start + sizeof(uint32_t), &len, sizeof(len));
}

static void put_lines(struct strbuf *file, unsigned int i, uint64_t address)
{
	size_t start = begin_record(file, 2);

	put64(file, address);
	put64(file, NR_LINES);
	for (unsigned int line = 0; line < NR_LINES; line++) {
		put64(file, address + 64 + (uint64_t)line * 50);
		put32(file, line + 1);
		put32(file, 0);
		if (line == 0)
			put_path(file, i);
		else
			strbuf_append_char(file, '\xff');
		strbuf_append_char(file, '\0');
	}
	end_record(file, start);
}

static void make_dump(struct strbuf *file)
{
	static const uint32_t header[10] = { 0x4a695444, 1, sizeof(header), 62 };
	static const char code[CODE_BYTES];

	strbuf_append(file, header, sizeof(header));
	for (unsigned int i = 1; file->len < FILE_BYTES; i++) {
		uint64_t address = 0x7f0000000000 + (uint64_t)i * 0x400;

		put_lines(file, i, address);
		size_t start = begin_record(file, 0);
		put64(file, 0);
		put64(file, address);
		put64(file, address);
		put64(file, CODE_BYTES);
		put64(file, i);
		put_name(file, i);
		strbuf_append_char(file, '\0');
		strbuf_append(file, code, sizeof(code));
		end_record(file, start);
	}
}

/* Has the worker answer one request. */
static int ask(struct worker_client *client, struct jit_source *source, struct jit_request *request)
{
	static const struct worker_limits limits = { .timeout_ns = 10 * NSEC_PER_SEC };
	static const struct worker_request head = {
		.kind = JIT_REQUEST_READ,
		.nr_bytes = sizeof(*request),
		.max_bytes = JIT_ANSWER_MAX_BYTES,
	};
	_cleanup_free_ void *bytes = NULL;
	size_t len;
	int error;

	int r = worker_client_send(client, &head, request, &source->fd, 1, &limits);
	if (r < 0)
		return r;
	while (!worker_client_wait(client, UINT64_MAX, &error, &bytes, &len))
		;
	return error < 0 ? error : jit_source_take(source, request, bytes, len, MAX_BYTES);
}

struct cost {
	uint64_t own_ns;
	uint64_t worker_ns;
	size_t nr_functions;
	size_t nr_requests;
	size_t nr_bytes;
};

static int read_file(struct worker_client *client, enum jit_source_kind kind, int fd,
		     struct cost *ret_cost)
{
	const struct file_identity identity = { .inode = 1 };
	struct jit_source source;
	struct jit_request request;
	struct cost cost = { 0 };
	int r = 0;

	jit_source_init(&source, kind);
	jit_source_set_file(&source, fcntl(fd, F_DUPFD_CLOEXEC, 0), &identity);
	uint64_t worker_ns = worker_client_get_stats(client).cpu_ns;
	uint64_t own_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
	while (r == 0 && jit_source_ask(&source, JIT_REQUEST_MAX_BYTES, &request)) {
		r = ask(client, &source, &request);
		cost.nr_requests++;
	}
	cost.own_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) - own_ns;
	cost.worker_ns = worker_client_get_stats(client).cpu_ns - worker_ns;
	cost.nr_functions = jit_source_count(&source);
	cost.nr_bytes = jit_source_bytes(&source);
	jit_source_done(&source);
	*ret_cost = cost;
	return r;
}

static int measure(struct worker_client *client, enum jit_source_kind kind,
		   const struct strbuf *file)
{
	_cleanup_close_ int fd = memfd_create("jit_bench", MFD_CLOEXEC);
	struct cost best = { .own_ns = UINT64_MAX / 2 };

	if (fd < 0 || write(fd, file->data, file->len) != (ssize_t)file->len)
		return -EIO;
	for (unsigned int turn = 0; turn < NR_TURNS; turn++) {
		struct cost cost;
		int r = read_file(client, kind, fd, &cost);

		if (r < 0)
			return r;
		if (cost.own_ns + cost.worker_ns < best.own_ns + best.worker_ns)
			best = cost;
	}
	printf("%s of %.1f MB, %zu functions, %zu requests: %.1f ms of the agent, %.1f ms of the "
	       "worker; %.1f MB are kept, the worker has %.1f MB\n",
	       kind == JIT_SOURCE_MAP ? "perf map" : "jitdump", (double)file->len / 1e6,
	       best.nr_functions, best.nr_requests, (double)best.own_ns / 1e6,
	       (double)best.worker_ns / 1e6, (double)best.nr_bytes / 1e6,
	       (double)worker_client_get_stats(client).resident_bytes / 1e6);
	return 0;
}

/* Measures the cost of one more line per second. */
static int measure_growth(struct worker_client *client)
{
	const struct file_identity identity = { .inode = 1 };
	struct jit_source source;
	int fd = memfd_create("jit_bench", MFD_CLOEXEC);
	int r = fd < 0 ? -errno : 0;

	jit_source_init(&source, JIT_SOURCE_MAP);
	jit_source_set_file(&source, fd, &identity);
	uint64_t worker_ns = worker_client_get_stats(client).cpu_ns;
	uint64_t own_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
	for (unsigned int i = 1; r == 0 && i <= NR_GROWTHS; i++) {
		struct jit_request request;

		if (dprintf(fd, "%x000 100 function%u\n", i, i) < 0)
			r = -errno;
		if (r == 0 && jit_source_ask(&source, JIT_REQUEST_MAX_BYTES, &request))
			r = ask(client, &source, &request);
	}
	own_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) - own_ns;
	worker_ns = worker_client_get_stats(client).cpu_ns - worker_ns;
	if (r == 0)
		printf("a line more: %.0f us of the agent, %.0f us of the worker\n",
		       (double)own_ns / NR_GROWTHS / 1e3, (double)worker_ns / NR_GROWTHS / 1e3);
	jit_source_done(&source);
	return r;
}

int main(int argc, char **argv)
{
	_cleanup_(worker_client_freep) struct worker_client *client = NULL;
	_cleanup_(strbuf_done) struct strbuf map = strbuf_with_max(2 * FILE_BYTES);
	_cleanup_(strbuf_done) struct strbuf dump = strbuf_with_max(2 * FILE_BYTES);
	const struct worker_client_opts opts = {
		.program = argc == 2 ? argv[1] : NULL,
		.command = JIT_WORKER_COMMAND,
		.max_data_bytes = JIT_WORKER_MAX_DATA_BYTES,
	};

	if (argc != 2 || worker_client_new(&opts, &client) < 0) {
		fprintf(stderr, "usage: jit_bench FLAMELET\n");
		return 2;
	}
	make_map(&map);
	make_dump(&dump);
	int r = measure(client, JIT_SOURCE_MAP, &map);
	if (r == 0)
		r = measure(client, JIT_SOURCE_DUMP, &dump);
	if (r == 0)
		r = measure_growth(client);
	if (r < 0)
		fprintf(stderr, "jit_bench: %s\n", strerror(-r));
	return r < 0;
}
