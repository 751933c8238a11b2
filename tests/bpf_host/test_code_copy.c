/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of code objects that are made by hand. */
#include "bpf/runtime.bpf.h"
#include "fake_bpf.h"

#include "base/err.h"

#include <string.h>

#include "unit.h"

#define PID 77
#define START_NS 5
#define CHECK 9

#define CODE 0x7f4400000000ULL
#define FILENAME 0x7f5500000000ULL
#define NAME 0x7f6600000000ULL
#define LINES 0x7f7700000000ULL
#define TEXT_BYTES 512
#define LINES_BYTES 8192

static const struct cpython_layout layout = {
	.kind = RUNTIME_CPYTHON,
	.filename = 112,
	.name = 128,
	.lines = 136,
	.bytes_size = 16,
};

static void put_lines(uint64_t address, uint64_t size)
{
	uint8_t bytes[LINES_BYTES];

	memset(bytes, 'l', sizeof(bytes));
	memcpy(bytes + layout.bytes_size, &size, sizeof(size));
	fake_add_memory(address, bytes, sizeof(bytes));
}

static void begin(void)
{
	uint8_t text[TEXT_BYTES];

	fake_bpf_reset();
	fake_chain()->layout = layout;
	fake_event()->pid = PID;
	fake_event()->start_ns = START_NS;
	memset(text, 'f', sizeof(text));
	fake_add_memory(FILENAME, text, sizeof(text));
	memset(text, 'n', sizeof(text));
	fake_add_memory(NAME, text, sizeof(text));
	put_lines(LINES, 10);
}

static uint64_t put_code(unsigned int i, uint64_t filename, uint64_t name, uint64_t lines)
{
	uint8_t code[CODE_COPY_OBJECT_BYTES];
	uint64_t address = CODE + UINT64_C(0x100) * i;

	memset(code, 'c', sizeof(code));
	memcpy(code + layout.filename, &filename, sizeof(filename));
	memcpy(code + layout.name, &name, sizeof(name));
	memcpy(code + layout.lines, &lines, sizeof(lines));
	fake_add_memory(address, code, sizeof(code));
	return address;
}

static void a_copy_has_all_that_names_a_function(void **state)
{
	(void)state;
	begin();
	uint64_t code = put_code(0, FILENAME, NAME, LINES);
	python_copy_code(code, CHECK);
	assert_int_equal(fake_nr_copies(), 1);
	assert_false(fake_state()->asks);
	const struct code_copy *copy = fake_copy(0);
	assert_int_equal(copy->no_time, 0);
	assert_int_equal(copy->pid, PID);
	assert_int_equal(copy->start_ns, START_NS);
	assert_int_equal(copy->check, CHECK);
	assert_int_equal(copy->addresses[CODE_COPY_OBJECT], code);
	assert_int_equal(copy->addresses[CODE_COPY_FILENAME], FILENAME);
	assert_int_equal(copy->addresses[CODE_COPY_NAME], NAME);
	assert_int_equal(copy->addresses[CODE_COPY_LINES], LINES);
	assert_int_equal(copy->object[CODE_COPY_OBJECT_BYTES - 1], 'c');
	assert_int_equal(copy->filename[CODE_COPY_FILENAME_BYTES - 1], 'f');
	assert_int_equal(copy->name[CODE_COPY_NAME_BYTES - 1], 'n');
	assert_int_equal(copy->nr_line_bytes, CODE_COPY_BYTES_HEADER + 10);
	assert_int_equal(copy->lines[CODE_COPY_BYTES_HEADER + 9], 'l');
	assert_int_equal(copy->lines[CODE_COPY_BYTES_HEADER + 10], 0); /* behind the record */
}

static void a_code_object_is_copied_once_in_a_process(void **state)
{
	(void)state;
	begin();
	uint64_t code = put_code(0, FILENAME, NAME, LINES);
	python_copy_code(code, CHECK);
	python_copy_code(code, CHECK);
	assert_int_equal(fake_nr_copies(), 1);
	python_copy_code(code, CHECK + 1); /* another one has its place */
	assert_int_equal(fake_nr_copies(), 2);
	fake_event()->start_ns++;
	python_copy_code(code, CHECK);
	fake_event()->pid++;
	python_copy_code(code, CHECK);
	assert_int_equal(fake_nr_copies(), 4);
	assert_false(fake_state()->asks);
}

static void what_cannot_be_copied_is_asked_for_each_time(void **state)
{
	const uint64_t nowhere = 8, unreadable = 0x7f8800000000ULL;
	const uint64_t sizes[] = { CODE_COPY_LINES_BYTES - CODE_COPY_BYTES_HEADER + 1, INT64_MAX,
				   UINT64_MAX - CODE_COPY_BYTES_HEADER, UINT64_MAX };
	uint64_t codes[4 + array_len(sizes)];
	size_t nr = 0;

	(void)state;
	begin();
	codes[nr++] = unreadable;
	codes[nr++] = put_code(1, nowhere, NAME, LINES);
	codes[nr++] = put_code(2, FILENAME, nowhere, LINES);
	codes[nr++] = put_code(3, FILENAME, NAME, nowhere);
	for (size_t i = 0; i < array_len(sizes); i++) {
		uint64_t lines = LINES + 0x10000 * (i + 1);

		put_lines(lines, sizes[i]);
		codes[nr++] = put_code(4 + (unsigned int)i, FILENAME, NAME, lines);
	}
	for (size_t i = 0; i < 2 * nr; i++) {
		fake_state()->asks = false;
		python_copy_code(codes[i / 2], CHECK);
		assert_true(fake_state()->asks);
	}
	assert_int_equal(fake_nr_copies(), 0);
}

static void the_longest_line_table_is_copied(void **state)
{
	uint64_t lines = LINES + 0x10000;

	(void)state;
	begin();
	put_lines(lines, CODE_COPY_LINES_BYTES - CODE_COPY_BYTES_HEADER);
	python_copy_code(put_code(0, FILENAME, NAME, lines), CHECK);
	assert_int_equal(fake_nr_copies(), 1);
	assert_int_equal(fake_copy(0)->lines[CODE_COPY_LINES_BYTES - 1], 'l');
}

static void nothing_is_copied_without_offsets(void **state)
{
	(void)state;
	begin();
	fake_chain()->layout.filename = 0;
	python_copy_code(put_code(0, FILENAME, NAME, LINES), CHECK);
	assert_int_equal(fake_nr_copies(), 0);
	assert_true(fake_state()->asks);
}

static void samples_have_half_of_the_ring_for_themselves(void **state)
{
	(void)state;
	begin();
	uint64_t code = put_code(0, FILENAME, NAME, LINES);
	fake_fill_ring(FAKE_RING_BYTES / 2 + 8);
	python_copy_code(code, CHECK);
	assert_int_equal(fake_nr_copies(), 0);
	assert_true(fake_state()->asks);
	fake_fill_ring(FAKE_RING_BYTES / 2);
	python_copy_code(code, CHECK);
	assert_int_equal(fake_nr_copies(), 1);
}

static void a_sample_has_a_limited_number_of_copies(void **state)
{
	(void)state;
	begin();
	uint64_t code = put_code(0, FILENAME, NAME, LINES);
	for (uint32_t i = 0; i < FAKE_MAX_COPIES; i++)
		python_copy_code(code, i);
	assert_in_range(fake_nr_copies(), 8, FAKE_MAX_COPIES - 1);
	assert_true(fake_state()->asks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_copy_has_all_that_names_a_function),
		cmocka_unit_test(a_code_object_is_copied_once_in_a_process),
		cmocka_unit_test(what_cannot_be_copied_is_asked_for_each_time),
		cmocka_unit_test(the_longest_line_table_is_copied),
		cmocka_unit_test(nothing_is_copied_without_offsets),
		cmocka_unit_test(samples_have_half_of_the_ring_for_themselves),
		cmocka_unit_test(a_sample_has_a_limited_number_of_copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
