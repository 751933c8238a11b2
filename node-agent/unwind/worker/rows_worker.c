/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/worker/rows_worker.h"

#include "worker/worker_server.h"

#include <malloc.h>
#include <string.h>

/* Larger blocks are mapped by themselves, and go back to the system when they are freed, because
 * the limit of memory is close. */
#define MMAP_THRESHOLD_BYTES (1 << 20)

/* The file of the last request for a key. */
struct rows_worker {
	uint64_t key;
	struct elf_rows *rows; /* NULL: none */
};

static void forget(struct rows_worker *worker)
{
	elf_rows_close(worker->rows);
	*worker = (struct rows_worker){ 0 };
}

static bool has_known_debug(const struct rows_ask *ask, size_t nr_fds)
{
	bool has_file = ask->debug == ELF_ROWS_DEBUG_BY_ID || ask->debug == ELF_ROWS_DEBUG_BY_LINK;

	return ask->debug < ELF_ROWS_NR_DEBUG && nr_fds == (has_file ? 2 : 1);
}

static int open_rows(struct rows_worker *worker, const struct worker_call *call,
		     const struct rows_ask *ask, struct rows_key_reply *reply)
{
	const struct elf_rows_opts opts = {
		.max_bytes = ask->max_table_bytes,
		.max_held_bytes = ask->max_held_bytes,
		.hash_seed = ask->hash_seed,
		.debug = (enum elf_rows_debug)ask->debug,
		.debug_fd = call->nr_fds > 1 ? call->fds[1] : -EBADF,
		.ret_wanted = &reply->wanted,
	};

	int r = elf_rows_open(call->fds[0], &opts, &worker->rows);
	if (r == -ENOLINK) {
		reply->wants_debug = 1;
		return 0;
	}
	if (r < 0)
		return r == -EBADMSG ? -ENOEXEC : r;
	worker->key = call->request.key;
	reply->key = *elf_rows_get_key(worker->rows);
	return 0;
}

static int answer_key(struct rows_worker *worker, const struct worker_call *call,
		      struct strbuf *reply)
{
	struct rows_key_reply key_reply;
	struct rows_ask ask;

	forget(worker);
	if (call->request.nr_bytes != sizeof(ask))
		return -EINVAL;
	memcpy(&ask, call->bytes, sizeof(ask));
	if (!has_known_debug(&ask, call->nr_fds))
		return -EINVAL;
	memset(&key_reply, 0, sizeof(key_reply));

	int r = open_rows(worker, call, &ask, &key_reply);
	if (r == 0)
		strbuf_append(reply, &key_reply, sizeof(key_reply));
	return r;
}

/* Builds the table, and frees the file before the table is copied. */
static int answer_build(struct rows_worker *worker, const struct worker_call *call,
			struct strbuf *reply)
{
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };
	struct elf_rows_stats stats = { 0 };

	if (!worker->rows || call->request.key != worker->key)
		return -EINVAL;

	int r = elf_rows_build(worker->rows, &table, &stats);
	forget(worker);
	if (r < 0)
		return r;
	char *bytes = strbuf_extend(reply, table.len + sizeof(stats.losses));
	if (!bytes)
		return strbuf_error(reply);
	memcpy(bytes, table.data, table.len);
	memcpy(bytes + table.len, &stats.losses, sizeof(stats.losses));
	return 0;
}

static int answer(struct worker_call *call, struct strbuf *reply, void *data)
{
	switch (call->request.kind) {
	case ROWS_REQUEST_KEY:
		return answer_key(data, call, reply);
	case ROWS_REQUEST_BUILD:
		return answer_build(data, call, reply);
	default:
		return -EINVAL;
	}
}

int rows_worker_main(void)
{
	struct rows_worker worker = { 0 };
	const struct worker_server_opts opts = {
		.name = "the worker for unwind tables",
		.sandbox = WORKER_SANDBOX_FILES,
		.max_request_bytes = sizeof(struct rows_ask),
		.answer = answer,
		.data = &worker,
	};

	mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD_BYTES);
	int r = worker_server_run(&opts);
	forget(&worker);
	return r;
}
