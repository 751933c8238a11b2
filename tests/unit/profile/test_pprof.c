/* SPDX-License-Identifier: Apache-2.0 */
/* What is in the message is checked by tests/oracle/formats/check_pprof.py, which decodes it with
 * other code. */
#include "profile/pprof.h"

#include "base/pb_reader.h"
#include "profile/builder.h"
#include "profile/pprof_fields.h"
#include "profile/pprof_reader.h"
#include "profile/value_pairs.h"

#include "hostile_names.h"
#include "stacks.h"
#include "torture.h"

#include <string.h>

#define PLENTY_BYTES (1 << 20)

static const struct stack_line lines[] = {
	{ "sh", "main;run;step_[i];do_syscall_64_[k]", 3 },
	{ "caf\xc3", "main;\xff<script>", 2 },
	{ "", "", 1 },
};

static void equal_profiles_give_equal_bytes(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf first = strbuf_with_max(PLENTY_BYTES);
	_cleanup_(strbuf_done) struct strbuf second = strbuf_with_max(PLENTY_BYTES);
	struct strbuf *outs[] = { &first, &second };

	for (size_t i = 0; i < array_len(outs); i++) {
		_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(
			lines, array_len(lines));

		assert_int_equal(pprof_encode_gzip(profile, NULL, outs[i]), 0);
	}
	assert_memory_equal(first.data, "\x1f\x8b", 2);
	assert_int_equal(first.len, second.len);
	assert_memory_equal(first.data, second.data, first.len);
}

static void strings_become_printable(void **state)
{
	(void)state;
	static const char *const wanted[] = { "caf\\xc3", "\\xff<script>", "a title" };
	const struct caption caption = { .title = "a title", .subtitle = "\xff" };
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines,
									      array_len(lines));
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

	assert_int_equal(pprof_encode(profile, NULL, &caption, &out), 0);
	for (size_t i = 0; i < array_len(wanted); i++)
		assert_non_null(memmem(out.data, out.len, wanted[i], strlen(wanted[i])));
	assert_null(memmem(out.data, out.len, "\xff<script>", 9));
}

static void assert_strings(const struct strbuf *message, const char *name)
{
	struct pb_reader reader = pb_reader_of(message->data, message->len);
	struct pb_field field;
	bool is_there = false;

	while (pb_reader_next(&reader, &field) > 0) {
		if (field.number != PROFILE_STRING_TABLE)
			continue;
		assert_printable((const char *)field.data, field.len, false);
		is_there |= field.len == strlen(name) && memcmp(field.data, name, field.len) == 0;
	}
	assert_true(is_there);
}

static void any_name_leaves_printable(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(hostile_names); i++) {
		const char *name = hostile_names[i].name;
		const struct stack_line line = { name, name, 1 };
		const struct caption caption = { .title = name, .subtitle = name };
		_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(&line, 1);
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

		assert_int_equal(pprof_encode(profile, NULL, &caption, &out), 0);
		assert_strings(&out, hostile_names[i].printable);
	}
}

static void an_empty_profile_is_a_valid_message(void **state)
{
	(void)state;
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(NULL, 0);
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

	assert_int_equal(pprof_encode(profile, NULL, NULL, &out), 0);
	assert_int_not_equal(out.len, 0);
}

static void the_buffer_s_limit_is_kept(void **state)
{
	(void)state;
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines,
									      array_len(lines));
	size_t max = 0;

	for (int r = -ENOSPC; r < 0; max++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(max);

		r = pprof_encode(profile, NULL, NULL, &out);
		assert_true(r == 0 || r == -ENOSPC);
		assert_int_equal(strbuf_error(&out), r);
		assert_true(out.len <= max);
	}
	assert_in_range(max, 200, 2000);
}

struct range {
	uint64_t start, limit, offset;
};

/* That of the only mapping of a message. */
static struct range range_of(const struct strbuf *message)
{
	struct pb_reader reader = pb_reader_of(message->data, message->len);
	struct range range = { 0 };
	struct pb_field field;

	while (pb_reader_next(&reader, &field) > 0 && field.number != PROFILE_MAPPING)
		;
	struct pb_reader mapping = pb_reader_of(field.data, field.len);
	while (pb_reader_next(&mapping, &field) > 0) {
		if (field.number == MAPPING_MEMORY_START)
			range.start = field.value;
		if (field.number == MAPPING_MEMORY_LIMIT)
			range.limit = field.value;
		if (field.number == MAPPING_FILE_OFFSET)
			range.offset = field.value;
	}
	return range;
}

/* One sample in a file that is mapped there. */
static struct profile *profile_in(struct range range)
{
	struct profile_mapping mapping = {
		.start = range.start,
		.limit = range.limit,
		.offset = range.offset,
	};
	struct profile_location location = { .address = range.start };
	struct profile_sample sample = { .count = 1 };
	struct profile_function function = { 0 };
	struct profile_line line = { 0 };
	struct builder *builder;
	uint32_t number;

	assert_int_equal(builder_new(PLENTY_BYTES, &builder), 0);
	assert_int_equal(builder_add_string(builder, "/bin/app", &mapping.filename), 0);
	assert_int_equal(builder_add_string(builder, "main", &function.name), 0);
	assert_int_equal(builder_add_mapping(builder, &mapping, &location.mapping), 0);
	assert_int_equal(builder_add_function(builder, &function, &line.function), 0);
	assert_int_equal(builder_add_named_location(builder, &location, &line, 1, &number), 0);
	assert_int_equal(builder_add_stack(builder, &number, 1, &sample.stack), 0);
	assert_int_equal(builder_add_sample(builder, &sample), 0);
	return builder_seal(builder);
}

static void mappings_begin_with_a_page(void **state)
{
	static const struct {
		struct range range, expected;
	} cases[] = {
		{ { 0x401000, 0x402345, 0x1000 }, { 0x401000, 0x402345, 0x1000 } },
		{ { 0x201570, 0x2016d9, 0x570 }, { 0x201000, 0x2016d9, 0 } },
		{ { 0x137d0, 0x50110, 0x127d0 }, { 0x13000, 0x50110, 0x12000 } },
		{ { 0x1640, 0x17d0, 0x530 }, { 0x1640, 0x17d0, 0x530 } }, /* cannot be mapped */
		{ { 0, 4097, 0 }, { 0, 4097, 0 } }, /* a whole file */
		{ { 0, 0, 0 }, { 0, UINT64_MAX, 0 } },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(profile_unrefp) struct profile *profile = profile_in(cases[i].range);
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

		assert_int_equal(pprof_encode(profile, NULL, NULL, &out), 0);
		struct range range = range_of(&out);
		assert_int_equal(range.start, cases[i].expected.start);
		assert_int_equal(range.limit, cases[i].expected.limit);
		assert_int_equal(range.offset, cases[i].expected.offset);
	}
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines,
									      array_len(lines));

	for (unsigned int n = 1;; n++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

		torture_begin(n);
		int r = pprof_encode_gzip(profile, NULL, &out);
		bool has_failed = torture_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
		assert_int_equal(strbuf_error(&out), r);
		if (!has_failed)
			break;
	}
	for (unsigned int n = 1;; n++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

		torture_begin(n);
		int r = pprof_encode(profile, &(struct pprof_part){ .is_bare = true }, NULL, &out);
		bool has_failed = torture_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
		if (!has_failed)
			return;
	}
}

/* How often a field is in a message. */
static size_t count_fields(const void *data, size_t len, uint32_t number)
{
	struct pb_reader reader = pb_reader_of(data, len);
	struct pb_field field;
	size_t nr = 0;

	while (pb_reader_next(&reader, &field) > 0)
		nr += field.number == number;
	return nr;
}

static void each_type_names_its_values_and_period(void **state)
{
	(void)state;
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines,
									      array_len(lines));

	profile->period = 0; /* as of waits for locks */
	for (enum profile_type type = 0; type < PROFILE_NR_TYPES; type++) {
		const struct profile_type_names *names = profile_type_names(type);
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);
		const char *const texts[] = { names->sample_type, names->sample_unit,
					      names->period_type, names->period_unit };
		size_t nr_values = type == PROFILE_CPU ? 2 : 1;
		bool has_period = *names->period_type;

		profile->type = type;
		assert_int_equal(pprof_encode(profile, NULL, NULL, &out), 0);
		for (size_t i = 0; i < array_len(texts); i++)
			assert_non_null(memmem(out.data, out.len, texts[i], strlen(texts[i])));
		assert_int_equal(count_fields(out.data, out.len, PROFILE_SAMPLE_TYPE), nr_values);
		assert_int_equal(count_fields(out.data, out.len, PROFILE_PERIOD_TYPE), has_period);
		assert_int_equal(count_fields(out.data, out.len, PROFILE_PERIOD), has_period);
		assert_int_equal(count_fields(out.data, out.len, PROFILE_DEFAULT_SAMPLE_TYPE), 1);
	}
}

/* A profile of the lines with another type, and with values that are that many times as large. */
static struct profile *profile_of_waits_for_locks(enum profile_type type, uint64_t factor)
{
	struct profile *profile = profile_of_stacks(lines, array_len(lines));

	profile->type = type;
	profile->period = 0;
	for (size_t i = 0; i < profile->nr_samples; i++)
		profile->samples[i].count *= factor;
	return profile;
}

static void waits_for_locks_have_their_number_and_their_time(void **state)
{
	(void)state;
	static const char *const texts[] = { "contentions", "count", "delay", "nanoseconds" };
	_cleanup_(profile_unrefp) struct profile *number = profile_of_waits_for_locks(
		PROFILE_LOCK_CONTENTIONS, 1);
	_cleanup_(profile_unrefp) struct profile *delay = profile_of_waits_for_locks(
		PROFILE_LOCK_DELAY, 1000);
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(PLENTY_BYTES);
	_cleanup_(pprof_profiles_done) struct pprof_profiles read = { 0 };

	assert_int_equal(pprof_encode_waits_gzip(number, delay, NULL, &out), 0);
	assert_int_equal(pprof_read(out.data, out.len, PLENTY_BYTES, &read, &message), 0);
	assert_non_null(read.of[PROFILE_LOCK_CONTENTIONS]);
	assert_non_null(read.of[PROFILE_LOCK_DELAY]);
	assert_int_equal(profile_total(read.of[PROFILE_LOCK_CONTENTIONS]), profile_total(number));
	assert_int_equal(profile_total(read.of[PROFILE_LOCK_DELAY]), profile_total(delay));
	assert_int_equal(read.of[PROFILE_LOCK_DELAY]->nr_samples, delay->nr_samples);

	_cleanup_(strbuf_done) struct strbuf plain = strbuf_with_max(PLENTY_BYTES);
	struct value_pair pairs[array_len(lines)] = { 0 };
	const struct pprof_part part = { .waits = pairs };
	assert_int_equal(pprof_encode(delay, &part, NULL, &plain), 0);
	assert_int_equal(count_fields(plain.data, plain.len, PROFILE_SAMPLE_TYPE), 2);
	assert_int_equal(count_fields(plain.data, plain.len, PROFILE_PERIOD_TYPE), 1);
	for (size_t i = 0; i < array_len(texts); i++)
		assert_non_null(memmem(plain.data, plain.len, texts[i], strlen(texts[i])));
	assert_null(memmem(plain.data, plain.len, "mutex", strlen("mutex")));
}

static void a_part_of_all_samples_is_the_whole(void **state)
{
	(void)state;
	static const uint32_t all[] = { 0, 1, 2 };
	static const struct pprof_part parts[] = { { 0 }, { .samples = all, .nr_samples = 3 } };
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines,
									      array_len(lines));
	_cleanup_(strbuf_done) struct strbuf whole = strbuf_with_max(PLENTY_BYTES);

	assert_int_equal(pprof_encode(profile, NULL, NULL, &whole), 0);
	for (size_t i = 0; i < array_len(parts); i++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

		assert_int_equal(pprof_encode(profile, &parts[i], NULL, &out), 0);
		assert_int_equal(out.len, whole.len);
		assert_memory_equal(out.data, whole.data, whole.len);
	}
}

static void a_part_has_what_its_samples_lead_to(void **state)
{
	(void)state;
	static const uint32_t second[] = { 1 };
	static const struct pprof_part part = { .samples = second, .nr_samples = 1 };
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines,
									      array_len(lines));
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

	assert_int_equal(pprof_encode(profile, &part, NULL, &out), 0);
	assert_int_equal(count_fields(out.data, out.len, PROFILE_SAMPLE), 1);
	assert_int_equal(count_fields(out.data, out.len, PROFILE_LOCATION), 2);
	assert_non_null(memmem(out.data, out.len, "<script>", 8));
	assert_null(memmem(out.data, out.len, "do_syscall_64", 13));
}

static void bare_samples_of_one_stack_are_one(void **state)
{
	(void)state;
	static const uint32_t some[] = { 2, 0, 1, 3 };
	static const struct pprof_part parts[] = {
		{ .is_bare = true },
		{ .samples = some, .nr_samples = array_len(some), .is_bare = true }
	};
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines,
									      array_len(lines));

	/* Another thread with the stack of the first. */
	profile->samples = reallocarray(profile->samples, 4, sizeof(*profile->samples));
	profile->samples[3] = profile->samples[0];
	profile->samples[3].tid = 99;
	profile->nr_samples = 4;
	for (size_t i = 0; i < array_len(parts); i++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

		assert_int_equal(pprof_encode(profile, &parts[i], NULL, &out), 0);
		assert_int_equal(count_fields(out.data, out.len, PROFILE_SAMPLE), 3);
		assert_null(memmem(out.data, out.len, "comm", 4));
		assert_null(memmem(out.data, out.len, "tid", 3));
		/* 3 + 3 samples, and 60 ms of CPU time. */
		assert_non_null(memmem(out.data, out.len, "\x06\x80\x8e\xce\x1c", 5));
	}
}

static void deep_stacks_are_cut_at_the_root_and_say_so(void **state)
{
	(void)state;
	static const struct stack_line deep = { "p", "the_root;b;c;d;the_leaf", 1 };
	static const struct {
		size_t max_frames, nr_locations;
		bool has_root;
	} cases[] = { { 0, 5, true }, { 5, 5, true }, { 4, 4, false }, { 1, 1, false } };
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(&deep, 1);

	for (size_t i = 0; i < array_len(cases); i++) {
		const struct pprof_part part = { .max_frames = cases[i].max_frames };
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

		assert_int_equal(pprof_encode(profile, &part, NULL, &out), 0);
		assert_int_equal(count_fields(out.data, out.len, PROFILE_LOCATION),
				 cases[i].nr_locations);
		assert_int_equal(count_fields(out.data, out.len, PROFILE_FUNCTION),
				 cases[i].nr_locations);
		assert_int_equal(memmem(out.data, out.len, "the_root", 8) != NULL,
				 cases[i].has_root);
		assert_int_equal(memmem(out.data, out.len, "[stack truncated]", 17) != NULL,
				 !cases[i].has_root);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_profiles_give_equal_bytes),
		cmocka_unit_test(strings_become_printable),
		cmocka_unit_test(any_name_leaves_printable),
		cmocka_unit_test(an_empty_profile_is_a_valid_message),
		cmocka_unit_test(the_buffer_s_limit_is_kept),
		cmocka_unit_test(each_type_names_its_values_and_period),
		cmocka_unit_test(waits_for_locks_have_their_number_and_their_time),
		cmocka_unit_test(a_part_of_all_samples_is_the_whole),
		cmocka_unit_test(a_part_has_what_its_samples_lead_to),
		cmocka_unit_test(bare_samples_of_one_stack_are_one),
		cmocka_unit_test(deep_stacks_are_cut_at_the_root_and_say_so),
		cmocka_unit_test(mappings_begin_with_a_page),
		cmocka_unit_test(every_failed_allocation_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
