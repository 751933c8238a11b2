/* SPDX-License-Identifier: Apache-2.0 */
/* Expected bytes are those of the protobuf encoding guide, or follow from it by hand. */
#include "base/cleanup.h"
#include "base/pb.h"
#include "unit.h"

#define assert_bytes(buf, text)                                                                    \
	do {                                                                                       \
		assert_int_equal(strbuf_error(&(buf)), 0);                                         \
		assert_int_equal((buf).len, sizeof(text) - 1);                                     \
		assert_memory_equal((buf).data, text, sizeof(text) - 1);                           \
	} while (0)

static void varints_have_seven_bits_a_byte_low_first(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf buf = strbuf_with_max(100);

	pb_varint(&buf, 0);
	pb_varint(&buf, 127);
	pb_varint(&buf, 128);
	pb_varint(&buf, 150);
	pb_varint(&buf, UINT64_MAX);
	assert_bytes(buf, "\x00"
			  "\x7f"
			  "\x80\x01"
			  "\x96\x01"
			  "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

static void scalars_carry_field_number_and_wire_type(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf buf = strbuf_with_max(100);

	pb_uint(&buf, 1, 150);
	pb_uint(&buf, 2, UINT64_MAX);
	pb_fixed64(&buf, 3, UINT64_C(0x1122334455667788));
	pb_uint(&buf, 16, 1);
	assert_bytes(buf, "\x08\x96\x01"
			  "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
			  "\x19\x88\x77\x66\x55\x44\x33\x22\x11"
			  "\x80\x01\x01");
}

static void strings_and_bytes_carry_their_length(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf buf = strbuf_with_max(100);

	pb_string(&buf, 2, "testing");
	pb_bytes(&buf, 3, "\0\1", 2);
	assert_bytes(buf, "\x12\x07testing"
			  "\x1a\x02\x00\x01");
}

static void zero_and_empty_are_left_out_unless_asked_for(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf buf = strbuf_with_max(100);

	pb_uint(&buf, 1, 0);
	pb_fixed64(&buf, 1, 0);
	pb_string(&buf, 1, "");
	pb_bytes(&buf, 1, NULL, 0);
	assert_int_equal(buf.len, 0);
	pb_string_always(&buf, 1, "");
	pb_int_always(&buf, 2, 0);
	assert_bytes(buf, "\x0a\x00"
			  "\x10\x00");
}

static void nested_messages_are_closed_inside_out(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf buf = strbuf_with_max(100);

	size_t outer = pb_begin(&buf, 1);
	pb_uint(&buf, 1, 5);
	size_t inner = pb_begin(&buf, 2);
	pb_string(&buf, 1, "x");
	pb_end(&buf, inner);
	pb_end(&buf, outer);
	assert_bytes(buf, "\x0a\x8a\x80\x80\x00"
			  "\x08\x05"
			  "\x12\x83\x80\x80\x00"
			  "\x0a\x01x");
}

static void a_message_longer_than_one_length_byte_has_the_right_length(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf buf = strbuf_with_max(1000);

	size_t begin = pb_begin(&buf, 3);
	for (uint64_t i = 0; i < 300; i++)
		pb_varint(&buf, 1);
	pb_end(&buf, begin);
	assert_int_equal(buf.len, 305);
	assert_memory_equal(buf.data, "\x1a\xac\x82\x80\x00", 5);
}

static void a_message_over_256_mb_is_an_error(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf buf = strbuf_with_max((size_t)300 << 20);

	size_t begin = pb_begin(&buf, 1);
	if (!strbuf_extend(&buf, (size_t)256 << 20)) {
		skip(); /* not enough memory */
		return;
	}
	pb_end(&buf, begin);
	assert_int_equal(strbuf_error(&buf), -ENOSPC);
}

static void a_full_buffer_stays_failed_through_nesting(void **state)
{
	(void)state;

	for (size_t max = 0; max < 12; max++) {
		_cleanup_(strbuf_done) struct strbuf buf = strbuf_with_max(max);
		size_t outer = pb_begin(&buf, 1);
		size_t inner = pb_begin(&buf, 2);

		pb_uint(&buf, 1, 300);
		pb_end(&buf, inner);
		pb_end(&buf, outer);
		assert_int_equal(strbuf_error(&buf), -ENOSPC);
		assert_true(buf.len <= max);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(varints_have_seven_bits_a_byte_low_first),
		cmocka_unit_test(scalars_carry_field_number_and_wire_type),
		cmocka_unit_test(strings_and_bytes_carry_their_length),
		cmocka_unit_test(zero_and_empty_are_left_out_unless_asked_for),
		cmocka_unit_test(nested_messages_are_closed_inside_out),
		cmocka_unit_test(a_message_longer_than_one_length_byte_has_the_right_length),
		cmocka_unit_test(a_message_over_256_mb_is_an_error),
		cmocka_unit_test(a_full_buffer_stays_failed_through_nesting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
