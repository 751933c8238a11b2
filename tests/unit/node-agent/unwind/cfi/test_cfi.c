/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/cfi/cfi.h"

#include "cfi_bytes.h"
#include "row_recorder.h"
#include "torture.h"
#include "unit.h"

#define MAX_FUNCTIONS 8

struct listing {
	struct unwind_functions functions;
	struct unwind_losses losses;
	int result;
};

static struct unwind_source *open_source(const struct cfi_section *section)
{
	struct unwind_source *source = NULL;

	assert_int_equal(cfi_source_new(section, &source), 0);
	return source;
}

static struct listing list(struct unwind_source *source)
{
	struct listing listing = { .functions.max_items = MAX_FUNCTIONS };

	listing.result = source->ops->list(source, &listing.functions, &listing.losses);
	return listing;
}

/* The rows of all functions that are listed. */
static void emit_all(struct unwind_source *source, struct listing *listing,
		     struct row_builder *ret_builder)
{
	*ret_builder = (struct row_builder){ .max_rows = array_len(ret_builder->rows) };
	for (size_t i = 0; i < listing->functions.nr_items; i++)
		assert_int_equal(source->ops->emit(source, &listing->functions.items[i],
						   ret_builder, &listing->losses),
				 0);
}

static void functions_are_listed_in_any_order_with_their_rows(void **state)
{
	struct cfi_bytes bytes = { 0 };
	struct row_builder builder;

	(void)state;
	cfi_bytes_usual_cie(&bytes);
	cfi_bytes_fde(&bytes, 0x2000, 0x10, (struct byte_string)BYTES("\x41\x0e\x10"));
	cfi_bytes_fde(&bytes, 0x1000, 0x20, (struct byte_string)BYTES(""));

	struct cfi_section section = cfi_bytes_section(&bytes);
	_cleanup_(unwind_source_freep) struct unwind_source *source = open_source(&section);
	struct listing listing = list(source);
	assert_int_equal(listing.result, 0);
	assert_int_equal(listing.functions.nr_items, 2);
	assert_int_equal(listing.functions.items[0].start, 0x2000);
	assert_int_equal(listing.functions.items[0].end, 0x2010);
	assert_int_equal(listing.functions.items[1].start, 0x1000);
	assert_int_equal(listing.functions.items[1].end, 0x1020);

	emit_all(source, &listing, &builder);
	assert_int_equal(builder.nr_rows, 3);
	assert_int_equal(builder.rows[1].address, 0x2001);
	assert_int_equal(builder.rows[1].rule.offset, 16);
	assert_int_equal(builder.rows[2].address, 0x1000);
	assert_int_equal(builder.rows[2].rule.offset, 8);
	assert_int_equal(listing.losses.nr_bad_entries, 0);
	free(listing.functions.items);
}

static void each_function_has_the_rules_of_its_own_cie(void **state)
{
	struct cfi_bytes bytes = { 0 };
	struct row_builder builder;

	(void)state;
	cfi_bytes_usual_cie(&bytes);
	size_t second = bytes.len;
	cfi_bytes_entry(&bytes, 0,
			(struct byte_string)BYTES("\x01\0\x01\x78\x10\x0c\x06\x10\x90\x01"));
	cfi_bytes_fde(&bytes, 0x1000, 0x10, (struct byte_string)BYTES(""));
	cfi_bytes_entry(&bytes, (uint32_t)(bytes.len + 4 - second),
			(struct byte_string)BYTES("\x00\x20\0\0\0\0\0\0\x10\0\0\0\0\0\0\0"));
	cfi_bytes_fde(&bytes, 0x3000, 0x10, (struct byte_string)BYTES(""));

	struct cfi_section section = cfi_bytes_section(&bytes);
	_cleanup_(unwind_source_freep) struct unwind_source *source = open_source(&section);
	struct listing listing = list(source);
	emit_all(source, &listing, &builder);
	assert_int_equal(builder.nr_rows, 3);
	assert_int_equal(builder.rows[0].rule.reg, CFI_RSP);
	assert_int_equal(builder.rows[1].rule.reg, CFI_RBP);
	assert_int_equal(builder.rows[2].rule.reg, CFI_RSP);
	free(listing.functions.items);
}

static void debug_frame_is_read_like_eh_frame(void **state)
{
	struct cfi_bytes bytes = { 0 };
	struct row_builder builder;

	(void)state;
	/* The CIE stands behind its FDE. */
	cfi_bytes_entry(&bytes, 24,
			(struct byte_string)BYTES("\x00\x10\0\0\0\0\0\0\x10\0\0\0\0\0\0\0"));
	cfi_bytes_entry(&bytes, UINT32_MAX,
			(struct byte_string)BYTES("\x04\0\x08\0\x01\x78\x10"
						  "\x0c\x07\x08\x90\x01"));

	struct cfi_section section = cfi_bytes_section(&bytes);
	section.is_debug_frame = true;
	_cleanup_(unwind_source_freep) struct unwind_source *source = open_source(&section);
	struct listing listing = list(source);
	assert_int_equal(listing.functions.nr_items, 1);
	emit_all(source, &listing, &builder);
	assert_int_equal(builder.nr_rows, 1);
	assert_int_equal(builder.rows[0].address, 0x1000);
	assert_int_equal(builder.rows[0].rule.kind, CFA_REGISTER);
	assert_int_equal(listing.losses.nr_bad_entries, 0);
	free(listing.functions.items);
}

static void discarded_functions_are_no_loss(void **state)
{
	struct cfi_bytes bytes = { 0 };

	(void)state;
	cfi_bytes_usual_cie(&bytes);
	cfi_bytes_fde(&bytes, 0, 0x10, (struct byte_string)BYTES(""));
	cfi_bytes_fde(&bytes, 0x1000, 0, (struct byte_string)BYTES(""));
	cfi_bytes_fde(&bytes, UINT64_MAX, 0x10, (struct byte_string)BYTES(""));
	cfi_bytes_number(&bytes, 0, 4);
	cfi_bytes_fde(&bytes, 0x1000, 0x10, (struct byte_string)BYTES(""));

	struct cfi_section section = cfi_bytes_section(&bytes);
	_cleanup_(unwind_source_freep) struct unwind_source *source = open_source(&section);
	struct listing listing = list(source);
	assert_int_equal(listing.functions.nr_items, 1);
	assert_int_equal(listing.losses.nr_bad_entries, 0);
	free(listing.functions.items);
}

static void damaged_entries_are_counted_and_skipped(void **state)
{
	struct cfi_bytes bytes = { 0 };

	(void)state;
	cfi_bytes_usual_cie(&bytes);
	cfi_bytes_entry(&bytes, 0, (struct byte_string)BYTES("\x09\0\x01\x78\x10")); /* version */
	size_t bad_cie = bytes.entry;
	cfi_bytes_entry(&bytes, 0, (struct byte_string)BYTES("\x01\0\x01\x78\x10\x0b"));
	cfi_bytes_fde(&bytes, UINT64_MAX - 16, 0x20, (struct byte_string)BYTES("")); /* too long */
	cfi_bytes_entry(&bytes, (uint32_t)(bytes.len + 4), (struct byte_string)BYTES("\x00"));
	cfi_bytes_entry(&bytes, (uint32_t)(bytes.len + 4 - bad_cie),
			(struct byte_string)BYTES("\x00\x20\0\0\0\0\0\0\x10\0\0\0\0\0\0\0"));
	cfi_bytes_entry(&bytes, 0x7fffffff, /* nobody's */
			(struct byte_string)BYTES("\x00\x20\0\0\0\0\0\0\x10\0\0\0\0\0\0\0"));
	cfi_bytes_entry(&bytes, 4, /* its own */
			(struct byte_string)BYTES("\x00\x20\0\0\0\0\0\0\x10\0\0\0\0\0\0\0"));
	cfi_bytes_fde(&bytes, 0x1000, 0x10, (struct byte_string)BYTES(""));
	cfi_bytes_number(&bytes, 0x1000, 4); /* cut off */
	cfi_bytes_number(&bytes, 0, 4);

	struct cfi_section section = cfi_bytes_section(&bytes);
	_cleanup_(unwind_source_freep) struct unwind_source *source = open_source(&section);
	struct listing listing = list(source);
	assert_int_equal(listing.result, 0);
	assert_int_equal(listing.functions.nr_items, 1);
	assert_int_equal(listing.functions.items[0].start, 0x1000);
	assert_int_equal(listing.losses.nr_bad_entries, 8);
	free(listing.functions.items);
}

static void damaged_programs_are_counted_and_keep_their_rows(void **state)
{
	struct cfi_bytes bytes = { 0 };
	struct row_builder builder;

	(void)state;
	cfi_bytes_usual_cie(&bytes);
	cfi_bytes_fde(&bytes, 0x1000, 0x10, (struct byte_string)BYTES("\x44\x3f"));
	cfi_bytes_fde(&bytes, 0x2000, 0x10, (struct byte_string)BYTES("\x07\x03"));

	struct cfi_section section = cfi_bytes_section(&bytes);
	_cleanup_(unwind_source_freep) struct unwind_source *source = open_source(&section);
	struct listing listing = list(source);
	emit_all(source, &listing, &builder);
	assert_int_equal(builder.nr_rows, 3);
	assert_int_equal(builder.rows[0].rule.kind, CFA_REGISTER);
	assert_int_equal(builder.rows[1].rule.kind, CFA_UNSUPPORTED);
	assert_int_equal(builder.rows[2].rule.saved[1], CFI_LOST);
	assert_int_equal(listing.losses.nr_bad_entries, 1);
	assert_int_equal(listing.losses.nr_unsupported_rules, 1);
	free(listing.functions.items);
}

static void a_ref_to_nothing_is_a_damaged_entry(void **state)
{
	static const uint64_t refs[] = { 0, 2, 1000, UINT64_MAX };
	struct cfi_bytes bytes = { 0 };
	struct row_builder builder = { .max_rows = 1 };

	(void)state;
	cfi_bytes_usual_cie(&bytes);

	struct cfi_section section = cfi_bytes_section(&bytes);
	_cleanup_(unwind_source_freep) struct unwind_source *source = open_source(&section);
	for (size_t i = 0; i < array_len(refs); i++) {
		const struct unwind_function function = { 0x1000, 0x1010, refs[i], 0 };
		struct unwind_losses losses = { 0 };

		assert_int_equal(source->ops->emit(source, &function, &builder, &losses), 0);
		assert_int_equal(losses.nr_bad_entries, 1);
	}
	assert_int_equal(builder.nr_rows, 0);
}

static void limits_of_list_and_builder_are_passed_on(void **state)
{
	struct cfi_bytes bytes = { 0 };
	struct row_builder builder = { .max_rows = 0 };

	(void)state;
	cfi_bytes_usual_cie(&bytes);
	for (unsigned int i = 0; i <= MAX_FUNCTIONS; i++)
		cfi_bytes_fde(&bytes, 0x1000 * (i + 1), 0x10, (struct byte_string)BYTES(""));

	struct cfi_section section = cfi_bytes_section(&bytes);
	_cleanup_(unwind_source_freep) struct unwind_source *source = open_source(&section);
	struct listing listing = list(source);
	assert_int_equal(listing.result, -ENOSPC);
	assert_int_equal(listing.functions.nr_items, MAX_FUNCTIONS);
	assert_int_equal(
		source->ops->emit(source, &listing.functions.items[0], &builder, &listing.losses),
		-ENOSPC);
	free(listing.functions.items);
}

static void an_empty_section_has_no_functions(void **state)
{
	const struct cfi_section section = { .data = (const uint8_t *)"" };
	_cleanup_(unwind_source_freep) struct unwind_source *source = open_source(&section);
	struct listing listing = list(source);

	(void)state;
	assert_int_equal(listing.result, 0);
	assert_int_equal(listing.functions.nr_items, 0);
	assert_int_equal(listing.losses.nr_bad_entries, 0);
}

/* Each byte, changed in each bit, and each length: nothing is read that is not there. */
static void no_damage_leads_out_of_the_section(void **state)
{
	struct cfi_bytes whole = { 0 };
	struct row_builder builder;

	(void)state;
	cfi_bytes_entry(&whole, 0,
			(struct byte_string)BYTES("\x01zPLR\0\x01\x78\x10\x07\x9b\x01\x02\x03"
						  "\x04\x1b\x1b\x0c\x07\x08\x90\x01"));
	cfi_bytes_entry(&whole, (uint32_t)(whole.len + 4),
			(struct byte_string)BYTES("\x00\x10\0\0\x20\0\0\0\x04\x01\x02\x03\x04"
						  "\x41\x0e\x10\x86\x02\x02\x03\x0a\x0f\x03\x76"
						  "\x78\x06\x41\x0b\x10\x03\x02\x76\x70"));
	for (size_t bit = 0; bit < whole.len * 8; bit++) {
		struct cfi_section section = cfi_bytes_section(&whole);
		size_t len = bit % whole.len;
		_cleanup_free_ uint8_t *copy = malloc(len + 1);

		assert_non_null(copy);
		memcpy(copy, whole.bytes, len);
		if (bit / 8 < len)
			copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
		section.data = copy;
		section.len = len;
		_cleanup_(unwind_source_freep) struct unwind_source *source = open_source(&section);
		struct listing listing = list(source);
		emit_all(source, &listing, &builder);
		free(listing.functions.items);
	}
}

static void body(const struct cfi_section *section)
{
	_cleanup_(unwind_source_freep) struct unwind_source *source = NULL;

	int r = cfi_source_new(section, &source);
	if (r < 0) {
		assert_int_equal(r, -ENOMEM);
		assert_null(source);
		return;
	}

	struct listing listing = list(source);
	assert_true(listing.result == 0 || listing.result == -ENOMEM);
	free(listing.functions.items);
}

static void want_of_memory_is_reported(void **state)
{
	struct cfi_bytes bytes = { 0 };

	(void)state;
	cfi_bytes_usual_cie(&bytes);
	cfi_bytes_fde(&bytes, 0x1000, 0x10, (struct byte_string)BYTES(""));

	struct cfi_section section = cfi_bytes_section(&bytes);
	for (unsigned int n = 1; torture_begin(n), body(&section), torture_end(); n++)
		;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_listed_in_any_order_with_their_rows),
		cmocka_unit_test(each_function_has_the_rules_of_its_own_cie),
		cmocka_unit_test(debug_frame_is_read_like_eh_frame),
		cmocka_unit_test(discarded_functions_are_no_loss),
		cmocka_unit_test(damaged_entries_are_counted_and_skipped),
		cmocka_unit_test(damaged_programs_are_counted_and_keep_their_rows),
		cmocka_unit_test(a_ref_to_nothing_is_a_damaged_entry),
		cmocka_unit_test(limits_of_list_and_builder_are_passed_on),
		cmocka_unit_test(an_empty_section_has_no_functions),
		cmocka_unit_test(no_damage_leads_out_of_the_section),
		cmocka_unit_test(want_of_memory_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
