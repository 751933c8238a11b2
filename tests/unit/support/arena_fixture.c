/* SPDX-License-Identifier: Apache-2.0 */
#include "arena_fixture.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <string.h>

#include <bpf/bpf.h>

#include "unit.h"

static int new_chunk(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);

	return bpf_map_create(BPF_MAP_TYPE_ARRAY, "arena_chunk", sizeof(uint32_t),
			      ARENA_BLOCK_BYTES, ARENA_CHUNK_BLOCKS, &opts);
}

static int new_arena(void)
{
	_cleanup_close_ int chunk = new_chunk();

	if (chunk < 0)
		return chunk;
	LIBBPF_OPTS(bpf_map_create_opts, opts, .inner_map_fd = (uint32_t)chunk);
	return bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "arena", sizeof(uint32_t),
			      sizeof(uint32_t), ARENA_MAX_CHUNKS, &opts);
}

static int new_tables(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);

	return bpf_map_create(BPF_MAP_TYPE_ARRAY, "tables", sizeof(uint32_t),
			      sizeof(struct table_slot), MAX_TABLE_SLOTS, &opts);
}

int arena_fixture_open(struct arena_fixture *fixture)
{
	*fixture = (struct arena_fixture){
		.arena_fd = new_arena(),
		.tables_fd = new_tables(),
		.processes_fd = bpf_map_create(BPF_MAP_TYPE_HASH, "processes", sizeof(uint32_t),
					       sizeof(uint64_t), ARENA_FIXTURE_PROCESSES, NULL),
	};
	if (fixture->arena_fd < 0 || fixture->tables_fd < 0 || fixture->processes_fd < 0)
		return -EPERM;
	return unwind_memory_bpf_new(fixture->arena_fd, fixture->tables_fd, fixture->processes_fd,
				     &fixture->memory);
}

void arena_fixture_close(struct arena_fixture *fixture)
{
	unwind_memory_free(fixture->memory);
	cleanup_closep(&fixture->processes_fd);
	cleanup_closep(&fixture->tables_fd);
	cleanup_closep(&fixture->arena_fd);
}

bool arena_fixture_is_possible(void)
{
	_cleanup_close_ int fd = new_chunk();

	if (fd < 0)
		fputs("SKIP: no privilege to make BPF maps\n", stderr);
	return fd >= 0;
}

uint64_t arena_fixture_binding(const struct arena_fixture *fixture, uint32_t pid)
{
	uint64_t binding;

	if (bpf_map_lookup_elem(fixture->processes_fd, &pid, &binding) < 0)
		return NO_BINDING;
	return binding;
}

void arena_fixture_set_binding(const struct arena_fixture *fixture, uint32_t pid, uint64_t binding)
{
	assert_int_equal(bpf_map_update_elem(fixture->processes_fd, &pid, &binding, BPF_ANY), 0);
}

static void read_block(int map_fd, uint64_t address, uint8_t block[static ARENA_BLOCK_BYTES])
{
	uint32_t chunk = (uint32_t)(address / ARENA_CHUNK_BYTES);
	uint32_t key = (uint32_t)(address / ARENA_BLOCK_BYTES % ARENA_CHUNK_BLOCKS);
	uint32_t id;

	assert_int_equal(bpf_map_lookup_elem(map_fd, &chunk, &id), 0);
	_cleanup_close_ int fd = bpf_map_get_fd_by_id(id);
	assert_true(fd >= 0);
	assert_int_equal(bpf_map_lookup_elem(fd, &key, block), 0);
}

void arena_fixture_read(const struct arena_fixture *fixture, uint32_t unit, void *ret_data,
			size_t len)
{
	uint64_t address = (uint64_t)unit * ARENA_UNIT;
	uint8_t block[ARENA_BLOCK_BYTES];
	uint8_t *out = ret_data;

	while (len > 0) {
		size_t offset = address % ARENA_BLOCK_BYTES;
		size_t part = ARENA_BLOCK_BYTES - offset < len ? ARENA_BLOCK_BYTES - offset : len;

		read_block(fixture->arena_fd, address, block);
		memcpy(out, block + offset, part);
		address += part;
		out += part;
		len -= part;
	}
}
