/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind_input.h"

#include "tests/bpf_host/fake_bpf.h"

#include <string.h>

#define PID 7
#define LIST_UNIT 4
#define LIST_ID 0x01010101U
#define TABLE_UNIT (ARENA_BLOCK_BYTES / ARENA_UNIT - 1) /* its second unit is in another block */
#define STACK 0x7fff00000000ULL
#define CODE 0x400000ULL
#define MAX_STACK_WORDS 256
#define MAX_BYTES 1024 /* of list, and of table */
#define NR_SLOTS 4

struct input {
	const uint8_t *data;
	size_t len;
};

static void take(struct input *input, void *to, size_t len)
{
	size_t part = len < input->len ? len : input->len;

	memset(to, 0, len);
	memcpy(to, input->data, part);
	input->data += part;
	input->len -= part;
}

static uint8_t take_byte(struct input *input)
{
	uint8_t byte;

	take(input, &byte, sizeof(byte));
	return byte;
}

/* A word in 1 to 9 bytes: an address of the stack, of code, a small number, or anything. */
static uint64_t take_word(struct input *input)
{
	uint8_t kind = take_byte(input);
	uint64_t word;

	if (kind < 96)
		return STACK + 8ULL * kind;
	if (kind < 192)
		return CODE + (kind - 96U) * 256ULL + take_byte(input);
	if (kind < 240)
		return kind - 192U;
	take(input, &word, sizeof(word));
	return word;
}

static void fill_stack(struct input *input)
{
	uint64_t words[MAX_STACK_WORDS];
	size_t nr_words = take_byte(input);

	for (size_t i = 0; i < nr_words; i++)
		words[i] = take_word(input);
	if (nr_words)
		fake_add_memory(STACK, words, nr_words * sizeof(*words));
}

static void fill_registers(struct input *input)
{
	struct unwind_state *state = fake_state();
	uint32_t which;

	take(input, &which, sizeof(which));
	for (unsigned int i = 0; i < NR_REGS; i++)
		if (which & REGISTER_BIT(i))
			state->regs[i] = take_word(input);
	if (!state->regs[CFI_RSP])
		state->regs[CFI_RSP] = STACK;
	state->ip = take_word(input);
	state->pid = PID;
	fake_event()->nr_kernel = take_byte(input) & 127;
}

/* A list with one range of file at CODE, or all of it as the input has it. */
static void fill_list(struct input *input)
{
	struct {
		struct mapping_table head;
		uint64_t starts[2];
		_Alignas(32) struct mapping_range ranges[2];
	} list = {
		.head = { .id = LIST_ID,
			  .nr_ranges = 2,
			  .ranges_offset = offsetof(typeof(list), ranges) },
		.starts = { CODE, CODE + 0x10000 },
		.ranges = { { .bias = CODE, .slot = 1 }, { .is_hole = 1 } },
	};
	uint8_t bytes[MAX_BYTES];
	size_t len = 4U * take_byte(input);

	fake_put(LIST_UNIT, &list, sizeof(list));
	take(input, bytes, len);
	if (len)
		fake_put(LIST_UNIT, bytes, len);
}

static void fill_tables(struct input *input)
{
	uint8_t bytes[MAX_BYTES];
	size_t len = 4U * take_byte(input);
	uint32_t unit;

	take(input, bytes, len);
	if (len)
		fake_put(TABLE_UNIT, bytes, len);
	fake_set_table(1, TABLE_UNIT);
	for (uint32_t slot = 2; slot < NR_SLOTS; slot++) {
		take(input, &unit, sizeof(unit));
		fake_set_table(slot, unit);
	}
}

void unwind_input_fill(const uint8_t *data, size_t len)
{
	struct input input = { data, len };

	fill_registers(&input);
	fill_stack(&input);
	fill_tables(&input);
	fill_list(&input);
	fake_bind(PID, MAPPING_BINDING(LIST_UNIT, LIST_ID));
}
