/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/transport/grpc_frame.h"

#include "base/cleanup.h"
#include "base/gzip.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#define BYTES(literal) literal, sizeof(literal) - 1
#define BOMB_BYTES ((size_t)1 << 30)

static void what_was_framed_can_be_read(void **state)
{
	static const size_t lens[] = { 0, 1, 255, 256, 70000 };
	_cleanup_free_ char *message = calloc(1, 70000);
	(void)state;

	for (size_t i = 0; i < 2 * array_len(lens); i++) {
		_cleanup_(strbuf_done) struct strbuf frame = strbuf_with_max(1 << 20);
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(1 << 20);
		size_t len = lens[i / 2];

		memset(message, 'a' + (int)i, len);
		grpc_frame_append(&frame, message, len, i % 2 == 0);
		assert_int_equal(strbuf_error(&frame), 0);
		assert_int_equal(grpc_frame_read(frame.data, frame.len, true, &out), 0);
		assert_int_equal(out.len, len);
		assert_memory_equal(strbuf_str(&out), message, len);
	}
}

static void a_frame_begins_with_flag_and_length(void **state)
{
	_cleanup_(strbuf_done) struct strbuf frame = strbuf_with_max(64);
	(void)state;

	grpc_frame_append(&frame, "abc", 3, false);
	assert_int_equal(frame.len, 8);
	assert_memory_equal(frame.data, "\0\0\0\0\3abc", 8);
	strbuf_clear(&frame);
	grpc_frame_append(&frame, "abc", 3, true);
	assert_memory_equal(frame.data, "\1\0\0\0", 4);
	assert_int_equal(frame.data[4], frame.len - 5);
	assert_true(gzip_is(frame.data + 5, frame.len - 5));
}

static void what_does_not_fit_is_not_framed(void **state)
{
	(void)state;

	for (size_t max = 0; max < 8; max++) {
		_cleanup_(strbuf_done) struct strbuf frame = strbuf_with_max(max);

		grpc_frame_append(&frame, "abc", 3, max % 2);
		assert_int_equal(strbuf_error(&frame), -ENOSPC);
	}
}

static void only_one_whole_message_is_an_answer(void **state)
{
	static const struct {
		const char *body;
		size_t len;
	} cases[] = {
		{ BYTES("") },
		{ BYTES("\0") },
		{ BYTES("\0\0\0\0") },
		{ BYTES("\0\0\0\0\1") },
		{ BYTES("\0\0\0\0\0x") },
		{ BYTES("\0\0\0\0\1x\0\0\0\0\1x") },
		{ BYTES("\0\xff\xff\xff\xff") },
		{ BYTES("\2\0\0\0\1x") },
		{ BYTES("\x80\0\0\0\1x") },
		{ BYTES("\1\0\0\0\0") },
		{ BYTES("\1\0\0\0\4junk") },
		{ BYTES("<html>") },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(64);

		assert_int_equal(grpc_frame_read(cases[i].body, cases[i].len, true, &out),
				 -EBADMSG);
	}
}

static void compression_must_have_been_announced(void **state)
{
	_cleanup_(strbuf_done) struct strbuf frame = strbuf_with_max(64);
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(64);
	(void)state;

	grpc_frame_append(&frame, "abc", 3, true);
	assert_int_equal(grpc_frame_read(frame.data, frame.len, false, &out), -EBADMSG);
}

/* A gigabyte of zeros in a megabyte. */
static void a_bomb_does_not_go_off(void **state)
{
	_cleanup_(strbuf_done) struct strbuf frame = strbuf_with_max(2 * BOMB_BYTES);
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(64 << 10);
	_cleanup_free_ char *zeros = calloc(1, BOMB_BYTES);
	(void)state;

	if (!zeros)
		skip();
	grpc_frame_append(&frame, zeros, BOMB_BYTES, true);
	assert_int_equal(strbuf_error(&frame), 0);
	assert_int_equal(grpc_frame_read(frame.data, frame.len, true, &out), -ENOSPC);
	assert_true(out.cap <= 128 << 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_framed_can_be_read),
		cmocka_unit_test(a_frame_begins_with_flag_and_length),
		cmocka_unit_test(what_does_not_fit_is_not_framed),
		cmocka_unit_test(only_one_whole_message_is_an_answer),
		cmocka_unit_test(compression_must_have_been_announced),
		cmocka_unit_test(a_bomb_does_not_go_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
