/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/hotspot/java_method.h"

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "hotspot_memory.h"
#include "unit.h"

#include <string.h>

/* bci 0 line 7, bci 3 line 9. */
static const uint8_t line_table[] = { 0x07, 0x1a, 0 };

static const struct hotspot_method_parts example = {
	.class_name = "org/shop/Cart",
	.name = "pay",
	.source_file = "Cart.java",
	.code_size = 20,
	.line_table = line_table,
	.line_table_bytes = sizeof(line_table),
};

struct method {
	struct hotspot_memory objects;
	uint64_t naming[HOTSPOT_NAMING_NR];
	uint64_t address;
	struct strbuf out;
	struct frame_reader reader;
	struct runtime_line line;
};

static void method_init(struct method *method, const struct hotspot_method_parts *parts)
{
	hotspot_memory_init(&method->objects);
	memcpy(method->naming, hotspot_memory_naming, sizeof(method->naming));
	method->address = hotspot_memory_put_method(&method->objects, parts);
	method->out = strbuf_with_max(64 << 10);
}

static void method_done(struct method *method)
{
	strbuf_done(&method->out);
	hotspot_memory_done(&method->objects);
}

static uint64_t const_method_of(struct method *method)
{
	uint64_t address;

	assert_int_equal(process_memory_read_u64(
				 &method->objects.memory,
				 method->address + method->naming[HOTSPOT_NAMING_METHOD_CONST],
				 &address),
			 0);
	return address;
}

static int add(struct method *method, int32_t bci)
{
	struct java_place place = { .method = method->address, .bci = bci };
	struct frame_writer writer = { .out = &method->out };
	uint32_t nr_lines;

	strbuf_clear(&method->out);
	frame_writer_begin(&writer);
	int r = java_method_add(&method->objects.memory, method->naming, &place, &writer);
	method->reader = (struct frame_reader){ .bytes = method->out.data, .len = method->out.len };
	assert_int_equal(frame_reader_next(&method->reader, &nr_lines), 0);
	assert_int_equal(nr_lines, r == 0);
	if (r == 0)
		assert_int_equal(frame_reader_line(&method->reader, &method->line), 0);
	return r;
}

static void assert_text(const char *text, size_t len, const char *expected)
{
	assert_int_equal(len, strlen(expected));
	assert_memory_equal(text, expected, len);
}

static void assert_name(const struct method *method, const char *name, const char *file)
{
	assert_text(method->line.name, method->line.name_len, name);
	assert_text(method->line.filename, method->line.filename_len, file);
}

static void a_method_has_class_file_and_line(void **state)
{
	_cleanup_(method_done) struct method method;
	(void)state;

	method_init(&method, &example);
	assert_int_equal(add(&method, 4), 0);
	assert_name(&method, "org.shop.Cart.pay", "Cart.java");
	assert_int_equal(method.line.line, 9);
	assert_int_equal(method.line.start_line, 7);
	assert_int_equal(add(&method, -1), 0);
	assert_int_equal(method.line.line, 7);
	assert_int_equal(add(&method, JAVA_BCI_NONE), 0);
	assert_int_equal(method.line.line, 0);
	assert_int_equal(method.line.start_line, 7);
}

static void what_is_not_known_is_left_out(void **state)
{
	_cleanup_(method_done) struct method method;
	struct hotspot_method_parts parts = { .class_name = "A", .name = "b", .code_size = 9 };
	(void)state;

	method_init(&method, &parts);
	assert_int_equal(add(&method, 4), 0);
	assert_name(&method, "A.b", "A");
	assert_int_equal(method.line.line, 0);
	assert_int_equal(method.line.start_line, 0);
}

static void hidden_classes_lose_their_addresses(void **state)
{
	static const char *const names[][2] = {
		{ "Shop$$Lambda+0x00007f12ab004c40", "Shop$$Lambda.b" },
		{ "org/Shop$$Lambda$14/0x0000000800c03000", "org.Shop$$Lambda$14.b" },
		{ "Shop+0x", "Shop+0x.b" },
		{ "Shop+0x12g", "Shop+0x12g.b" },
		{ "Shop+0", "Shop+0.b" },
		{ "+0x1/C", "+0x1.C.b" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(names); i++) {
		_cleanup_(method_done) struct method method;
		struct hotspot_method_parts parts = { .class_name = names[i][0], .name = "b" };

		method_init(&method, &parts);
		assert_int_equal(add(&method, 0), 0);
		assert_text(method.line.name, method.line.name_len, names[i][1]);
	}
}

static void the_source_file_was_once_in_the_class(void **state)
{
	_cleanup_(method_done) struct method method;
	(void)state;

	method_init(&method, &example);
	method.naming[HOTSPOT_NAMING_POOL_SOURCE_FILE] = HOTSPOT_NAMING_NONE;
	assert_int_equal(add(&method, 0), 0);
	assert_name(&method, "org.shop.Cart.pay", "org.shop.Cart");
	/* The first bytes of the class are another index. */
	method.naming[HOTSPOT_NAMING_KLASS_SOURCE_FILE] = 0;
	assert_int_equal(add(&method, 0), 0);
	assert_name(&method, "org.shop.Cart.pay", "org.shop.Cart");
}

static void a_bytecode_must_be_in_the_method(void **state)
{
	_cleanup_(method_done) struct method method;
	(void)state;

	method_init(&method, &example);
	assert_int_equal(add(&method, 19), 0);
	assert_int_equal(add(&method, 20), -EBADMSG);
	assert_int_equal(add(&method, INT32_MAX), -EBADMSG);
}

static void a_method_that_changed_is_not_named(void **state)
{
	_cleanup_(method_done) struct method method;
	struct frame_writer writer;
	(void)state;

	method_init(&method, &example);
	struct java_place place = { .method = method.address, .const_method = 0x1234 };
	writer = (struct frame_writer){ .out = &method.out };
	frame_writer_begin(&writer);
	assert_int_equal(java_method_add(&method.objects.memory, method.naming, &place, &writer),
			 -EBADMSG);
	place.const_method = const_method_of(&method);
	assert_int_equal(java_method_add(&method.objects.memory, method.naming, &place, &writer),
			 0);
}

static void damaged_objects_have_no_names(void **state)
{
	/* Fields of the ConstMethod, what is put there, and the error. */
	static const struct {
		enum hotspot_naming field;
		uint16_t value;
	} damages[] = {
		{ HOTSPOT_NAMING_CONST_NAME_INDEX, 0 },
		{ HOTSPOT_NAMING_CONST_NAME_INDEX, 3 },
		{ HOTSPOT_NAMING_CONST_NAME_INDEX, UINT16_MAX },
		{ HOTSPOT_NAMING_CONST_CODE_SIZE, UINT16_MAX },
		{ HOTSPOT_NAMING_CONST_SIZE, 0 },
		{ HOTSPOT_NAMING_CONST_SIZE, UINT16_MAX },
	};
	(void)state;

	for (size_t i = 0; i < array_len(damages); i++) {
		_cleanup_(method_done) struct method method;

		method_init(&method, &example);
		hotspot_memory_put_u16(&method.objects,
				       const_method_of(&method) + method.naming[damages[i].field],
				       damages[i].value);
		assert_int_equal(add(&method, 0), -EBADMSG);
	}
}

static void wild_pointers_lead_nowhere(void **state)
{
	static const uint64_t addresses[] = { 0, 1, HOTSPOT_MEMORY_BYTES, INT64_MAX, UINT64_MAX };
	(void)state;

	for (size_t i = 0; i < array_len(addresses); i++) {
		_cleanup_(method_done) struct method method;

		method_init(&method, &example);
		method.address = addresses[i];
		assert_true(add(&method, 0) < 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_method_has_class_file_and_line),
		cmocka_unit_test(what_is_not_known_is_left_out),
		cmocka_unit_test(hidden_classes_lose_their_addresses),
		cmocka_unit_test(the_source_file_was_once_in_the_class),
		cmocka_unit_test(a_bytecode_must_be_in_the_method),
		cmocka_unit_test(a_method_that_changed_is_not_named),
		cmocka_unit_test(damaged_objects_have_no_names),
		cmocka_unit_test(wild_pointers_lead_nowhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
