/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes are those of the protobuf encoding guide, or follow from it by hand. */
#include "base/cleanup.h"
#include "base/pb.h"
#include "base/pb_reader.h"
#include "unit.h"

static void what_was_written_is_read_field_by_field(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(100);
	struct pb_field field;

	pb_uint(&message, 1, UINT64_MAX);
	pb_fixed64(&message, 2, UINT64_C(0x1122334455667788));
	pb_string_always(&message, 3, "");
	pb_string(&message, 0x1fffffff, "text");
	struct pb_reader reader = pb_reader_of(message.data, message.len);

	assert_int_equal(pb_reader_next(&reader, &field), 1);
	assert_true(field.number == 1 && field.wire == PB_WIRE_VARINT && field.value == UINT64_MAX);
	assert_int_equal(pb_reader_next(&reader, &field), 1);
	assert_true(field.number == 2 && field.value == UINT64_C(0x1122334455667788));
	assert_int_equal(pb_reader_next(&reader, &field), 1);
	assert_true(field.number == 3 && field.wire == PB_WIRE_LEN && field.len == 0);
	assert_int_equal(pb_reader_next(&reader, &field), 1);
	assert_true(field.number == 0x1fffffff && field.len == 4);
	assert_memory_equal(field.data, "text", 4);
	assert_int_equal(pb_reader_next(&reader, &field), 0);
	assert_int_equal(pb_reader_next(&reader, &field), 0);
}

static void an_empty_message_has_no_fields(void **state)
{
	(void)state;
	struct pb_reader reader = pb_reader_of(NULL, 0);
	struct pb_field field;
	uint64_t value = 7;

	assert_int_equal(pb_reader_next(&reader, &field), 0);
	assert_int_equal(pb_reader_varint(&reader, &value), -EBADMSG);
	assert_int_equal(value, 7);
}

static void four_bytes_are_a_fixed_field_as_well(void **state)
{
	(void)state;
	struct pb_reader reader = pb_reader_of("\x0d\x01\x02\x03\x84", 5);
	struct pb_field field;

	assert_int_equal(pb_reader_next(&reader, &field), 1);
	assert_int_equal(field.value, 0x84030201);
}

static void malformed_fields_are_told(void **state)
{
	(void)state;
#define BYTES(text) text, sizeof(text) - 1
	static const struct {
		const char *data;
		size_t len;
	} cases[] = {
		{ BYTES("\x08") }, /* no value */
		{ BYTES("\x80") }, /* a tag that does not end */
		{ BYTES("\x00\x01") }, /* field number 0 */
		{ BYTES("\x80\x80\x80\x80\x10\x01") }, /* field number 2^29 */
		{ BYTES("\x08\x80") }, /* a value that does not end */
		{ BYTES("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01") }, /* 71 bits */
		{ BYTES("\x09\x01\x02\x03\x04\x05\x06\x07") }, /* 7 of 8 bytes */
		{ BYTES("\x0d\x01\x02\x03") }, /* 3 of 4 */
		{ BYTES("\x0a\x02x") }, /* 1 of 2 */
		{ BYTES("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01x") },
		{ BYTES("\x0b") }, /* groups are gone from protobuf */
		{ BYTES("\x0c") },
		{ BYTES("\x0e\x01") }, /* no such wire types */
		{ BYTES("\x0f\x01") },
	};

	for (size_t i = 0; i < array_len(cases); i++) {
		struct pb_reader reader = pb_reader_of(cases[i].data, cases[i].len);
		struct pb_field field = { .number = 99 };

		assert_int_equal(pb_reader_next(&reader, &field), -EBADMSG);
		assert_int_equal(field.number, 99);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_written_is_read_field_by_field),
		cmocka_unit_test(an_empty_message_has_no_fields),
		cmocka_unit_test(four_bytes_are_a_fixed_field_as_well),
		cmocka_unit_test(malformed_fields_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
