/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/encode/converted_size.h"

#include "base/array.h"
#include "otlp/encode/packed.h"

#include <stdlib.h>
#include <string.h>

/* The dictionary's locations that are not of the profile: the empty one and remarks about
 * stacks. */
#define NR_OWN_LOCATIONS 3

/* A field with an index into one of a profile's tables of up to 16383 elements, and one with the
 * number of a mapping, of which there are many more. */
#define INDEX_BYTES 3
#define MAPPING_INDEX_BYTES 4

/* Tag and length: of a message in the tables, of a sample. */
#define HEAD_BYTES 2
#define SAMPLE_HEAD_BYTES 3

/* The id and the flags that are set: always has_functions, rarely has_line_numbers. */
#define MAPPING_BYTES (HEAD_BYTES + MAPPING_INDEX_BYTES + 2 * 2)
/* The file's name and build id, with only the first flag. */
#define MAPPED_FILE_BYTES 5

#define LABEL_BYTES (HEAD_BYTES + 2 * INDEX_BYTES)

/* Types, times, period, and the strings of these. */
#define PROFILE_BYTES 96
/* "process.pid" and its number as text. */
#define PID_LABEL_BYTES 24
/* Labels that Pyroscope adds to a series. */
#define SERIES_LABELS_BYTES 96

int converted_size_init(struct converted_size *size, const struct translator *translator)
{
	const struct profile *profile = translator->profile;
	size_t nr_locations = profile->nr_locations + NR_OWN_LOCATIONS;

	*size = (struct converted_size){ .translator = translator };
	size->marked = calloc(profile->nr_stacks + nr_locations, sizeof(*size->marked));
	size->marks = calloc(profile->nr_functions + profile->strings.nr_strings +
				     profile->nr_mappings + 1,
			     sizeof(*size->marks));
	if (!size->marked || !size->marks)
		return -ENOMEM;
	size->stacks = size->marked;
	size->locations = size->stacks + profile->nr_stacks;
	size->functions = size->marks;
	size->strings = size->functions + profile->nr_functions;
	size->mappings = size->strings + profile->strings.nr_strings;
	return 0;
}

void converted_size_done(struct converted_size *size)
{
	free(size->marked);
	free(size->marks);
	free(size->attributes);
}

static size_t text_bytes(const char *text)
{
	return packed_field_len(strlen(text));
}

static int mark_attributes(struct converted_size *size)
{
	size_t nr = size->translator->dictionary.tables[DICTIONARY_ATTRIBUTE].nr_rows;
	size_t nr_before = size->cap_attributes;

	int r = array_grow(size->attributes, size->cap_attributes, nr, UINT32_MAX);
	if (r == 0)
		memset(size->attributes + nr_before, 0,
		       (size->cap_attributes - nr_before) * sizeof(*size->attributes));
	return r;
}

int converted_size_begin(struct converted_size *size, const struct group_attributes *attributes)
{
	int r = mark_attributes(size);
	if (r < 0)
		return r;
	size->profile++;
	size->nr_locations = 0;
	size->bytes += PROFILE_BYTES + SERIES_LABELS_BYTES;
	for (size_t i = 0; i < attributes->nr; i++)
		size->bytes += HEAD_BYTES + text_bytes(attributes->items[i].key) +
			       text_bytes(attributes->items[i].value);
	size->bytes += attributes->pid ? PID_LABEL_BYTES : 0;
	return 0;
}

/* Marks an element. Returns whether it was not yet marked in this profile. */
static bool mark(const struct converted_size *size, uint32_t *marked)
{
	if (*marked == size->profile)
		return false;
	*marked = size->profile;
	return true;
}

/* Returns the bytes of a string as it is sent: escapes may make it longer than in the profile. */
static size_t string_bytes(struct converted_size *size, uint32_t string)
{
	const struct translator *translator = size->translator;
	uint32_t sent = translator->strings[string];

	if (!mark(size, &size->strings[string]))
		return 0;
	return text_bytes(sent ? intern_get(&translator->dictionary.strings, sent - 1)
			       : profile_string(translator->profile, string));
}

static size_t function_bytes(struct converted_size *size, uint32_t number)
{
	const struct profile_function *function = &size->translator->profile->functions[number];

	if (!mark(size, &size->functions[number]))
		return 0;
	size_t bytes = HEAD_BYTES + 2 * INDEX_BYTES + packed_uint_len(function->start_line) +
		       string_bytes(size, function->name);
	if (function->system_name && function->system_name != function->name)
		bytes += INDEX_BYTES + string_bytes(size, function->system_name);
	if (function->filename)
		bytes += INDEX_BYTES + string_bytes(size, function->filename);
	return bytes;
}

static size_t location_bytes(struct converted_size *size, uint32_t number)
{
	const struct profile *profile = size->translator->profile;
	const struct profile_location *location = &profile->locations[number];
	const struct profile_line *lines = profile_location_lines(profile, location);
	size_t bytes = HEAD_BYTES + INDEX_BYTES + MAPPING_INDEX_BYTES;

	for (uint32_t i = 0; i < location->nr_lines; i++)
		bytes += HEAD_BYTES + INDEX_BYTES + packed_uint_len(lines[i].line) +
			 function_bytes(size, lines[i].function);
	if (size->translator->location_mappings[number])
		bytes += packed_uint_len(location->address) +
			 string_bytes(size, profile->mappings[location->mapping].filename) +
			 string_bytes(size, profile->mappings[location->mapping].build_id);
	return bytes;
}

/* Returns the bytes of a location's mapping, which has the number `sent` in the message. */
static size_t mapping_bytes(const struct converted_size *size, uint32_t number, uint32_t sent)
{
	const struct profile *profile = size->translator->profile;
	const struct profile_mapping *mapping =
		&profile->mappings[profile->locations[number].mapping];

	if (sent == 0)
		return MAPPING_BYTES;
	return MAPPING_BYTES + MAPPED_FILE_BYTES + packed_uint_len(mapping->start) +
	       packed_uint_len(mapping->limit) + packed_uint_len(mapping->offset);
}

/* Returns the bytes of a frame in each sample: the location's id, and a mapping unless an earlier
 * frame of the stack had it. */
static size_t frame_bytes(struct converted_size *size, uint32_t number)
{
	struct converted_mark *location = &size->locations[size->translator->locations[number] - 1];
	uint32_t mapping = size->translator->location_mappings[number];
	size_t bytes = 0;

	if (mark(size, &location->profile)) {
		location->number = ++size->nr_locations;
		size->bytes += location_bytes(size, number);
	}
	if (size->mappings[mapping] != size->walk) {
		size->mappings[mapping] = size->walk;
		bytes = mapping_bytes(size, number, mapping);
	}
	return bytes + packed_varint_len(location->number);
}

static uint32_t walk_stack(struct converted_size *size, uint32_t number)
{
	const struct profile *profile = size->translator->profile;
	const struct profile_stack *stack = &profile->stacks[number];
	const uint32_t *locations = profile->stack_locations + stack->first;
	size_t nr = stack->nr > ENCODE_STACK_MAX_FRAMES ? ENCODE_STACK_MAX_FRAMES : stack->nr;
	size_t bytes = SAMPLE_HEAD_BYTES; /* of the field with the ids */

	size->walk++;
	for (size_t i = 0; i < nr; i++)
		if (size->translator->locations[locations[i]]) /* not behind the cut */
			bytes += frame_bytes(size, locations[i]);
	return (uint32_t)bytes;
}

static size_t label_bytes(struct converted_size *size, uint32_t attribute)
{
	const struct dictionary *dictionary = &size->translator->dictionary;

	if (!mark(size, &size->attributes[attribute]))
		return LABEL_BYTES;
	return LABEL_BYTES + dictionary->tables[DICTIONARY_ATTRIBUTE].rows[attribute].len;
}

void converted_size_add(struct converted_size *size, const struct converted_sample *sample)
{
	struct converted_mark *stack = &size->stacks[sample->stack];

	if (mark(size, &stack->profile))
		stack->number = walk_stack(size, sample->stack);
	size->bytes += SAMPLE_HEAD_BYTES + stack->number + 2 + packed_varint_len(sample->value);
	for (size_t i = 0; i < sample->nr_attributes; i++)
		size->bytes += label_bytes(size, sample->attributes[i]);
}
