/* SPDX-License-Identifier: Apache-2.0 */
/* fake_bpf.h over the local unwinder: the same tests, with what the agent has in place of a
 * kernel. User memory from the stack pointer on is the copy of the stack. */
#include "local_bpf.h"

#include "fake_bpf.h"
#include "unwind/local_unwinder.h"
#include "unwind/tables/unwind_memory_local.h"

#include <stdlib.h>
#include <string.h>

#define ARENA_BYTES ((size_t)2 * ARENA_CHUNK_BYTES)
#define MAX_COPY_BYTES 65536
#define MAX_REGIONS 4096

struct region {
	uint64_t address;
	size_t len;
	uint8_t *data; /* owned */
};

bool local_bpf_asks;

static struct unwind_memory *memory;
static struct local_unwinder *unwinder;
static struct region regions[MAX_REGIONS];
static size_t nr_regions;
static struct unwind_state state;
static struct sample_event event;
static size_t max_len;
static const uint8_t *chain;
static size_t nr_chain;

/* The reset clears everything below these ends. */
static size_t arena_end;
static size_t slots_end;

/* Once: it is large. */
static void make_memory(void)
{
	if (unwind_memory_local_new(ARENA_BYTES, &memory) < 0 ||
	    unwind_memory_add_chunk(memory, 0) < 0 || unwind_memory_add_chunk(memory, 1) < 0)
		abort();
}

void local_bpf_forget_rules(void)
{
	local_unwinder_free(unwinder);
	if (local_unwinder_new(memory, &unwinder) < 0)
		abort();
}

void fake_bpf_reset(void)
{
	if (!memory)
		make_memory();
	local_bpf_forget_rules();
	memset(((struct local_memory *)memory)->arena, 0, arena_end);
	memset(memory->tables, 0, slots_end * sizeof(*memory->tables));
	bound_processes_clear(&((struct local_memory *)memory)->processes);
	arena_end = 0;
	slots_end = 0;
	while (nr_regions > 0)
		free(regions[--nr_regions].data);
	memset(&state, 0, sizeof(state));
	memset(&event, 0, sizeof(event));
	max_len = MAX_COPY_BYTES;
	nr_chain = 0;
	local_bpf_asks = false;
}

struct unwind_memory *local_bpf_memory(void)
{
	arena_end = ARENA_BYTES;
	slots_end = MAX_TABLE_SLOTS;
	return memory;
}

struct local_unwinder *local_bpf_unwinder(void)
{
	return unwinder;
}

void local_bpf_cut(size_t len)
{
	max_len = len;
}

void local_bpf_set_chain(const void *addresses, size_t nr)
{
	chain = addresses;
	nr_chain = nr;
}

struct unwind_state *fake_state(void)
{
	return &state;
}

struct sample_event *fake_event(void)
{
	return &event;
}

void fake_add_memory(uint64_t address, const void *data, size_t len)
{
	if (nr_regions == MAX_REGIONS)
		abort();
	regions[nr_regions] = (struct region){ address, len, calloc(1, len) };
	if (!regions[nr_regions].data)
		abort();
	memcpy(regions[nr_regions++].data, data, len);
}

bool fake_reads_copy_only(void)
{
	return true;
}

void fake_put(uint32_t unit, const void *data, size_t len)
{
	uint64_t address = (uint64_t)unit * ARENA_UNIT;
	struct unwind_window window;

	if (address + len > ARENA_BYTES || unwind_memory_map(memory, address, len, &window) < 0)
		abort();
	if (arena_end < address + len)
		arena_end = address + len;
	memcpy(window.place, data, len);
	unwind_memory_unmap(&window);
}

void fake_set_table(uint32_t slot, uint32_t unit)
{
	if (slots_end <= slot)
		slots_end = slot + 1;
	memory->tables[slot].unit = unit;
}

void fake_bind(uint32_t pid, uint64_t binding)
{
	if (bound_processes_set(&((struct local_memory *)memory)->processes, pid, binding) < 0)
		abort();
}

/* Up to the last region that is near; what is between regions is zeros. */
static size_t copy_stack(uint64_t address, uint8_t bytes[static MAX_COPY_BYTES])
{
	size_t len = 0;

	memset(bytes, 0, MAX_COPY_BYTES);
	for (size_t i = 0; i < nr_regions; i++) {
		uint64_t skipped = regions[i].address < address ? address - regions[i].address : 0;
		uint64_t offset = regions[i].address + skipped - address;

		if (skipped >= regions[i].len || offset >= MAX_COPY_BYTES)
			continue;
		size_t part = regions[i].len - skipped;
		if (part > MAX_COPY_BYTES - offset)
			part = MAX_COPY_BYTES - offset;
		memcpy(bytes + offset, regions[i].data + skipped, part);
		if (offset + part > len)
			len = offset + part;
	}
	return len;
}

int unwind_native(void)
{
	static uint8_t bytes[MAX_COPY_BYTES];
	struct stack_copy copy = {
		.missing = state.missing,
		.ip = state.ip,
		.address = state.regs[CFI_SP],
		.chain = chain,
		.nr_chain = nr_chain,
	};

	memcpy(copy.regs, state.regs, sizeof(copy.regs));
	copy.len = copy_stack(copy.address, bytes);
	copy.is_truncated = copy.len >= max_len;
	if (copy.is_truncated)
		copy.len = max_len;
	uint8_t *exact = malloc(copy.len > 0 ? copy.len : 1);
	if (!exact)
		abort();
	memcpy(exact, bytes, copy.len);
	copy.bytes = exact;
	event.pid = state.pid;
	local_bpf_asks = local_unwinder_unwind(unwinder, &copy, &event);
	free(exact);
	return event.unwind_result;
}
