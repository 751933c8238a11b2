/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that Flamelet does not write: those of others, and those that are none. */
#include "profile/pprof_reader.h"

#include "base/pb.h"
#include "profile/pprof_fields.h"
#include "profile/pprof_message.h"

#include "unit.h"

#include <stdio.h>
#include <string.h>

#define PLENTY_BYTES ((size_t)4 << 20)

/* Numbers of the strings that each message here begins with. */
enum {
	EMPTY,
	SAMPLES,
	COUNT,
	CPU,
	NANOSECONDS,
	MAIN,
	FILE_A,
	KERNEL,
	BUILD_ID,
	OTHER,
	CLOCK_SAMPLE,
	CLOCK_EVENT,
	NAMESPACE,
	NAMESPACE_LONG,
	COMM,
	THREAD_NAME,
	PID,
	SPAN_ID,
	TEXT,
	WALL,
	CYCLES,
	REASON,
};
static const char *const strings[] = {
	"",
	"samples",
	"count",
	"cpu",
	"nanoseconds",
	"main",
	"/opt/a",
	"[kernel.kallsyms]_text",
	"0a1b",
	"other",
	"cpu-clock:u_sample",
	"cpu-clock:u_event",
	"namespace",
	"k8s.namespace.name",
	"comm",
	"thread_name",
	"pid",
	"span_id",
	"text",
	"wall",
	"cycles_sample",
	"reason",
};

/* A repeated field of numbers, packed. */
static void put_packed(struct strbuf *out, uint32_t field, const uint64_t *numbers, size_t nr)
{
	size_t begin = pb_begin(out, field);

	for (size_t i = 0; i < nr; i++)
		pb_varint(out, numbers[i]);
	pb_end(out, begin);
}

/* A message of numbers: fields 1, 2, … as far as `nr`. */
static void put_numbers(struct strbuf *out, uint32_t field, const uint64_t *numbers, size_t nr)
{
	size_t begin = pb_begin(out, field);

	for (size_t i = 0; i < nr; i++)
		pb_uint(out, (uint32_t)i + 1, numbers[i]);
	pb_end(out, begin);
}

#define NUMBERS(...)                                                                               \
	(const uint64_t[]){ __VA_ARGS__ }, array_len(((const uint64_t[]){ __VA_ARGS__ }))

static void put_strings(struct strbuf *out)
{
	for (size_t i = 0; i < array_len(strings); i++)
		pb_string_always(out, PROFILE_STRING_TABLE, strings[i]);
}

static void put_type(struct strbuf *out, uint64_t type, uint64_t unit)
{
	put_numbers(out, PROFILE_SAMPLE_TYPE, NUMBERS(type, unit));
}

/* A location with one line of a function. */
static void put_location(struct strbuf *out, uint64_t id, uint64_t mapping, uint64_t address,
			 uint64_t function)
{
	size_t begin = pb_begin(out, PROFILE_LOCATION);

	pb_uint(out, LOCATION_ID, id);
	pb_uint(out, LOCATION_MAPPING_ID, mapping);
	pb_uint(out, LOCATION_ADDRESS, address);
	if (function)
		put_numbers(out, LOCATION_LINE, NUMBERS(function, 7));
	pb_end(out, begin);
}

/* A sample with one frame, or none for location 0, and one value. */
static void put_sample(struct strbuf *out, uint64_t location, uint64_t value)
{
	size_t begin = pb_begin(out, PROFILE_SAMPLE);

	if (location)
		put_packed(out, SAMPLE_LOCATION_ID, &location, 1);
	put_packed(out, SAMPLE_VALUE, &value, 1);
	pb_end(out, begin);
}

static struct strbuf new_message(void)
{
	struct strbuf out = strbuf_with_max(PLENTY_BYTES);

	put_strings(&out);
	return out;
}

static struct pprof_profiles read_message(const struct strbuf *message)
{
	_cleanup_(strbuf_done) struct strbuf reason = strbuf_with_max(1024);
	struct pprof_profiles profiles;

	assert_int_equal(strbuf_error(message), 0);
	int r = pprof_read(message->data, message->len, PLENTY_BYTES, &profiles, &reason);
	assert_string_equal(strbuf_str(&reason), "");
	assert_int_equal(r, 0);
	return profiles;
}

static void expect_failure(const struct strbuf *message, int error, const char *reason)
{
	_cleanup_(strbuf_done) struct strbuf told = strbuf_with_max(1024);
	struct pprof_profiles profiles;

	strbuf_append_str(&told, "of before");
	assert_int_equal(strbuf_error(message), 0);
	assert_int_equal(pprof_read(message->data, message->len, PLENTY_BYTES, &profiles, &told),
			 error);
	assert_string_equal(strbuf_str(&told), reason);
}

static const struct profile_location *leaf_of(const struct profile *p, size_t sample)
{
	const struct profile_stack *stack = &p->stacks[p->samples[sample].stack];

	assert_true(stack->nr > 0);
	return &p->locations[p->stack_locations[stack->first]];
}

static const char *leaf_name(const struct profile *p, size_t sample)
{
	return profile_location_name(p, (uint32_t)(leaf_of(p, sample) - p->locations));
}

static void ids_are_any_numbers_and_tables_in_any_order(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(PLENTY_BYTES);
	size_t begin;

	put_numbers(&message, PROFILE_FUNCTION, NUMBERS(UINT64_MAX, MAIN, MAIN, FILE_A, 3));
	put_location(&message, 2, 0, 64, 1); /* 2 and 1 are not where such ids usually are */
	put_location(&message, 1, UINT64_MAX - 1, 128, UINT64_MAX);
	begin = pb_begin(&message, PROFILE_SAMPLE);
	pb_uint(&message, SAMPLE_LOCATION_ID, 1); /* not packed */
	pb_uint(&message, SAMPLE_LOCATION_ID, 2);
	pb_uint(&message, SAMPLE_VALUE, 5);
	pb_end(&message, begin);
	put_numbers(&message, PROFILE_FUNCTION, NUMBERS(1, OTHER));
	put_numbers(&message, PROFILE_MAPPING,
		    NUMBERS(UINT64_MAX - 1, 0, 4096, 0, FILE_A, BUILD_ID));
	put_type(&message, SAMPLES, COUNT);
	put_strings(&message);

	_cleanup_(pprof_profiles_done) struct pprof_profiles read = read_message(&message);
	const struct profile *p = read.of[PROFILE_CPU];
	assert_non_null(p);
	assert_int_equal(profile_total(p), 5);
	assert_int_equal(p->stacks[p->samples[0].stack].nr, 2);
	assert_string_equal(leaf_name(p, 0), "main");
	assert_int_equal(leaf_of(p, 0)->address, 128);
	assert_int_equal(p->mappings[leaf_of(p, 0)->mapping].limit, 4096);
	assert_string_equal(profile_string(p, p->mappings[leaf_of(p, 0)->mapping].build_id),
			    "0a1b");
	assert_int_equal(profile_location_lines(p, leaf_of(p, 0))->line, 7);
	assert_string_equal(profile_location_name(p, 2), "other");
}

static void locations_without_lines_are_named_after_their_place(void **state)
{
	(void)state;
	static const struct {
		uint64_t mapping, address;
		const char *name;
		enum frame_kind kind;
	} cases[] = {
		{ 0, 0x123, "0x123", FRAME_NATIVE },
		{ 1, 0x401234, "a+0x2234", FRAME_NATIVE },
		{ 1, 0x3fffff, "a+0x3fffff", FRAME_NATIVE }, /* in front of it */
		{ 1, 0x500000, "a+0x500000", FRAME_NATIVE }, /* behind it */
		{ 2, 0xffffffff81000010, "[kernel.kallsyms]_text+0xffffffff81000010",
		  FRAME_KERNEL },
		{ 3, 0x10, "0x10", FRAME_NATIVE },
	};
	_cleanup_(strbuf_done) struct strbuf message = new_message();

	put_type(&message, SAMPLES, COUNT);
	put_numbers(&message, PROFILE_MAPPING, NUMBERS(1, 0x400000, 0x500000, 0x1000, FILE_A));
	put_numbers(&message, PROFILE_MAPPING,
		    NUMBERS(2, 0xffffffff81000000, 0xffffffffa0000000, 0, KERNEL));
	put_numbers(&message, PROFILE_MAPPING, NUMBERS(3, 0, 0, 0, EMPTY, TEXT));
	for (size_t i = 0; i < array_len(cases); i++) {
		put_location(&message, i + 1, cases[i].mapping, cases[i].address, 0);
		put_sample(&message, i + 1, 1);
	}

	_cleanup_(pprof_profiles_done) struct pprof_profiles read = read_message(&message);
	const struct profile *p = read.of[PROFILE_CPU];
	for (size_t i = 0; i < array_len(cases); i++) {
		assert_string_equal(leaf_name(p, i), cases[i].name);
		assert_int_equal(leaf_of(p, i)->address, cases[i].address);
		assert_int_equal(leaf_of(p, i)->kind, cases[i].kind);
	}
	assert_int_equal(p->mappings[1].start, 0x400000);
	assert_int_equal(p->mappings[1].limit, 0x500000);
	assert_int_equal(p->mappings[1].offset, 0x1000);
	assert_int_equal(p->mappings[2].limit, 0);
	assert_int_equal(p->mappings[3].build_id, 0); /* "text" is none */
}

#define IS_SAMPLES                                                                                 \
	{                                                                                          \
		SAMPLES, COUNT                                                                     \
	}
#define IS_CPU_TIME                                                                                \
	{                                                                                          \
		CPU, NANOSECONDS                                                                   \
	}
#define IS_OTHER                                                                                   \
	{                                                                                          \
		OTHER, COUNT                                                                       \
	}

/* One sample with two values, of the types given; what a CPU profile of it says. */
static const struct cpu_case {
	uint64_t first_type[2], second_type[2];
	uint64_t values[2];
	uint64_t period_type[2], period;
	uint64_t count, read_period;
} cpu_cases[] = {
	/* Samples count, whatever the CPU time is. */
	{ IS_SAMPLES, IS_CPU_TIME, { 3, 25 }, IS_CPU_TIME, 10, 3, 10 },
	{ IS_CPU_TIME, IS_SAMPLES, { 25, 3 }, { 0 }, 0, 3, 8 },
	{ IS_CPU_TIME, IS_SAMPLES, { 0, 3 }, { 0 }, 0, 3, 1 },
	{ IS_SAMPLES, IS_OTHER, { 3, 25 }, IS_CPU_TIME, 10, 3, 10 },
	/* CPU time alone. */
	{ IS_CPU_TIME, IS_OTHER, { 25, 0 }, IS_CPU_TIME, 10, 3, 10 },
	{ IS_CPU_TIME, IS_OTHER, { 24, 0 }, IS_CPU_TIME, 10, 2, 10 },
	{ IS_CPU_TIME, IS_OTHER, { 1, 0 }, IS_CPU_TIME, 10, 1, 10 },
	{ IS_CPU_TIME, IS_OTHER, { 25, 0 }, { CPU, COUNT }, 10, 25, 1 },
	{ IS_CPU_TIME, IS_OTHER, { 25, 0 }, IS_CPU_TIME, 0, 25, 1 },
	{ IS_CPU_TIME, IS_OTHER, { 25, 0 }, IS_CPU_TIME, (uint64_t)-5, 25, 1 },
	/* perf_to_profile. */
	{ { CLOCK_SAMPLE, COUNT }, { CLOCK_EVENT, COUNT }, { 3, 30 }, { 0 }, 0, 3, 10 },
	{ { CYCLES, COUNT }, IS_OTHER, { 3, 30 }, { 0 }, 0, 3, 1 },
};

static void cpu_values_become_counts(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(cpu_cases); i++) {
		const struct cpu_case *cpu = &cpu_cases[i];
		_cleanup_(strbuf_done) struct strbuf message = new_message();

		put_type(&message, cpu->first_type[0], cpu->first_type[1]);
		put_type(&message, cpu->second_type[0], cpu->second_type[1]);
		put_numbers(&message, PROFILE_PERIOD_TYPE, cpu->period_type, 2);
		pb_uint(&message, PROFILE_PERIOD, cpu->period);
		size_t begin = pb_begin(&message, PROFILE_SAMPLE);
		put_packed(&message, SAMPLE_VALUE, cpu->values, 2);
		pb_end(&message, begin);

		_cleanup_(pprof_profiles_done) struct pprof_profiles read = read_message(&message);
		assert_non_null(read.of[PROFILE_CPU]);
		assert_int_equal(profile_total(read.of[PROFILE_CPU]), cpu->count);
		assert_int_equal(read.of[PROFILE_CPU]->period, cpu->read_period);
	}
}

static void types_that_are_not_known_are_counted(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf message = new_message();
	size_t begin;

	put_type(&message, WALL, NANOSECONDS);
	put_type(&message, OTHER, COUNT);
	put_type(&message, WALL, NANOSECONDS); /* again */
	begin = pb_begin(&message, PROFILE_SAMPLE);
	put_packed(&message, SAMPLE_VALUE, NUMBERS(4, 5, 6));
	pb_end(&message, begin);
	begin = pb_begin(&message, PROFILE_SAMPLE);
	put_packed(&message, SAMPLE_VALUE, NUMBERS((uint64_t)-4, 5, 6));
	pb_end(&message, begin);

	_cleanup_(pprof_profiles_done) struct pprof_profiles read = read_message(&message);
	assert_null(read.of[PROFILE_CPU]);
	assert_int_equal(profile_total(read.of[PROFILE_WALL]), 4);
	assert_int_equal(read.of[PROFILE_WALL]->period, 1);
	assert_int_equal(read.nr_types_unknown, 2);
	assert_int_equal(read.nr_values_negative, 1);
}

static void labels_say_whose_sample_it_is(void **state)
{
	(void)state;
	static const uint64_t labels[][3] = {
		/* key, text, number */
		{ COMM, MAIN },
		{ THREAD_NAME, OTHER },
		{ PID, 0, 77 },
		{ NAMESPACE, TEXT },
		{ NAMESPACE_LONG, OTHER },
		{ OTHER, MAIN },
		{ SPAN_ID, TEXT },
		{ CPU, MAIN },
		{ TEXT, 0, 5 },
		{ EMPTY, TEXT },
		{ OTHER, TEXT },
		{ REASON, TEXT }, /* none of ours */
	};
	_cleanup_(strbuf_done) struct strbuf message = new_message();

	put_type(&message, SAMPLES, COUNT);
	size_t begin = pb_begin(&message, PROFILE_SAMPLE);
	pb_uint(&message, SAMPLE_VALUE, 1);
	for (size_t i = 0; i < array_len(labels); i++)
		put_numbers(&message, SAMPLE_LABEL, labels[i], 3);
	pb_end(&message, begin);

	_cleanup_(pprof_profiles_done) struct pprof_profiles read = read_message(&message);
	const struct profile *p = read.of[PROFILE_CPU];
	const struct profile_sample *sample = &p->samples[0];
	assert_string_equal(profile_string(p, sample->process_comm), "main");
	assert_string_equal(profile_string(p, sample->thread_comm), "other");
	assert_int_equal(sample->pid, 77);
	assert_int_equal(sample->cpu, 0);
	assert_int_equal(sample->reason, REASON_NONE);
	assert_int_equal(p->resources[sample->resource].nr, 3);
	assert_string_equal(profile_resource_get(p, sample->resource, "reason"), "text");
	assert_string_equal(profile_resource_get(p, sample->resource, "k8s.namespace.name"),
			    "text");
	assert_string_equal(profile_resource_get(p, sample->resource, "other"), "main");
}

static void a_deep_stack_is_cut_at_its_root_and_says_so(void **state)
{
	(void)state;
	for (size_t nr = PPROF_MAX_FRAMES; nr <= PPROF_MAX_FRAMES + 1; nr++) {
		_cleanup_(strbuf_done) struct strbuf message = new_message();

		put_type(&message, SAMPLES, COUNT);
		put_numbers(&message, PROFILE_FUNCTION, NUMBERS(1, MAIN));
		put_location(&message, 1, 0, 16, 1);
		size_t begin = pb_begin(&message, PROFILE_SAMPLE);
		for (size_t i = 0; i < nr; i++)
			pb_uint(&message, SAMPLE_LOCATION_ID, 1);
		pb_uint(&message, SAMPLE_VALUE, 1);
		pb_end(&message, begin);

		_cleanup_(pprof_profiles_done) struct pprof_profiles read = read_message(&message);
		const struct profile *p = read.of[PROFILE_CPU];
		const struct profile_stack *stack = &p->stacks[p->samples[0].stack];
		uint32_t root = p->stack_locations[stack->first + stack->nr - 1];
		bool is_cut = nr > PPROF_MAX_FRAMES;

		assert_int_equal(stack->nr, PPROF_MAX_FRAMES + is_cut);
		assert_string_equal(leaf_name(p, 0), "main");
		assert_string_equal(profile_location_name(p, root),
				    is_cut ? "[stack truncated]" : "main");
		assert_int_equal(p->locations[root].kind, is_cut ? FRAME_STOP : FRAME_NATIVE);
	}
}

#define BYTES(text) text, sizeof(text) - 1

/* A sample in location 5, with one value. */
#define SAMPLE_IN_5 "\x12\x04\x08\x05\x10\x01"

static void what_is_damaged_is_named(void **state)
{
	(void)state;
	/* Behind a message that is good: a type, function 1 and location 1. */
	static const struct {
		const char *bytes;
		size_t len;
		const char *reason;
	} cases[] = {
		{ BYTES("\x12\x06\x0a\x01\x4d\x12\x01\x01"),
		  "sample 1: location 77 is not in the table" },
		{ BYTES("\x12\x04\x08\x01\x10\x01\x12\x04\x08\x00\x10\x01"),
		  "sample 2: location 0 is not in the table" },
		{ BYTES("\x22\x04\x08\x05\x10\x09" SAMPLE_IN_5),
		  "location 5: mapping 9 is not in the table" },
		{ BYTES("\x22\x06\x08\x05\x22\x02\x08\x09" SAMPLE_IN_5),
		  "location 5: function 9 is not in the table" },
		{ BYTES("\x2a\x04\x08\x02\x10\x64\x22\x06\x08\x05\x22\x02\x08\x02" SAMPLE_IN_5),
		  "string 100 is not in the table" },
		{ BYTES("\x22\x02\x08\x05\x22\x02\x08\x05"), "location 5 occurs twice" },
		{ BYTES("\x2a\x02\x08\x01"), "function 1 occurs twice" },
		{ BYTES("\x2a\x02\x10\x05"), "function 2 has no id" },
		{ BYTES("\x12\x02\x08\x01"), "sample 1 has 0 values for 1 types" },
		{ BYTES("\x12\x04\x10\x01\x10\x02"), "sample 1 has 2 values for 1 types" },
		{ BYTES("\x12\x08\x10\x01\x1a\x04\x08\x64\x10\x05"),
		  "string 100 is not in the table" },
		{ BYTES("\x12\x08\x10\x01\x1a\x04\x08\x05\x10\x64"),
		  "string 100 is not in the table" },
		{ BYTES("\x0a\x02\x08\x64"), "string 100 is not in the table" },
		{ BYTES("\x12\x03\x12\x05\x01"), "sample 1 is damaged" },
		{ BYTES("\x12\x03\x12\x01\x80"), "sample 1 is damaged" }, /* a number cut short */
		{ BYTES("\x12\x04\x10\x01\x18\x01"), "sample 1 is damaged" }, /* label 1 */
		{ BYTES("\x12\x05\x15\x01\x02\x03\x04"), "sample 1 is damaged" }, /* 32 bits */
		{ BYTES("\x22\x03\x08\x06\x18"), "location 2 has no id" },
		{ BYTES("\x22\x05\x08\x05\x1a\x01x" SAMPLE_IN_5), "location 5 is damaged" },
		{ BYTES("\x22\x04\x08\x05\x20\x01" SAMPLE_IN_5),
		  "a line of a location is damaged" },
		{ BYTES("\x0a\x01\x08"), "a value type is damaged" },
		{ BYTES("\x4a\x03now"), "field 9 has the wrong type" },
		{ BYTES("\x10\x05"), "field 2 has the wrong type" },
	};

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf message = new_message();

		put_type(&message, SAMPLES, COUNT);
		put_numbers(&message, PROFILE_FUNCTION, NUMBERS(1, MAIN));
		put_location(&message, 1, 0, 16, 1);
		strbuf_append(&message, cases[i].bytes, cases[i].len);
		expect_failure(&message, -EBADMSG, cases[i].reason);
	}
}

static void what_there_is_too_much_of_is_named(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf labels = new_message();
	_cleanup_(strbuf_done) struct strbuf attributes = new_message();
	_cleanup_(strbuf_done) struct strbuf types = new_message();
	char key[16];

	put_type(&labels, SAMPLES, COUNT);
	size_t begin = pb_begin(&labels, PROFILE_SAMPLE);
	pb_uint(&labels, SAMPLE_VALUE, 1);
	for (size_t i = 0; i <= PPROF_MAX_LABELS; i++)
		put_numbers(&labels, SAMPLE_LABEL, NUMBERS(OTHER, TEXT));
	pb_end(&labels, begin);
	expect_failure(&labels, -EBADMSG, "sample 1 has more than 256 labels");

	put_type(&attributes, SAMPLES, COUNT);
	begin = pb_begin(&attributes, PROFILE_SAMPLE);
	pb_uint(&attributes, SAMPLE_VALUE, 1);
	for (size_t i = 0; i < 250; i++)
		put_numbers(&attributes, SAMPLE_LABEL, NUMBERS(array_len(strings) + i, TEXT));
	pb_end(&attributes, begin);
	for (size_t i = 0; i < 250; i++) {
		snprintf(key, sizeof(key), "key %zu", i);
		pb_string(&attributes, PROFILE_STRING_TABLE, key);
	}
	expect_failure(&attributes, -EBADMSG, "a sample has more than 249 text labels");

	for (size_t i = 0; i <= PPROF_MAX_TYPES; i++)
		put_type(&types, OTHER, COUNT);
	expect_failure(&types, -EBADMSG, "there are more than 64 sample types");
}

static void other_bytes_are_no_profile(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf nothing = strbuf_with_max(100);
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(100);
	_cleanup_(strbuf_done) struct strbuf late = strbuf_with_max(100);
	_cleanup_(strbuf_done) struct strbuf untyped = new_message();
	_cleanup_(strbuf_done) struct strbuf cut = new_message();
	_cleanup_(strbuf_done) struct strbuf packed = strbuf_with_max(100);
	char reason[64];

	expect_failure(&nothing, -EBADMSG, "the string table does not begin with \"\"");
	strbuf_append_str(&text, "goroutine profile: total 7\n");
	expect_failure(&text, -EBADMSG, "not a pprof file, or damaged at byte 1 of 27");
	pb_string(&late, PROFILE_STRING_TABLE, "samples");
	pb_string_always(&late, PROFILE_STRING_TABLE, "");
	expect_failure(&late, -EBADMSG, "the string table does not begin with \"\"");
	expect_failure(&untyped, -EBADMSG, "there is no sample type");
	put_type(&cut, SAMPLES, COUNT);
	strbuf_append(&cut, "\x12\x50", 2);
	snprintf(reason, sizeof(reason), "not a pprof file, or damaged at byte %zu of %zu", cut.len,
		 cut.len);
	expect_failure(&cut, -EBADMSG, reason);
	strbuf_append(&packed, "\x1f\x8b\x08", 3);
	expect_failure(&packed, -EBADMSG, "the gzip data is damaged");
}

static void a_message_of_unknown_types_says_which(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf message = new_message();

	put_type(&message, OTHER, COUNT);
	expect_failure(&message, -ENOENT, "no sample type is known: other/count");
	put_type(&message, SAMPLES, COUNT); /* of what? */
	expect_failure(&message, -ENOENT, "no sample type is known: other/count and others");
}

static void a_profile_that_takes_much_more_than_its_file_is_refused(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf message = new_message();
	_cleanup_(strbuf_done) struct strbuf reason = strbuf_with_max(1024);
	struct pprof_profiles read;

	put_type(&message, SAMPLES, COUNT);
	for (unsigned char id = 1; id < 128; id++)
		pb_bytes(&message, PROFILE_LOCATION, (unsigned char[]){ 0x08, id, 0x18, id }, 4);
	for (unsigned char i = 1; i < 127; i++) /* two frames each */
		pb_bytes(&message, PROFILE_SAMPLE,
			 (unsigned char[]){ 0x08, i, 0x08, i + 1, 0x10, 1 }, 6);
	assert_int_equal(pprof_read(message.data, message.len, message.len, &read, &reason),
			 -EFBIG);
	assert_non_null(strstr(strbuf_str(&reason), "its profile takes more than"));
	_cleanup_(pprof_profiles_done) struct pprof_profiles all = read_message(&message);
	assert_int_equal(all.of[PROFILE_CPU]->nr_samples, 126);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_are_any_numbers_and_tables_in_any_order),
		cmocka_unit_test(locations_without_lines_are_named_after_their_place),
		cmocka_unit_test(cpu_values_become_counts),
		cmocka_unit_test(types_that_are_not_known_are_counted),
		cmocka_unit_test(labels_say_whose_sample_it_is),
		cmocka_unit_test(a_deep_stack_is_cut_at_its_root_and_says_so),
		cmocka_unit_test(what_is_damaged_is_named),
		cmocka_unit_test(what_there_is_too_much_of_is_named),
		cmocka_unit_test(other_bytes_are_no_profile),
		cmocka_unit_test(a_message_of_unknown_types_says_which),
		cmocka_unit_test(a_profile_that_takes_much_more_than_its_file_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
