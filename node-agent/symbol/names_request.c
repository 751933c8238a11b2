/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/names_request.h"

#include "base/strbuf.h"
#include "symbol/worker/names_block.h"
#include "symbol/worker/symbol_worker.h"

#include <string.h>

/* Appends as many names as fit into a request. Returns their number. */
static uint32_t append_names(const struct place_names *names, const struct name_table *table,
			     struct strbuf *out)
{
	uint32_t nr = 0;

	for (; nr < table->nr_names && nr < NAMES_MAX; nr++) {
		const char *name = place_names_raw(names, table->names[nr]);
		size_t len = strlen(name) + 1;

		if (len > out->max - out->len)
			break;
		strbuf_append(out, name, len);
	}
	return nr;
}

int names_request_send(struct symbol_jobs *jobs, struct place_names *names, struct symbol_job *job)
{
	struct names_header header = { .detail = (uint32_t)place_names_style(names) };
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(sizeof(header) +
								     NAMES_MAX_BYTES);

	job->nr_sent = 0;
	job->names_age = place_names_age(names);
	strbuf_append(&bytes, &header, sizeof(header));
	header.nr_names = append_names(names, job->table, &bytes);
	if (strbuf_error(&bytes) < 0)
		return strbuf_error(&bytes);
	if (header.nr_names == 0)
		return -ENOENT;
	memcpy(bytes.data, &header, sizeof(header));
	job->nr_sent = header.nr_names;
	const struct worker_request request = {
		.kind = SYMBOL_REQUEST_NAMES,
		.nr_bytes = (uint32_t)bytes.len,
		.key = 1,
		.max_bytes = NAMES_MAX_REPLY_BYTES,
	};
	const struct worker_payload payload = { .bytes = bytes.data };

	return symbol_jobs_send(jobs, job, &request, &payload);
}

static void take_block(struct symbol_jobs *jobs, struct place_names *names, struct symbol_job *job,
		       const struct names_block *block)
{
	struct name_table *table = job->table;
	const char *pretty = block->first;

	for (uint32_t i = 0; i < block->nr_names; i++) {
		place_names_set(names, table->names[i], pretty);
		pretty = names_block_next(pretty);
	}
	table->nr_names -= block->nr_names;
	memmove(table->names, table->names + block->nr_names,
		table->nr_names * sizeof(*table->names));
	if (block->detail != NAMES_ALL)
		symbol_jobs_punish(jobs, job);
	if (block->detail == NAMES_GIVEN_UP)
		place_names_give_up(names, table);
}

void names_request_take(struct symbol_jobs *jobs, struct place_names *names, struct symbol_job *job,
			int error, const void *bytes, size_t len)
{
	struct names_block block;

	if (error < 0) {
		place_names_leave_all(names, job->table);
		return;
	}
	if (job->nr_sent == 0 || job->names_age != place_names_age(names))
		return;
	if (names_block_parse(bytes, len, (uint32_t)job->nr_sent, NAMES_GIVEN_UP, &block) < 0) {
		symbol_jobs_distrust(jobs, job);
		place_names_leave_all(names, job->table);
		return;
	}
	take_block(jobs, names, job, &block);
}
