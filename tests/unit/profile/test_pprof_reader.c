/* SPDX-License-Identifier: Apache-2.0 */
/* What pprof.c writes comes back, and Go's own profiles are read as "go tool pprof -raw" reads
 * them. What others may write besides is in test_pprof_foreign.c. */
#include "profile/pprof_reader.h"

#include "base/fileio.h"
#include "profile/builder.h"
#include "profile/folded.h"
#include "profile/pprof.h"

#include "stacks.h"
#include "torture.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define PLENTY_BYTES ((size_t)4 << 20)
#define NR_SEEDS 300

static uint32_t seed;

/* Below `end`. */
static uint32_t any(uint32_t end)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % end;
}

static uint32_t add_text(struct builder *builder, const char *prefix, uint32_t number)
{
	char text[64];
	uint32_t id;

	snprintf(text, sizeof(text), "%s%u", prefix, number);
	assert_int_equal(builder_add_string(builder, text, &id), 0);
	return id;
}

/* One of a few files, with and without build ids, and the kernel. Of the same number: the same. */
static uint32_t add_mapping(struct builder *builder, uint32_t number)
{
	struct profile_mapping mapping = { .limit = 4096 * (1 + number % 5) };
	uint32_t id = number % 5 + 1;

	if (id < builder_peek(builder)->nr_mappings)
		return id;
	for (number = (uint32_t)builder_peek(builder)->nr_mappings - 1; number < id; number++) {
		mapping.filename = add_text(builder, "/usr/lib/lib.so.", number);
		mapping.build_id = number % 2 ? add_text(builder, "0ab", number) : 0;
		mapping.limit = number == 2 ? 0 : 4096 * number + 1;
		if (number == 3)
			assert_int_equal(
				builder_add_string(builder, "[kernel.kallsyms]", &mapping.filename),
				0);
		mapping.limit = number == 3 ? 0 : mapping.limit;
		mapping.start = mapping.limit ? 64 * number : 0;
		mapping.offset = mapping.limit ? 16 * number : 0;
		assert_int_equal(builder_add_mapping(builder, &mapping, &(uint32_t){ 0 }), 0);
	}
	return id;
}

static size_t add_lines(struct builder *builder, struct profile_line *lines, size_t max)
{
	static const char *const ends[] = { "source.c", "source.go", "" };
	size_t nr = 1 + any((uint32_t)max);

	for (size_t i = 0; i < nr; i++) {
		struct profile_function function = { .start_line = any(3) };
		const char *end = ends[any(3)];

		function.name = add_text(builder, "function_", any(50));
		function.system_name = any(2) ? add_text(builder, "_Z", any(50)) : 0;
		assert_int_equal(builder_add_string(builder, end, &function.filename), 0);
		assert_int_equal(builder_add_function(builder, &function, &lines[i].function), 0);
		lines[i].line = any(100);
	}
	return nr;
}

static uint32_t add_any_location(struct builder *builder)
{
	struct profile_location location = { .address = any(3) ? any(4096) : 0 };
	struct profile_line lines[4];
	uint32_t place = any(8), id;
	size_t nr = add_lines(builder, lines, array_len(lines));

	if (place < 5)
		location.mapping = add_mapping(builder, place);
	location.kind = place == 3 || place == 6 ? FRAME_KERNEL : FRAME_NATIVE;
	if (place == 7) {
		struct profile_function remark = { .name = add_text(builder, "[too deep]", 0) };

		assert_int_equal(builder_add_string(builder, "[too deep]", &remark.name), 0);
		assert_int_equal(builder_add_function(builder, &remark, &lines[0].function), 0);
		location = (struct profile_location){ .kind = FRAME_STOP, .address = 13 };
		lines[0].line = 0;
		nr = 1;
	}
	assert_int_equal(builder_add_named_location(builder, &location, lines, nr, &id), 0);
	return id;
}

static uint32_t add_any_resource(struct builder *builder)
{
	static const char *const keys[] = { "service.name",	  "k8s.namespace.name",
					    "k8s.pod.name",	  "k8s.pod.label.team",
					    "container.id",	  "k8s.pod.annotation.a",
					    "k8s.deployment.name" };
	struct attribute attributes[array_len(keys)];
	char values[array_len(keys)][16];
	uint32_t id;

	for (size_t i = 0; i < array_len(keys); i++) {
		snprintf(values[i], sizeof(values[i]), "value %u", any(3));
		attributes[i] = (struct attribute){ keys[i], any(3) ? values[i] : "" };
	}
	assert_int_equal(builder_add_resource(builder, attributes, array_len(keys), &id), 0);
	return id;
}

static struct profile *any_profile(uint32_t number)
{
	struct builder *builder = NULL;

	seed = number;
	assert_int_equal(builder_new(PLENTY_BYTES, &builder), 0);
	builder_set_type(builder, number % PROFILE_NR_TYPES);
	for (uint32_t i = any(40); i > 0; i--) {
		struct profile_sample sample = {
			.cgroup_id = any(2) ? UINT64_MAX - any(3) : any(3),
			.pid = any(3),
			.tid = any(3) ? any(5) : UINT32_MAX,
			.cpu = any(2),
			.reason = any(REASON_NR),
			.count = any(4) ? 1 + any(100) : (uint64_t)1 << 33,
		};
		uint32_t locations[30], nr = any(30);

		for (uint32_t k = 0; k < nr; k++)
			locations[k] = add_any_location(builder);
		assert_int_equal(builder_add_stack(builder, locations, nr, &sample.stack), 0);
		sample.resource = add_any_resource(builder);
		sample.process_comm = any(4) ? add_text(builder, "comm", any(3)) : 0;
		sample.thread_comm = any(4) ? add_text(builder, "thread", any(3)) : 0;
		assert_int_equal(builder_add_sample(builder, &sample), 0);
	}
	builder_set_time(builder, 1795188153000000000, 10000000000, 1 + any(100000000));
	return builder_seal(builder);
}

static struct pprof_profiles read_all(const void *data, size_t len)
{
	_cleanup_(strbuf_done) struct strbuf reason = strbuf_with_max(1024);
	struct pprof_profiles profiles;

	int r = pprof_read(data, len, PLENTY_BYTES, &profiles, &reason);
	assert_string_equal(strbuf_str(&reason), "");
	assert_int_equal(r, 0);
	return profiles;
}

static void what_was_written_is_written_again_after_reading(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < NR_SEEDS; i++) {
		_cleanup_(profile_unrefp) struct profile *profile = any_profile(i);
		_cleanup_(strbuf_done) struct strbuf first = strbuf_with_max(PLENTY_BYTES);
		_cleanup_(strbuf_done) struct strbuf second = strbuf_with_max(PLENTY_BYTES);

		assert_int_equal(pprof_encode(profile, NULL, NULL, &first), 0);
		_cleanup_(pprof_profiles_done) struct pprof_profiles read = read_all(first.data,
										     first.len);
		assert_non_null(read.of[profile->type]);
		assert_int_equal(read.nr_types_unknown, 0);
		assert_int_equal(read.nr_values_negative, 0);
		assert_int_equal(pprof_encode(read.of[profile->type], NULL, NULL, &second), 0);
		assert_int_equal(first.len, second.len);
		assert_memory_equal(first.data, second.data, first.len);
	}
}

static const struct stack_line lines[] = {
	{ "sh", "main;run;step_[i];deeper_[i];do_syscall_64_[k];read_[k]", 3 },
	{ "sh", "main;run;step_[i];deeper_[i]", 4 },
	{ "caf\xc3\xa9", "[too deep];f;g", 2 },
	{ "", "", 1 },
};

static void stacks_and_kinds_come_back(void **state)
{
	(void)state;
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines,
									      array_len(lines));
	_cleanup_(strbuf_done) struct strbuf packed = strbuf_with_max(PLENTY_BYTES);
	_cleanup_(strbuf_done) struct strbuf wanted = strbuf_with_max(PLENTY_BYTES);
	_cleanup_(strbuf_done) struct strbuf folded = strbuf_with_max(PLENTY_BYTES);

	assert_int_equal(folded_encode(profile, &wanted), 0);
	assert_int_equal(pprof_encode_gzip(profile, NULL, &packed), 0);
	_cleanup_(pprof_profiles_done) struct pprof_profiles read = read_all(packed.data,
									     packed.len);
	const struct profile *p = read.of[PROFILE_CPU];

	assert_non_null(p);
	assert_int_equal(folded_encode(p, &folded), 0);
	assert_string_equal(strbuf_str(&folded), strbuf_str(&wanted));
	assert_int_equal(p->type, PROFILE_CPU);
	assert_int_equal(p->period, profile->period);
	assert_int_equal(p->time_unix_ns, profile->time_unix_ns);
	assert_int_equal(p->duration_ns, profile->duration_ns);
	assert_int_equal(
		p->locations[p->stack_locations[p->stacks[p->samples[2].stack].first + 2]].kind,
		FRAME_STOP);
}

static void all_attributes_come_back(void **state)
{
	(void)state;
	static const struct attribute attributes[] = {
		{ "k8s.namespace.name", "shop" },    { "k8s.deployment.name", "cart" },
		{ "k8s.pod.label.team", "till" },    { "service.name", "web" },
		{ "container.image.name", "nginx" },
	};
	struct profile_sample sample = { .count = 1 };
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);
	struct builder *builder = NULL;

	assert_int_equal(builder_new(PLENTY_BYTES, &builder), 0);
	assert_int_equal(
		builder_add_resource(builder, attributes, array_len(attributes), &sample.resource),
		0);
	assert_int_equal(builder_add_sample(builder, &sample), 0);
	_cleanup_(profile_unrefp) struct profile *profile = builder_seal(builder);
	assert_int_equal(pprof_encode(profile, NULL, NULL, &out), 0);
	_cleanup_(pprof_profiles_done) struct pprof_profiles read = read_all(out.data, out.len);
	const struct profile *p = read.of[PROFILE_CPU];

	assert_int_equal(p->resources[p->samples[0].resource].nr, array_len(attributes));
	for (size_t i = 0; i < array_len(attributes); i++)
		assert_string_equal(
			profile_resource_get(p, p->samples[0].resource, attributes[i].key),
			attributes[i].value);
}

static struct pprof_profiles read_fixture(const char *name)
{
	_cleanup_(strbuf_done) struct strbuf file = strbuf_with_max(PLENTY_BYTES);
	char path[512];

	snprintf(path, sizeof(path), "%s/pprof/%s", FIXTURES_DIR, name);
	assert_int_equal(file_read_at(AT_FDCWD, path, &file), 0);
	return read_all(file.data, file.len);
}

/* Sum of the counts of samples that have the function. */
static uint64_t count_of(const struct profile *p, const char *function)
{
	uint64_t count = 0;

	for (size_t i = 0; i < p->nr_samples; i++) {
		const struct profile_stack *stack = &p->stacks[p->samples[i].stack];
		bool has_it = false;

		for (size_t k = 0; k < stack->nr; k++)
			has_it |= strcmp(profile_location_name(
						 p, p->stack_locations[stack->first + k]),
					 function) == 0;
		count += has_it ? p->samples[i].count : 0;
	}
	return count;
}

static void go_s_profiles_have_the_values_that_pprof_shows(void **state)
{
	(void)state;
	static const struct {
		const char *file;
		enum profile_type type;
		size_t nr_samples;
		uint64_t total;
		const char *function;
		uint64_t count; /* below the function */
		uint64_t period;
	} cases[] = {
		{ "go_cpu.pb.gz", PROFILE_CPU, 6, 31, "busy.spin", 29, 10000000 },
		{ "go_heap.pb.gz", PROFILE_ALLOC_OBJECTS, 6, 74281, "busy.keep", 3, 1048576 },
		{ "go_heap.pb.gz", PROFILE_ALLOC_SPACE, 6, 9537635, "busy.keep", 3317645, 1048576 },
		{ "go_heap.pb.gz", PROFILE_INUSE_OBJECTS, 2, 2188, "busy.keep", 3, 1048576 },
		{ "go_heap.pb.gz", PROFILE_INUSE_SPACE, 2, 4366461, "busy.keep", 3317645, 1048576 },
		{ "go_mutex.pb.gz", PROFILE_LOCK_CONTENTIONS, 1, 3, "busy.hold", 0, 1 },
		{ "go_mutex.pb.gz", PROFILE_LOCK_DELAY, 1, 33973233, "sync.(*Mutex).Unlock",
		  33973233, 1 },
		{ "go_block.pb.gz", PROFILE_LOCK_DELAY, 5, 383607712, "sync.(*Mutex).Lock",
		  31470687, 1 },
	};

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(pprof_profiles_done) struct pprof_profiles read = read_fixture(
			cases[i].file);
		const struct profile *p = read.of[cases[i].type];

		assert_non_null(p);
		assert_int_equal(p->type, cases[i].type);
		assert_int_equal(p->nr_samples, cases[i].nr_samples);
		assert_int_equal(profile_total(p), cases[i].total);
		assert_int_equal(count_of(p, cases[i].function), cases[i].count);
		assert_int_equal(p->period, cases[i].period);
		assert_int_equal(p->time_unix_ns / 1000000000, 1795283922);
		assert_int_equal(read.nr_types_unknown, 0);
	}
}

static void go_s_frames_lie_where_the_file_was_linked_to(void **state)
{
	(void)state;
	_cleanup_(pprof_profiles_done) struct pprof_profiles read = read_fixture("go_cpu.pb.gz");
	const struct profile *p = read.of[PROFILE_CPU];
	const struct profile_location *leaf =
		&p->locations[p->stack_locations[p->stacks[p->samples[0].stack].first]];
	const struct profile_line *line = profile_location_lines(p, leaf);
	const struct profile_mapping *mapping = &p->mappings[leaf->mapping];

	assert_int_equal(leaf->address, 0x531551);
	assert_int_equal(mapping->start, 0x400000);
	assert_int_equal(leaf->kind, FRAME_GO);
	assert_string_equal(profile_string(p, p->functions[line->function].filename),
			    "busy/busy_test.go");
	assert_int_equal(line->line, 24);
	assert_int_equal(p->functions[line->function].start_line, 22);
	assert_string_equal(profile_string(p, mapping->filename), "/tmp/busy/busy.test");
	assert_int_equal(strlen(profile_string(p, mapping->build_id)), 40);
	assert_string_equal(profile_resource_get(p, p->samples[0].resource, "k8s.namespace.name"),
			    "shop");
	assert_string_equal(profile_resource_get(p, p->samples[0].resource, "route"), "/cart");
}

static void every_failed_allocation_is_told(void **state)
{
	(void)state;
	_cleanup_(profile_unrefp) struct profile *profile = any_profile(9);
	_cleanup_(strbuf_done) struct strbuf packed = strbuf_with_max(PLENTY_BYTES);

	assert_int_equal(pprof_encode_gzip(profile, NULL, &packed), 0);
	for (unsigned int n = 1;; n++) {
		_cleanup_(pprof_profiles_done) struct pprof_profiles read = { 0 };
		_cleanup_(strbuf_done) struct strbuf reason = strbuf_with_max(1024);

		torture_begin(n);
		int r = pprof_read(packed.data, packed.len, PLENTY_BYTES, &read, &reason);
		bool has_failed = torture_end();

		assert_int_equal(r, has_failed ? -ENOMEM : 0);
		assert_int_equal(read.of[profile->type] != NULL, !has_failed);
		if (!has_failed)
			return;
	}
}

static void a_message_that_is_cut_anywhere_is_malformed_or_shorter(void **state)
{
	(void)state;
	_cleanup_(profile_unrefp) struct profile *profile = any_profile(18);
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);
	size_t nr_read = 0;

	assert_int_equal(pprof_encode(profile, NULL, NULL, &out), 0);
	for (size_t len = 0; len < out.len; len++) {
		_cleanup_(pprof_profiles_done) struct pprof_profiles read = { 0 };
		_cleanup_(strbuf_done) struct strbuf reason = strbuf_with_max(1024);

		int r = pprof_read(out.data, len, PLENTY_BYTES, &read, &reason);
		nr_read += r == 0;
		if (r < 0) {
			assert_int_equal(r, -EBADMSG);
			assert_string_not_equal(strbuf_str(&reason), "");
		}
	}
	assert_in_range(nr_read, 0, 2); /* the last strings are labels' */
}

static void limits_hold_packed_or_not(void **state)
{
	(void)state;
	_cleanup_(profile_unrefp) struct profile *profile = any_profile(0);
	_cleanup_(strbuf_done) struct strbuf raw = strbuf_with_max(PLENTY_BYTES);
	_cleanup_(strbuf_done) struct strbuf packed = strbuf_with_max(PLENTY_BYTES);
	_cleanup_(strbuf_done) struct strbuf reason = strbuf_with_max(1024);
	struct pprof_profiles read;

	assert_int_equal(pprof_encode(profile, NULL, NULL, &raw), 0);
	assert_int_equal(pprof_encode_gzip(profile, NULL, &packed), 0);
	assert_int_equal(pprof_read(raw.data, raw.len, raw.len - 1, &read, &reason), -EFBIG);
	assert_int_equal(pprof_read(packed.data, packed.len, raw.len - 1, &read, &reason), -EFBIG);
	assert_non_null(strstr(strbuf_str(&reason), "unpacks to more than"));
	assert_int_equal(pprof_read(packed.data, packed.len, raw.len, &read, &reason), 0);
	pprof_profiles_done(&read);
	packed.data[packed.len - 5] ^= 1;
	assert_int_equal(pprof_read(packed.data, packed.len, raw.len, &read, &reason), -EBADMSG);
	assert_string_equal(strbuf_str(&reason), "the gzip data is damaged");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_written_is_written_again_after_reading),
		cmocka_unit_test(stacks_and_kinds_come_back),
		cmocka_unit_test(all_attributes_come_back),
		cmocka_unit_test(go_s_profiles_have_the_values_that_pprof_shows),
		cmocka_unit_test(go_s_frames_lie_where_the_file_was_linked_to),
		cmocka_unit_test(every_failed_allocation_is_told),
		cmocka_unit_test(a_message_that_is_cut_anywhere_is_malformed_or_shorter),
		cmocka_unit_test(limits_hold_packed_or_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
