/* SPDX-License-Identifier: Apache-2.0 */
/* Writes each table after those that refer to it, so that by its turn it is known which of its
 * elements are used and in which order:
 *
 *	samples ─▶ locations ─▶ functions, mappings ─▶ strings
 *
 * Protobuf readers take the fields in any order. An element gets its id, from 1 on, when it is
 * first referred to; unused ones are left out.
 *
 * All frames already have their names: has_functions tells readers not to look for symbols
 * themselves. */
#include "profile/pprof.h"

#include "base/gzip.h"
#include "base/pb.h"
#include "base/printable.h"
#include "profile/main_program.h"
#include "profile/pprof_fields.h"
#include "profile/pprof_labels.h"
#include "profile/used_rows.h"
#include "profile/value_pairs.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Before compression; pprof files are a tenth of it. */
#define MESSAGE_MAX_BYTES ((size_t)1 << 30)

#define PAGE_BYTES 4096
#define SUBJECT_MAX_BYTES 256

/* Properties of the locations in a mapping, taken together. */
struct detail {
	bool has_filenames;
	bool has_line_numbers;
	bool has_inline_frames;
};

struct pprof {
	const struct profile *profile; /* borrowed */
	const struct pprof_part *part; /* borrowed */
	const struct caption *caption; /* borrowed; NULL: none */
	struct strbuf *out; /* borrowed; keeps the first error */
	struct used_rows locations;
	struct used_rows functions;
	struct used_rows mappings;
	struct detail *details; /* owned; by the profile's mappings */
	struct intern strings;
	struct strbuf clean; /* scratch for string() */
};

static void pprof_done(struct pprof *pprof)
{
	used_rows_done(&pprof->locations);
	used_rows_done(&pprof->functions);
	used_rows_done(&pprof->mappings);
	free(pprof->details);
	intern_done(&pprof->strings);
	strbuf_done(&pprof->clean);
}

static int pprof_init(struct pprof *pprof, const struct profile *profile,
		      const struct pprof_part *part, struct strbuf *out)
{
	int r;

	*pprof = (struct pprof){
		.profile = profile,
		.part = part,
		.out = out,
		.clean = strbuf_with_max(out->max),
	};
	if ((r = used_rows_init(&pprof->locations, profile->nr_locations)) < 0 ||
	    (r = used_rows_init(&pprof->functions, profile->nr_functions)) < 0 ||
	    (r = used_rows_init(&pprof->mappings, profile->nr_mappings + 1)) < 0)
		return r;
	pprof->details = calloc(profile->nr_mappings, sizeof(*pprof->details));
	if (!pprof->details)
		return -ENOMEM;
	return intern_init(&pprof->strings, UINT32_MAX, 0);
}

/* Returns the number of a string, made printable; 0, which is "", after a failure. */
static uint32_t string(struct pprof *pprof, const char *text)
{
	uint32_t id = 0;

	text = printable_text(text, &pprof->clean);
	strbuf_fail(pprof->out, strbuf_error(&pprof->clean));
	strbuf_fail(pprof->out, intern_add(&pprof->strings, text, &id));
	return id;
}

static void put_value_type(struct pprof *pprof, uint32_t field, const char *type, const char *unit)
{
	size_t begin = pb_begin(pprof->out, field);

	pb_uint(pprof->out, VALUE_TYPE_TYPE, string(pprof, type));
	pb_uint(pprof->out, VALUE_TYPE_UNIT, string(pprof, unit));
	pb_end(pprof->out, begin);
}

/* As Go's runtime does it. Returns the value that pprof shows. */
static const char *put_wait_types(struct pprof *pprof)
{
	const struct profile_type_names *number = profile_type_names(PROFILE_LOCK_CONTENTIONS);
	const struct profile_type_names *time = profile_type_names(PROFILE_LOCK_DELAY);

	put_value_type(pprof, PROFILE_SAMPLE_TYPE, number->sample_type, number->sample_unit);
	put_value_type(pprof, PROFILE_SAMPLE_TYPE, time->sample_type, time->sample_unit);
	put_value_type(pprof, PROFILE_PERIOD_TYPE, number->sample_type, number->sample_unit);
	pb_uint(pprof->out, PROFILE_PERIOD, 1);
	return time->sample_type;
}

/* A CPU profile has its CPU time as a second value, which is what pprof shows. */
static const char *put_types(struct pprof *pprof)
{
	const struct profile *p = pprof->profile;
	const struct profile_type_names *names = profile_type_names(p->type);
	const char *shown = names->sample_type;

	if (pprof->part->waits)
		return put_wait_types(pprof);
	put_value_type(pprof, PROFILE_SAMPLE_TYPE, names->sample_type, names->sample_unit);
	if (p->type == PROFILE_CPU) {
		put_value_type(pprof, PROFILE_SAMPLE_TYPE, names->period_type, names->period_unit);
		shown = names->period_type;
	}
	if (*names->period_type) {
		put_value_type(pprof, PROFILE_PERIOD_TYPE, names->period_type, names->period_unit);
		pb_uint(pprof->out, PROFILE_PERIOD, profile_period(p));
	}
	return shown;
}

static void put_header(struct pprof *pprof)
{
	const struct caption *caption = pprof->caption;
	const struct profile *p = pprof->profile;
	const char *shown = put_types(pprof);

	pb_uint(pprof->out, PROFILE_DEFAULT_SAMPLE_TYPE, string(pprof, shown));
	pb_uint(pprof->out, PROFILE_TIME_NANOS, p->time_unix_ns);
	pb_uint(pprof->out, PROFILE_DURATION_NANOS, p->duration_ns);
	if (caption) {
		pb_uint(pprof->out, PROFILE_COMMENT, string(pprof, caption->title));
		pb_uint(pprof->out, PROFILE_COMMENT, string(pprof, caption->subtitle));
	}
}

static void put_text_label(struct pprof *pprof, const char *key, const char *text)
{
	if (!text || !*text)
		return;

	size_t begin = pb_begin(pprof->out, SAMPLE_LABEL);
	pb_uint(pprof->out, LABEL_KEY, string(pprof, key));
	pb_uint(pprof->out, LABEL_STR, string(pprof, text));
	pb_end(pprof->out, begin);
}

static void put_text(struct pprof *pprof, enum pprof_label label, uint32_t text)
{
	put_text_label(pprof, pprof_label_name(label), profile_string(pprof->profile, text));
}

/* The unit is the one that pprof assumes for lack of one. Without it, readers take a label with
 * the number 0, such as the first CPU, for no label. */
static void put_number(struct pprof *pprof, enum pprof_label label, uint64_t number)
{
	size_t begin = pb_begin(pprof->out, SAMPLE_LABEL);
	uint32_t name = string(pprof, pprof_label_name(label));

	pb_uint(pprof->out, LABEL_KEY, name);
	pb_uint(pprof->out, LABEL_NUM, number);
	pb_uint(pprof->out, LABEL_NUM_UNIT, name);
	pb_end(pprof->out, begin);
}

/* Writes attributes without a short name under their own name. */
static void put_other_attributes(struct pprof *pprof, uint32_t resource)
{
	const struct profile *p = pprof->profile;
	const struct profile_resource *attributes = &p->resources[resource];

	for (size_t i = 0; i < attributes->nr; i++) {
		const struct profile_attribute *attribute = &p->attributes[attributes->first + i];
		const char *key = profile_string(p, attribute->key);

		if (!pprof_has_short_name(key))
			put_text_label(pprof, key, profile_string(p, attribute->value));
	}
}

static void put_labels(struct pprof *pprof, const struct profile_sample *sample)
{
	for (size_t i = 0; i < PPROF_NR_SHORT_NAMES; i++)
		put_text_label(pprof, pprof_short_names[i].label,
			       profile_resource_get(pprof->profile, sample->resource,
						    pprof_short_names[i].attribute));
	put_other_attributes(pprof, sample->resource);
	put_text(pprof, PPROF_LABEL_COMM, sample->process_comm);
	put_text(pprof, PPROF_LABEL_THREAD, sample->thread_comm);
	put_number(pprof, PPROF_LABEL_PID, sample->pid);
	put_number(pprof, PPROF_LABEL_TID, sample->tid);
	if (sample->cpu != PROFILE_CPU_UNKNOWN)
		put_number(pprof, PPROF_LABEL_CPU, sample->cpu);
	put_number(pprof, PPROF_LABEL_CGROUP_ID, sample->cgroup_id);
	put_text_label(pprof, pprof_label_name(PPROF_LABEL_REASON),
		       wait_reason_word(sample->reason));
}

/* The mark of a truncated stack is location 0, which no stack has. */
static void put_frames(struct pprof *pprof, const struct profile_stack *stack)
{
	const uint32_t *frames = pprof->profile->stack_locations + stack->first;
	size_t max = pprof->part->max_frames;
	bool is_cut = max > 0 && stack->nr > max;
	size_t nr = is_cut ? max - 1 : stack->nr;
	size_t begin = pb_begin(pprof->out, SAMPLE_LOCATION_ID);

	for (size_t i = 0; i < nr; i++)
		pb_varint(pprof->out, used_rows_use(&pprof->locations, frames[i]));
	if (is_cut)
		pb_varint(pprof->out, used_rows_use(&pprof->locations, 0));
	pb_end(pprof->out, begin);
}

static void put_values(struct pprof *pprof, const struct profile_sample *sample)
{
	const struct profile *p = pprof->profile;
	const struct value_pair *waits = pprof->part->waits;
	size_t begin = pb_begin(pprof->out, SAMPLE_VALUE);

	pb_varint(pprof->out, waits ? waits[sample - p->samples].first : sample->count);
	if (waits)
		pb_varint(pprof->out, waits[sample - p->samples].second);
	else if (p->type == PROFILE_CPU)
		pb_varint(pprof->out, sample->count * p->period);
	pb_end(pprof->out, begin);
}

static void put_sample(struct pprof *pprof, const struct profile_sample *sample)
{
	const struct profile *p = pprof->profile;
	size_t begin = pb_begin(pprof->out, PROFILE_SAMPLE);

	put_frames(pprof, &p->stacks[sample->stack]);
	put_values(pprof, sample);

	if (!pprof->part->is_bare)
		put_labels(pprof, sample);
	pb_end(pprof->out, begin);
}

/* Returns the id of the location's mapping, or 0 for none. Element 0 stands for the kernel if
 * kernel frames have no mapping; other mappings without a name are omitted. */
static uint32_t use_mapping(struct pprof *pprof, const struct profile_location *location)
{
	if (location->kind == FRAME_KERNEL || pprof->profile->mappings[location->mapping].filename)
		return used_rows_use(&pprof->mappings, location->mapping);
	return 0;
}

static void put_line(struct pprof *pprof, const struct profile_line *line)
{
	size_t begin = pb_begin(pprof->out, LOCATION_LINE);

	pb_uint(pprof->out, LINE_FUNCTION_ID, used_rows_use(&pprof->functions, line->function));
	pb_uint(pprof->out, LINE_LINE, line->line);
	pb_end(pprof->out, begin);
}

static void put_lines(struct pprof *pprof, const struct profile_location *location,
		      struct detail *detail)
{
	const struct profile *p = pprof->profile;
	const struct profile_line *lines = profile_location_lines(p, location);

	for (uint32_t i = 0; i < location->nr_lines; i++) {
		put_line(pprof, &lines[i]);
		detail->has_filenames |= p->functions[lines[i].function].filename != 0;
		detail->has_line_numbers |= lines[i].line != 0;
	}
	detail->has_inline_frames |= location->nr_lines > 1;
}

static void put_location(struct pprof *pprof, uint32_t id, const struct profile_location *location)
{
	size_t begin = pb_begin(pprof->out, PROFILE_LOCATION);
	bool is_code = location->kind != FRAME_STOP && location->kind != FRAME_LABEL;
	uint32_t mapping = is_code ? use_mapping(pprof, location) : 0;
	struct detail of_none = { 0 };

	pb_uint(pprof->out, LOCATION_ID, id);
	pb_uint(pprof->out, LOCATION_MAPPING_ID, mapping);
	pb_uint(pprof->out, LOCATION_ADDRESS, is_code ? location->address : 0);
	put_lines(pprof, location, mapping ? &pprof->details[location->mapping] : &of_none);
	pb_end(pprof->out, begin);
}

static void put_function(struct pprof *pprof, uint32_t id, const struct profile_function *function)
{
	const struct profile *p = pprof->profile;
	size_t begin = pb_begin(pprof->out, PROFILE_FUNCTION);

	pb_uint(pprof->out, FUNCTION_ID, id);
	pb_uint(pprof->out, FUNCTION_NAME, string(pprof, profile_string(p, function->name)));
	pb_uint(pprof->out, FUNCTION_SYSTEM_NAME,
		string(pprof, profile_string(p, function->system_name)));
	pb_uint(pprof->out, FUNCTION_FILENAME,
		string(pprof, profile_string(p, function->filename)));
	pb_uint(pprof->out, FUNCTION_START_LINE, function->start_line);
	pb_end(pprof->out, begin);
}

/* The first mapping is what readers call the profile's file: the one program that it is of, or else
 * a mapping without code that says what it is of. That one is after all elements of the table. */
static void use_main_mapping(struct pprof *pprof)
{
	uint32_t main_program = main_program_find(pprof->profile);

	(void)used_rows_use(&pprof->mappings,
			    main_program ? main_program : (uint32_t)pprof->profile->nr_mappings);
}

/* Replaces slashes, which readers would take for those of a path. */
static void put_subject(struct pprof *pprof, uint32_t id)
{
	size_t begin = pb_begin(pprof->out, PROFILE_MAPPING);
	char name[SUBJECT_MAX_BYTES];

	snprintf(name, sizeof(name), "[%.*s]", SUBJECT_MAX_BYTES - 3, pprof->caption->subject);
	for (char *slash = name; (slash = strchr(slash, '/'));)
		*slash = ':';
	pb_uint(pprof->out, MAPPING_ID, id);
	pb_uint(pprof->out, MAPPING_FILENAME, string(pprof, name));
	pb_uint(pprof->out, MAPPING_HAS_FUNCTIONS, true);
	pb_end(pprof->out, begin);
}

/* Writes the range of a mapping from the start of a page, as the kernel would map it and readers
 * expect it. A mapping without an end, such as the kernel, ends with the address space. */
static void put_range(struct strbuf *out, const struct profile_mapping *mapping)
{
	uint64_t skipped = mapping->start % PAGE_BYTES;

	if (mapping->offset % PAGE_BYTES != skipped)
		skipped = 0;
	pb_uint(out, MAPPING_MEMORY_START, mapping->start - skipped);
	pb_uint(out, MAPPING_MEMORY_LIMIT, mapping->limit ? mapping->limit : UINT64_MAX);
	pb_uint(out, MAPPING_FILE_OFFSET, mapping->offset - skipped);
}

static void put_mapping(struct pprof *pprof, uint32_t id, uint32_t element)
{
	const struct profile *p = pprof->profile;
	const struct profile_mapping *mapping = &p->mappings[element];
	const struct detail *detail = &pprof->details[element];
	const char *filename = profile_string(p, mapping->filename);
	size_t begin = pb_begin(pprof->out, PROFILE_MAPPING);

	pb_uint(pprof->out, MAPPING_ID, id);
	put_range(pprof->out, mapping);
	pb_uint(pprof->out, MAPPING_FILENAME,
		string(pprof, *filename ? filename : PPROF_KERNEL_FILENAME));
	pb_uint(pprof->out, MAPPING_BUILD_ID, string(pprof, profile_string(p, mapping->build_id)));
	pb_uint(pprof->out, MAPPING_HAS_FUNCTIONS, true);
	pb_uint(pprof->out, MAPPING_HAS_FILENAMES, detail->has_filenames);
	pb_uint(pprof->out, MAPPING_HAS_LINE_NUMBERS, detail->has_line_numbers);
	pb_uint(pprof->out, MAPPING_HAS_INLINE_FRAMES, detail->has_inline_frames);
	pb_end(pprof->out, begin);
}

static size_t nr_samples(const struct pprof *pprof)
{
	return pprof->part->samples ? pprof->part->nr_samples : pprof->profile->nr_samples;
}

/* Returns the i-th sample of the part. */
static const struct profile_sample *sample_at(const struct pprof *pprof, size_t i)
{
	return &pprof->profile->samples[pprof->part->samples ? pprof->part->samples[i] : i];
}

/* Without labels, samples with the same stack are joined. */
static void put_bare_samples(struct pprof *pprof)
{
	size_t nr_stacks = pprof->profile->nr_stacks;
	_cleanup_free_ uint64_t *counts = calloc(nr_stacks, sizeof(*counts));
	_cleanup_(used_rows_done) struct used_rows stacks = { 0 };

	int r = used_rows_init(&stacks, nr_stacks);
	if (r < 0 || !counts) {
		strbuf_fail(pprof->out, -ENOMEM);
		return;
	}
	for (size_t i = 0; i < nr_samples(pprof); i++) {
		const struct profile_sample *sample = sample_at(pprof, i);

		counts[used_rows_use(&stacks, sample->stack) - 1] += sample->count;
	}
	for (uint32_t i = 0; i < stacks.nr; i++)
		put_sample(pprof, &(struct profile_sample){ .stack = stacks.elements[i],
							    .count = counts[i] });
}

static void put_samples(struct pprof *pprof)
{
	for (size_t i = 0; i < nr_samples(pprof); i++)
		put_sample(pprof, sample_at(pprof, i));
}

/* Writes the mark of truncated stacks, whose function comes after all others. */
static void put_cut_mark(struct pprof *pprof)
{
	size_t begin = pb_begin(pprof->out, PROFILE_LOCATION);

	pb_uint(pprof->out, LOCATION_ID, pprof->locations.ids[0]);
	size_t line = pb_begin(pprof->out, LOCATION_LINE);
	pb_uint(pprof->out, LINE_FUNCTION_ID, pprof->functions.nr + 1);
	pb_end(pprof->out, line);
	pb_end(pprof->out, begin);

	begin = pb_begin(pprof->out, PROFILE_FUNCTION);
	pb_uint(pprof->out, FUNCTION_ID, pprof->functions.nr + 1);
	pb_uint(pprof->out, FUNCTION_NAME, string(pprof, PPROF_NAME_OF_TRUNCATED_STACK));
	pb_end(pprof->out, begin);
}

static void put_tables(struct pprof *pprof)
{
	const struct profile *p = pprof->profile;

	for (uint32_t i = 0; i < pprof->locations.nr; i++) {
		uint32_t element = pprof->locations.elements[i];

		if (element != 0)
			put_location(pprof, i + 1, &p->locations[element]);
	}
	if (pprof->locations.ids[0] != 0)
		put_cut_mark(pprof);
	for (uint32_t i = 0; i < pprof->functions.nr; i++)
		put_function(pprof, i + 1, &p->functions[pprof->functions.elements[i]]);
	for (uint32_t i = 0; i < pprof->mappings.nr; i++) {
		uint32_t element = pprof->mappings.elements[i];

		if (element < p->nr_mappings)
			put_mapping(pprof, i + 1, element);
		else
			put_subject(pprof, i + 1);
	}
	for (size_t i = 0; i < pprof->strings.nr_strings; i++)
		pb_string_always(pprof->out, PROFILE_STRING_TABLE,
				 intern_get(&pprof->strings, (uint32_t)i));
}

int pprof_encode(const struct profile *profile, const struct pprof_part *part,
		 const struct caption *caption, struct strbuf *out)
{
	static const struct pprof_part whole;
	_cleanup_(pprof_done) struct pprof pprof;

	part = part ? part : &whole;
	int r = pprof_init(&pprof, profile, part, out);
	strbuf_fail(out, r);
	if (r < 0)
		return r;
	pprof.caption = caption;
	put_header(&pprof);
	if (caption && caption->subject)
		use_main_mapping(&pprof);
	if (part->is_bare)
		put_bare_samples(&pprof);
	else
		put_samples(&pprof);
	put_tables(&pprof);
	return strbuf_error(out);
}

static int encode_gzip(const struct profile *profile, const struct pprof_part *part,
		       const struct caption *caption, struct strbuf *out)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_MAX_BYTES);

	int r = pprof_encode(profile, part, caption, &message);
	if (r < 0)
		out->error = r;
	else
		gzip_append(out, message.data, message.len);
	return strbuf_error(out);
}

int pprof_encode_gzip(const struct profile *profile, const struct caption *caption,
		      struct strbuf *out)
{
	return encode_gzip(profile, NULL, caption, out);
}

int pprof_encode_waits_gzip(const struct profile *contentions, const struct profile *delay,
			    const struct caption *caption, struct strbuf *out)
{
	_cleanup_(value_pairs_done) struct value_pairs pairs;
	int r = value_pairs_init(&pairs, contentions, delay, MESSAGE_MAX_BYTES);

	if (r < 0) {
		out->error = r;
		return r;
	}
	const struct pprof_part part = { .waits = pairs.pairs };
	return encode_gzip(pairs.profile, &part, caption, out);
}
