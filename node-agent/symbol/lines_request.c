/* SPDX-License-Identifier: Apache-2.0 */
/* Which file the lines come from is asked once a file, and each unit of it once: what is known already is looked up here. */
#include "symbol/elf_cache_parts.h"

#include <string.h>

#define MAX_ADDRESSES 1024 /* a request: others may be waiting for their files to be read */
#define MIN_ROOM_BYTES ((size_t)4096) /* less is not worth asking */
#define KEY_MAX_DEBUG_BYTES (UINT64_C(256) << 20) /* a file with more is not kept on disk */

static size_t fds_of(const struct name_table *table, int ret_fds[static 2])
{
	ret_fds[0] = table->lines_fd;
	ret_fds[1] = table->alt_fd;
	return table->alt_fd >= 0 ? 2 : 1;
}

int elf_loader_send_lines_key(struct elf_cache *cache, struct elf_job *job)
{
	const struct elf_fingerprint_opts opts = {
		.seed = cache->seed,
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
	size_t nr_fds = fds_of(job->table, fds);

	return elf_loader_send(cache, job, &request, &opts, fds, nr_fds);
}

/* A file without a key has lines all the same, for as long as it is open. */
void elf_loader_take_lines_key(struct elf_cache *cache, struct elf_job *job, int error,
			       const void *bytes, size_t len)
{
	struct elf_fingerprint print;

	if (error == 0) {
		error = elf_fingerprint_parse(bytes, len, &print);
		if (error < 0)
			elf_loader_distrust(cache, job);
	}
	elf_lines_set_key(cache, job->table, error == 0 ? &print : NULL);
}

/* Takes those addresses off the list of wanted ones that the tables have by now. */
static void resolve_known(struct elf_cache *cache, struct name_table *table)
{
	size_t nr_left = 0;

	for (size_t i = 0; i < table->nr_wanted; i++) {
		const struct wanted_address wanted = table->wanted[i];

		if (!elf_lines_resolve(cache, table, wanted.offset, wanted.address))
			table->wanted[nr_left++] = wanted;
	}
	table->nr_wanted = nr_left;
}

/* The symbol tables have the last word on the first ones of the wanted addresses. */
static void settle_wanted(struct elf_cache *cache, struct name_table *table, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		uint64_t offset = table->wanted[i].offset;

		if (elf_lines_resolve(cache, table, offset, table->wanted[i].address))
			continue;
		if (elf_cache_resolve(cache, table, offset, FRAMES_FINAL) < 0)
			frame_cache_settle(&cache->frames, elf_cache_place(table, offset));
		elf_cache_count(cache, &cache->stats.nr_lines_missed, 1);
	}
	table->nr_wanted -= nr;
	memmove(table->wanted, table->wanted + nr, table->nr_wanted * sizeof(*table->wanted));
}

static int send_wanted(struct elf_cache *cache, struct elf_job *job, size_t room)
{
	const struct name_table *table = job->table;
	size_t nr = table->nr_wanted < MAX_ADDRESSES ? table->nr_wanted : MAX_ADDRESSES;
	uint64_t addresses[MAX_ADDRESSES];
	int fds[2];
	size_t nr_fds = fds_of(table, fds);
	const struct worker_request request = {
		.kind = SYMBOL_REQUEST_LINES,
		.nr_bytes = (uint32_t)(nr * sizeof(addresses[0])),
		.key = name_store_full_key(cache, table),
		.max_bytes = room,
	};

	for (size_t i = 0; i < nr; i++)
		addresses[i] = table->wanted[i].address;
	job->nr_sent = nr;
	job->cpu_ns = worker_lanes_cpu_ns(cache->lanes, job->lane);
	return elf_loader_send(cache, job, &request, addresses, fds, nr_fds);
}

int elf_loader_send_lines(struct elf_cache *cache, struct elf_job *job)
{
	struct name_table *table = job->table;
	size_t room;

	elf_lines_load(cache, table);
	resolve_known(cache, table);
	room = elf_lines_room(cache, table);
	if (table->nr_wanted > 0 && room < MIN_ROOM_BYTES)
		settle_wanted(cache, table, table->nr_wanted);
	if (table->nr_wanted == 0) {
		elf_loader_end_job(cache, job);
		return 0;
	}
	return send_wanted(cache, job, room);
}

static void charge(struct elf_cache *cache, const struct elf_job *job)
{
	uint64_t cpu_ns = worker_lanes_cpu_ns(cache->lanes, job->lane);

	if (cpu_ns > job->cpu_ns)
		lines_pace_charge(&cache->paces[job->lane], cpu_ns - job->cpu_ns);
}

/* A file that could not be read or took too long is not asked again. */
void elf_loader_take_lines(struct elf_cache *cache, struct elf_job *job, int error,
			   const void *bytes, size_t len)
{
	struct name_table *table = job->table;
	size_t nr = job->nr_sent;

	charge(cache, job);
	if (error == 0) {
		error = elf_lines_add(cache, table, bytes, len);
		if (error == -EBADMSG)
			elf_loader_distrust(cache, job);
	}
	elf_cache_count(cache, &cache->stats.nr_resolved, nr);
	settle_wanted(cache, table, nr);
	if (error < 0)
		name_table_close_files(table);
}
