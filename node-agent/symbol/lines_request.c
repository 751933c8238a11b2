/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/lines_request.h"

#include "symbol/worker/symbol_worker.h"

#include <string.h>

#define MAX_ADDRESSES 1024 /* per request, as other files may wait */
#define MIN_ROOM_BYTES ((size_t)4096) /* with less room, no lines are requested */
/* The lines of a file with more debug information are not kept on disk. */
#define KEY_MAX_DEBUG_BYTES (UINT64_C(256) << 20)

static size_t fds_of(const struct name_table *table, int ret_fds[static 2])
{
	ret_fds[0] = table->lines_fd;
	ret_fds[1] = table->alt_fd;
	return table->alt_fd >= 0 ? 2 : 1;
}

int lines_request_send_key(struct symbol_jobs *jobs, struct symbol_job *job, uint64_t seed)
{
	const struct elf_fingerprint_opts opts = {
		.seed = seed,
		.max_bytes = KEY_MAX_DEBUG_BYTES,
		.wants_lines = 1,
		.max_debug_bytes = KEY_MAX_DEBUG_BYTES,
	};
	const struct worker_request request = {
		.kind = SYMBOL_REQUEST_FINGERPRINT,
		.nr_bytes = sizeof(opts),
		.key = 1,
		.max_bytes = sizeof(struct elf_fingerprint),
	};
	int fds[2];
	const struct worker_payload payload = { &opts, fds, fds_of(job->table, fds) };

	return symbol_jobs_send(jobs, job, &request, &payload);
}

/* A file without a key has lines, too, while it is open. */
void lines_request_take_key(struct symbol_jobs *jobs, struct name_store *store,
			    struct symbol_job *job, int error, const void *bytes, size_t len)
{
	struct elf_fingerprint print;

	if (error == 0) {
		error = elf_fingerprint_parse(bytes, len, &print);
		if (error < 0)
			symbol_jobs_distrust(jobs, job);
	}
	line_store_set_key(name_store_lines(store), job->table, error == 0 ? &print : NULL);
}

/* Removes the wanted addresses whose lines the table has now. */
static void resolve_known(struct place_names *places, struct name_table *table)
{
	size_t nr_left = 0;

	for (size_t i = 0; i < table->nr_wanted; i++) {
		const struct wanted_address wanted = table->wanted[i];

		if (!place_names_resolve_lines(places, table, wanted.offset, wanted.address))
			table->wanted[nr_left++] = wanted;
	}
	table->nr_wanted = nr_left;
}

/* Resolves the first `nr` wanted addresses for good: by source lines if there are any, or
 * else by the symbol tables. */
static void settle_wanted(struct name_store *store, struct name_table *table, size_t nr)
{
	struct place_names *places = name_store_places(store);
	uint64_t nr_missed = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct wanted_address *wanted = &table->wanted[i];

		if (place_names_resolve_lines(places, table, wanted->offset, wanted->address))
			continue;
		place_names_settle(places, table, wanted->offset);
		nr_missed++;
	}
	line_store_count(name_store_lines(store), 0, nr_missed);
	table->nr_wanted -= nr;
	memmove(table->wanted, table->wanted + nr, table->nr_wanted * sizeof(*table->wanted));
}

static int send_wanted(struct symbol_jobs *jobs, const struct name_store *store,
		       struct symbol_job *job, size_t room)
{
	const struct name_table *table = job->table;
	size_t nr = table->nr_wanted < MAX_ADDRESSES ? table->nr_wanted : MAX_ADDRESSES;
	uint64_t addresses[MAX_ADDRESSES];
	int fds[2];
	const struct worker_payload payload = { addresses, fds, fds_of(table, fds) };
	const struct worker_request request = {
		.kind = SYMBOL_REQUEST_LINES,
		.nr_bytes = (uint32_t)(nr * sizeof(addresses[0])),
		.key = name_store_full_key(store, table),
		.max_bytes = room,
	};

	for (size_t i = 0; i < nr; i++)
		addresses[i] = table->wanted[i].address;
	job->nr_sent = nr;
	return symbol_jobs_send(jobs, job, &request, &payload);
}

int lines_request_send(struct symbol_jobs *jobs, struct name_store *store, struct symbol_job *job)
{
	struct line_store *lines = name_store_lines(store);
	struct name_table *table = job->table;

	line_store_load(lines, table);
	resolve_known(name_store_places(store), table);
	size_t room = line_store_room(lines, table);
	if (table->nr_wanted > 0 && room < MIN_ROOM_BYTES)
		settle_wanted(store, table, table->nr_wanted);
	if (table->nr_wanted == 0) {
		symbol_jobs_end(jobs, job);
		return 0;
	}
	return send_wanted(jobs, store, job, room);
}

/* A file that could not be read or took too long is closed, so that it is not read again. */
void lines_request_take(struct symbol_jobs *jobs, struct name_store *store, struct symbol_job *job,
			int error, const void *bytes, size_t len)
{
	struct line_store *lines = name_store_lines(store);
	struct name_table *table = job->table;
	size_t nr = job->nr_sent;

	symbol_jobs_charge_lines(jobs, job);
	if (error == 0) {
		error = line_store_add(lines, table, bytes, len);
		if (error == -EBADMSG)
			symbol_jobs_distrust(jobs, job);
	}
	line_store_count(lines, nr, 0);
	settle_wanted(store, table, nr);
	if (error < 0)
		name_table_close_files(table);
}
