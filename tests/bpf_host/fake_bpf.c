/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_bpf.h"

#include "bpf/maps.bpf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An array map whose values come into being when they are looked up. */
struct fake_array {
	size_t value_bytes;
	uint32_t nr_values;
	void **values; /* owned, and each of them */
	uint32_t *made; /* owned; the indexes of those that are there */
	uint32_t nr_made;
};

struct fake_region {
	uint64_t address;
	size_t len;
	uint8_t *data; /* owned */
};

struct fake_process {
	uint32_t pid;
	uint64_t binding;
};

struct fake_file {
	struct file_key key;
	uint32_t slot;
};

#define FAKE_MAX_FILES 16
#define FAKE_MAX_REGIONS 4096
#define FAKE_MAX_PROCESSES 4 /* so that a test can fill the map */

static struct fake_array scratch_array = { .value_bytes = sizeof(struct scratch), .nr_values = 1 };
static struct fake_array rules_array = { .value_bytes = sizeof(struct known_rule),
					 .nr_values = NR_KNOWN_RULES };
static struct fake_array chain_array = { .value_bytes = sizeof(struct python_chain),
					 .nr_values = 1 };
static struct fake_array hotspot_array = { .value_bytes = sizeof(struct hotspot_frame),
					   .nr_values = 1 };
static struct fake_array copy_array = { .value_bytes = sizeof(struct code_copy), .nr_values = 1 };
static struct fake_array copied_array = { .value_bytes = sizeof(uint64_t),
					  .nr_values = 1 << COPIED_CODE_BITS };
static struct fake_array tables_array = { .value_bytes = sizeof(struct table_slot),
					  .nr_values = MAX_TABLE_SLOTS };
static struct fake_array *chunks[ARENA_MAX_CHUNKS];
static struct fake_region regions[FAKE_MAX_REGIONS];
static size_t nr_regions;
static int process_fd = -1;
static struct fake_process bindings[FAKE_MAX_PROCESSES];
static size_t nr_bindings;
static unsigned int nr_asked;
static struct fake_array walks_array = { .value_bytes = sizeof(struct vma_walk),
					 .nr_values = NR_VMA_ASKERS };
static struct fake_file known_files[FAKE_MAX_FILES];
static size_t nr_known_files;
static struct code_copy copies[FAKE_MAX_COPIES];
static size_t nr_copies;
static uint64_t ring_bytes;

static void *allocate(size_t nr, size_t bytes)
{
	void *data = calloc(nr, bytes);

	if (!data)
		abort();
	return data;
}

static void *array_value(struct fake_array *array, uint32_t index)
{
	if (index >= array->nr_values)
		return NULL;
	if (!array->values) {
		array->values = allocate(array->nr_values, sizeof(*array->values));
		array->made = allocate(array->nr_values, sizeof(*array->made));
	}
	if (!array->values[index]) {
		array->values[index] = allocate(1, array->value_bytes);
		array->made[array->nr_made++] = index;
	}
	return array->values[index];
}

static void array_clear(struct fake_array *array)
{
	for (uint32_t i = 0; i < array->nr_made; i++) {
		free(array->values[array->made[i]]);
		array->values[array->made[i]] = NULL;
	}
	array->nr_made = 0;
}

static void drop_chunk(struct fake_array *chunk)
{
	if (!chunk)
		return;
	array_clear(chunk);
	free(chunk->values);
	free(chunk->made);
	free(chunk);
}

void fake_bpf_reset(void)
{
	array_clear(&scratch_array);
	array_clear(&rules_array);
	array_clear(&chain_array);
	array_clear(&hotspot_array);
	array_clear(&copy_array);
	array_clear(&copied_array);
	array_clear(&tables_array);
	array_clear(&walks_array);
	nr_known_files = 0;
	for (size_t i = 0; i < ARENA_MAX_CHUNKS; i++) {
		drop_chunk(chunks[i]);
		chunks[i] = NULL;
	}
	for (size_t i = 0; i < nr_regions; i++)
		free(regions[i].data);
	nr_regions = 0;
	process_fd = -1;
	nr_bindings = 0;
	nr_asked = 0;
	nr_copies = 0;
	ring_bytes = 0;
}

static struct scratch *fake_scratch(void)
{
	return array_value(&scratch_array, 0);
}

struct unwind_state *fake_state(void)
{
	return &fake_scratch()->unwind;
}

struct sample_event *fake_event(void)
{
	return &fake_scratch()->event;
}

struct vma_walk *fake_walk(uint32_t asker)
{
	return array_value(&walks_array, asker);
}

struct python_chain *fake_chain(void)
{
	return array_value(&chain_array, 0);
}

void fake_add_memory(uint64_t address, const void *data, size_t len)
{
	if (nr_regions == FAKE_MAX_REGIONS)
		abort();
	regions[nr_regions] = (struct fake_region){ address, len, allocate(1, len) };
	memcpy(regions[nr_regions++].data, data, len);
}

void fake_read_process(int fd)
{
	process_fd = fd;
}

bool fake_reads_copy_only(void)
{
	return false;
}

static struct fake_array *make_chunk(uint32_t index)
{
	struct fake_array *chunk = allocate(1, sizeof(*chunk));

	chunk->value_bytes = ARENA_BLOCK_BYTES;
	chunk->nr_values = ARENA_CHUNK_BLOCKS;
	chunks[index] = chunk;
	return chunk;
}

void fake_put(uint32_t unit, const void *data, size_t len)
{
	uint64_t address = (uint64_t)unit * ARENA_UNIT;

	for (size_t done = 0; done < len;) {
		uint64_t at = address + done, chunk = at / ARENA_CHUNK_BYTES;
		size_t in_block = at % ARENA_BLOCK_BYTES, part = ARENA_BLOCK_BYTES - in_block;

		if (chunk >= ARENA_MAX_CHUNKS)
			abort();
		if (!chunks[chunk])
			make_chunk((uint32_t)chunk);
		if (part > len - done)
			part = len - done;
		memcpy((char *)array_value(chunks[chunk],
					   at / ARENA_BLOCK_BYTES % ARENA_CHUNK_BLOCKS) +
			       in_block,
		       (const char *)data + done, part);
		done += part;
	}
}

void fake_set_layout(uint32_t slot, uint32_t unit)
{
	struct table_slot *value = array_value(&tables_array, slot);

	value->runtime = unit;
}

void fake_set_table(uint32_t slot, uint32_t unit)
{
	struct table_slot *value = array_value(&tables_array, slot);

	value->unit = unit;
}

uint32_t fake_table_used(uint32_t slot)
{
	const struct table_slot *value = array_value(&tables_array, slot);

	return value->used;
}

void fake_set_clock(uint32_t used)
{
	struct table_slot *value = array_value(&tables_array, 0);

	value->used = used;
}

static struct fake_process *find_process(uint32_t pid)
{
	for (size_t i = 0; i < nr_bindings; i++)
		if (bindings[i].pid == pid)
			return &bindings[i];
	return NULL;
}

static long bind_process(uint32_t pid, uint64_t binding)
{
	struct fake_process *process = find_process(pid);

	if (!process && nr_bindings == FAKE_MAX_PROCESSES)
		return -E2BIG;
	if (!process)
		process = &bindings[nr_bindings++];
	*process = (struct fake_process){ pid, binding };
	return 0;
}

void fake_bind(uint32_t pid, uint64_t binding)
{
	if (bind_process(pid, binding) < 0)
		abort();
}

int64_t fake_binding(uint32_t pid)
{
	const struct fake_process *process = find_process(pid);

	return process ? (int64_t)process->binding : -1;
}

unsigned int fake_nr_asked(void)
{
	return nr_asked;
}

void fake_set_file(const struct file_key *key, uint32_t slot)
{
	if (nr_known_files == FAKE_MAX_FILES)
		abort();
	known_files[nr_known_files++] = (struct fake_file){ *key, slot };
}

static uint32_t *find_file(const struct file_key *key)
{
	for (size_t i = 0; i < nr_known_files; i++)
		if (memcmp(&known_files[i].key, key, sizeof(*key)) == 0)
			return &known_files[i].slot;
	return NULL;
}

/* The helpers, as the kernel documents them. */

void *bpf_map_lookup_elem(const void *map, const void *key)
{
	uint32_t index;

	if (map == &files)
		return find_file(key);
	memcpy(&index, key, sizeof(index));
	if (map == &vma_walks)
		return array_value(&walks_array, index);
	if (map == &processes) {
		struct fake_process *process = find_process(index);
		return process ? &process->binding : NULL;
	}
	if (map == &scratch_of_cpu)
		return array_value(&scratch_array, index);
	if (map == &known_rules)
		return array_value(&rules_array, index);
	if (map == &python_chains)
		return array_value(&chain_array, index);
	if (map == &hotspot_frames)
		return array_value(&hotspot_array, index);
	if (map == &code_copies)
		return array_value(&copy_array, index);
	if (map == &copied_code)
		return array_value(&copied_array, index);
	if (map == &tables)
		return array_value(&tables_array, index);
	if (map == &arena)
		return index < ARENA_MAX_CHUNKS ? chunks[index] : NULL;
	return array_value((struct fake_array *)map, index);
}

long bpf_map_update_elem(const void *map, const void *key, const void *value, __u64 flags)
{
	uint64_t binding;
	uint32_t pid;

	if (map != &processes || flags != BPF_ANY)
		abort();
	memcpy(&pid, key, sizeof(pid));
	memcpy(&binding, value, sizeof(binding));
	nr_asked += binding == MAPPING_BINDING_ASKED;
	return bind_process(pid, binding);
}

void fake_fill_ring(uint64_t bytes)
{
	ring_bytes = bytes;
}

size_t fake_nr_copies(void)
{
	return nr_copies;
}

const struct code_copy *fake_copy(size_t i)
{
	return &copies[i];
}

long bpf_ringbuf_output(const void *ring, const void *data, __u64 bytes, __u64 flags)
{
	if (ring != &samples || bytes > sizeof(copies[0]) || flags != BPF_RB_NO_WAKEUP)
		abort();
	if (nr_copies == FAKE_MAX_COPIES)
		return -EAGAIN;
	memset(&copies[nr_copies], 0, sizeof(copies[0]));
	memcpy(&copies[nr_copies++], data, bytes);
	return 0;
}

__u64 bpf_ringbuf_query(const void *ring, __u64 flags)
{
	if (ring != &samples)
		abort();
	return flags == BPF_RB_RING_SIZE ? FAKE_RING_BYTES : ring_bytes;
}

static const struct fake_region *find_region(uint64_t address)
{
	for (size_t i = 0; i < nr_regions; i++)
		if (address - regions[i].address < regions[i].len)
			return &regions[i];
	return NULL;
}

static bool read_process(void *to, __u32 bytes, uint64_t address)
{
	return process_fd >= 0 && pread(process_fd, to, bytes, (off_t)address) == (ssize_t)bytes;
}

/* All or nothing: what could not be read is zeroed. */
long bpf_probe_read_user(void *to, __u32 bytes, const void *from)
{
	uint64_t address = (uint64_t)(uintptr_t)from;

	for (__u32 done = 0; done < bytes;) {
		const struct fake_region *region = find_region(address + done);
		uint64_t offset, part;

		if (!region && read_process((char *)to + done, bytes - done, address + done))
			return 0;
		if (!region) {
			memset(to, 0, bytes);
			return -EFAULT;
		}
		offset = address + done - region->address;
		part = region->len - offset;
		if (part > bytes - done)
			part = bytes - done;
		memcpy((char *)to + done, region->data + offset, part);
		done += (__u32)part;
	}
	return 0;
}

/* Returns whether bytes are in the value of a map. */
static bool is_in_value(const struct fake_array *array, const char *from, __u32 bytes)
{
	const char *value = array->nr_made > 0 ? array->values[0] : NULL;

	return value && from >= value && from + bytes <= value + array->value_bytes;
}

/* The kernel's memory is where no user's is, or in a map. */
long bpf_probe_read_kernel(void *to, __u32 bytes, const void *from)
{
	if (is_in_value(&chain_array, from, bytes)) {
		memcpy(to, from, bytes);
		return 0;
	}
	return bpf_probe_read_user(to, bytes, from);
}
