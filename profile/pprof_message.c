/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/pprof_message.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/pb_reader.h"
#include "base/printable.h"
#include "profile/pprof_fields.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REASON_MAX_BYTES 256
#define MAX_ROWS (UINT32_MAX - 1)

/* A varint field of a message and where its value goes. */
struct scalar {
	uint32_t field;
	uint64_t *to;
};

int pprof_fail(const struct pprof_message *message, int error, const char *format, ...)
{
	char text[REASON_MAX_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	strbuf_clear(message->reason);
	printable_append(message->reason, text); /* names in it may be anything */
	return error;
}

static int no_memory(const struct pprof_message *message)
{
	return pprof_fail(message, -ENOMEM, "no memory");
}

static struct pb_reader reader_of(const struct pprof_message *message, struct pprof_span span)
{
	return pb_reader_of(message->data + span.at, span.len);
}

static struct pprof_span span_of(const struct pprof_message *message, const struct pb_field *field)
{
	return (struct pprof_span){ (uint32_t)(field->data - message->data), (uint32_t)field->len };
}

/* Takes the field if it is one of the scalars. Of repeated fields, the last one counts, as usual in
 * protobuf. */
static int take_scalar(const struct pb_field *field, const struct scalar *scalars, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (field->number != scalars[i].field)
			continue;
		if (field->wire != PB_WIRE_VARINT)
			return -EBADMSG;
		*scalars[i].to = field->value;
	}
	return 0;
}

static int read_scalars(struct pb_reader reader, const struct scalar *scalars, size_t nr)
{
	struct pb_field field;
	int r;

	while ((r = pb_reader_next(&reader, &field)) > 0) {
		r = take_scalar(&field, scalars, nr);
		if (r < 0)
			return r;
	}
	return r;
}

/* Reads the scalars of an element of a table. */
static int read_element(const struct pprof_message *message, const struct pprof_table *table,
			uint32_t element, const struct scalar *scalars, size_t nr)
{
	const struct pprof_element *item = &table->items[element];

	if (read_scalars(reader_of(message, item->span), scalars, nr) < 0)
		return pprof_fail(message, -EBADMSG, "%s %" PRIu64 " is damaged", table->name,
				  item->id);
	return 0;
}

int pprof_find(const struct pprof_table *table, uint64_t id, uint32_t *ret_element)
{
	if (id - 1 < table->nr && table->items[id - 1].id == id) {
		*ret_element = (uint32_t)(id - 1);
		return 0;
	}

	struct htable_iter it = htable_lookup(&table->index, hash_u64(id));
	for (uint32_t element; htable_next(&it, &element);) {
		if (table->items[element].id == id) {
			*ret_element = element;
			return 0;
		}
	}
	return -ENOENT;
}

static int add_span(struct pprof_message *message, struct pprof_spans *spans,
		    const struct pb_field *field)
{
	if (array_grow(spans->items, spans->cap, spans->nr + 1, MAX_ROWS) < 0)
		return no_memory(message);
	spans->items[spans->nr++] = span_of(message, field);
	return 0;
}

static int add_element(struct pprof_message *message, struct pprof_table *table,
		       const struct pb_field *field)
{
	struct pprof_element item = { .span = span_of(message, field) };
	const struct scalar id = { MAPPING_ID,
				   &item.id }; /* locations and functions have the same */
	uint32_t known;

	if (read_scalars(reader_of(message, item.span), &id, 1) < 0 || item.id == 0)
		return pprof_fail(message, -EBADMSG, "%s %zu has no id", table->name,
				  table->nr + 1);
	if (pprof_find(table, item.id, &known) == 0)
		return pprof_fail(message, -EBADMSG, "%s %" PRIu64 " occurs twice", table->name,
				  item.id);
	if (array_grow(table->items, table->cap, table->nr + 1, MAX_ROWS) < 0)
		return no_memory(message);
	if (item.id != table->nr + 1 &&
	    htable_add(&table->index, hash_u64(item.id), (uint32_t)table->nr) < 0)
		return no_memory(message);
	table->items[table->nr++] = item;
	return 0;
}

static int read_value_type(struct pprof_message *message, const struct pb_field *field,
			   struct pprof_value_type *type)
{
	const struct scalar scalars[] = {
		{ VALUE_TYPE_TYPE, &type->type },
		{ VALUE_TYPE_UNIT, &type->unit },
	};

	if (read_scalars(pb_reader_of(field->data, field->len), scalars, array_len(scalars)) < 0)
		return pprof_fail(message, -EBADMSG, "a value type is damaged");
	return 0;
}

static int add_type(struct pprof_message *message, const struct pb_field *field)
{
	if (message->nr_types == PPROF_MAX_TYPES)
		return pprof_fail(message, -EBADMSG, "there are more than %d sample types",
				  PPROF_MAX_TYPES);
	return read_value_type(message, field, &message->types[message->nr_types++]);
}

static int take_message(struct pprof_message *message, const struct pb_field *field)
{
	switch (field->number) {
	case PROFILE_SAMPLE_TYPE:
		return add_type(message, field);
	case PROFILE_SAMPLE:
		return add_span(message, &message->samples, field);
	case PROFILE_MAPPING:
		return add_element(message, &message->mappings, field);
	case PROFILE_LOCATION:
		return add_element(message, &message->locations, field);
	case PROFILE_FUNCTION:
		return add_element(message, &message->functions, field);
	case PROFILE_STRING_TABLE:
		return add_span(message, &message->strings, field);
	case PROFILE_PERIOD_TYPE:
		return read_value_type(message, field, &message->period_type);
	default:
		return 0;
	}
}

static bool is_message(uint32_t field)
{
	return field <= PROFILE_STRING_TABLE || field == PROFILE_PERIOD_TYPE;
}

static int take_field(struct pprof_message *message, const struct pb_field *field)
{
	const struct scalar scalars[] = {
		{ PROFILE_TIME_NANOS, &message->time_unix_ns },
		{ PROFILE_DURATION_NANOS, &message->duration_ns },
		{ PROFILE_PERIOD, &message->period },
	};

	if (is_message(field->number) && field->wire == PB_WIRE_LEN)
		return take_message(message, field);
	if (is_message(field->number) || take_scalar(field, scalars, array_len(scalars)) < 0)
		return pprof_fail(message, -EBADMSG, "field %" PRIu32 " has the wrong type",
				  field->number);
	return 0;
}

static int read_fields(struct pprof_message *message)
{
	struct pb_reader reader = pb_reader_of(message->data, message->len);
	struct pb_field field;
	int r;

	while ((r = pb_reader_next(&reader, &field)) > 0) {
		r = take_field(message, &field);
		if (r < 0)
			return r;
	}
	if (r < 0)
		return pprof_fail(message, r, "not a pprof file, or damaged at byte %zu of %zu",
				  (size_t)(reader.at - message->data), message->len);
	return 0;
}

/* The format's numbers are signed. Negative ones count as missing. */
static uint64_t not_negative(uint64_t value)
{
	return value > INT64_MAX ? 0 : value;
}

int pprof_message_init(struct pprof_message *message, const void *data, size_t len,
		       struct strbuf *reason)
{
	*message = (struct pprof_message){
		.data = data,
		.len = len,
		.reason = reason,
		.mappings.name = "mapping",
		.locations.name = "location",
		.functions.name = "function",
	};
	if (len > UINT32_MAX)
		return pprof_fail(message, -EFBIG, "more than 4 GB");

	int r = read_fields(message);
	if (r < 0)
		return r;
	if (message->strings.nr == 0 || message->strings.items[0].len > 0)
		return pprof_fail(message, -EBADMSG, "the string table does not begin with \"\"");
	if (message->nr_types == 0)
		return pprof_fail(message, -EBADMSG, "there is no sample type");
	message->time_unix_ns = not_negative(message->time_unix_ns);
	message->duration_ns = not_negative(message->duration_ns);
	message->period = not_negative(message->period);
	return 0;
}

static void table_done(struct pprof_table *table)
{
	free(table->items);
	htable_done(&table->index);
}

void pprof_message_done(struct pprof_message *message)
{
	free(message->strings.items);
	free(message->samples.items);
	table_done(&message->mappings);
	table_done(&message->locations);
	table_done(&message->functions);
}

int pprof_get_string(const struct pprof_message *message, uint64_t number, struct strbuf *text)
{
	if (number >= message->strings.nr)
		return pprof_fail(message, -EBADMSG, "string %" PRIu64 " is not in the table",
				  number);

	struct pprof_span span = message->strings.items[number];
	const char *bytes = (const char *)message->data + span.at;
	strbuf_clear(text);
	strbuf_append(text, bytes, strnlen(bytes, span.len));
	return strbuf_error(text) < 0 ? no_memory(message) : 0;
}

/* Adds the numbers of a repeated field, packed or not, after the first *nr. Numbers beyond `max`
 * are only counted. */
static int add_numbers(const struct pb_field *field, uint64_t *numbers, size_t max, size_t *nr)
{
	struct pb_reader packed = pb_reader_of(field->data, field->len);
	uint64_t number = field->value;
	int r = 0;

	if (field->wire == PB_WIRE_VARINT) {
		if (*nr < max)
			numbers[*nr] = number;
		(*nr)++;
		return 0;
	}
	if (field->wire != PB_WIRE_LEN)
		return -EBADMSG;
	for (; packed.at < packed.end; (*nr)++) {
		r = pb_reader_varint(&packed, &number);
		if (r < 0)
			return r;
		if (*nr < max)
			numbers[*nr] = number;
	}
	return r;
}

static int add_label(const struct pb_field *field, struct pprof_sample *sample)
{
	struct pprof_label_pair label = { 0 };
	const struct scalar scalars[] = {
		{ LABEL_KEY, &label.key },
		{ LABEL_STR, &label.text },
		{ LABEL_NUM, &label.number },
	};

	if (field->wire != PB_WIRE_LEN)
		return -EBADMSG;
	int r = read_scalars(pb_reader_of(field->data, field->len), scalars, array_len(scalars));
	if (r < 0)
		return r;
	if (sample->nr_labels < PPROF_MAX_LABELS)
		sample->labels[sample->nr_labels] = label;
	sample->nr_labels++;
	return 0;
}

static int take_sample_field(const struct pb_field *field, struct pprof_sample *sample)
{
	switch (field->number) {
	case SAMPLE_LOCATION_ID:
		return add_numbers(field, sample->locations, PPROF_MAX_FRAMES,
				   &sample->nr_locations);
	case SAMPLE_VALUE:
		return add_numbers(field, sample->values, PPROF_MAX_TYPES, &sample->nr_values);
	case SAMPLE_LABEL:
		return add_label(field, sample);
	default:
		return 0;
	}
}

int pprof_get_sample(const struct pprof_message *message, size_t number,
		     struct pprof_sample *sample)
{
	struct pb_reader reader = reader_of(message, message->samples.items[number]);
	struct pb_field field;
	int r;

	sample->nr_locations = sample->nr_values = sample->nr_labels = 0;
	while ((r = pb_reader_next(&reader, &field)) > 0) {
		r = take_sample_field(&field, sample);
		if (r < 0)
			break;
	}
	if (r < 0)
		return pprof_fail(message, r, "sample %zu is damaged", number + 1);
	if (sample->nr_values != message->nr_types)
		return pprof_fail(message, -EBADMSG, "sample %zu has %zu values for %zu types",
				  number + 1, sample->nr_values, message->nr_types);
	if (sample->nr_labels > PPROF_MAX_LABELS)
		return pprof_fail(message, -EBADMSG, "sample %zu has more than %d labels",
				  number + 1, PPROF_MAX_LABELS);
	return 0;
}

int pprof_get_mapping(const struct pprof_message *message, uint32_t element,
		      struct pprof_mapping *mapping)
{
	const struct scalar scalars[] = {
		{ MAPPING_MEMORY_START, &mapping->start },
		{ MAPPING_MEMORY_LIMIT, &mapping->limit },
		{ MAPPING_FILE_OFFSET, &mapping->offset },
		{ MAPPING_FILENAME, &mapping->filename },
		{ MAPPING_BUILD_ID, &mapping->build_id },
	};

	*mapping = (struct pprof_mapping){ 0 };
	return read_element(message, &message->mappings, element, scalars, array_len(scalars));
}

int pprof_get_location(const struct pprof_message *message, uint32_t element,
		       struct pprof_location *location)
{
	const struct scalar scalars[] = {
		{ LOCATION_MAPPING_ID, &location->mapping },
		{ LOCATION_ADDRESS, &location->address },
	};

	*location = (struct pprof_location){
		.span = message->locations.items[element].span,
	};
	return read_element(message, &message->locations, element, scalars, array_len(scalars));
}

int pprof_get_function(const struct pprof_message *message, uint32_t element,
		       struct pprof_function *function)
{
	const struct scalar scalars[] = {
		{ FUNCTION_NAME, &function->name },
		{ FUNCTION_SYSTEM_NAME, &function->system_name },
		{ FUNCTION_FILENAME, &function->filename },
		{ FUNCTION_START_LINE, &function->start_line },
	};

	*function = (struct pprof_function){ 0 };
	return read_element(message, &message->functions, element, scalars, array_len(scalars));
}

int pprof_next_line(const struct pprof_message *message, struct pprof_span *rest,
		    struct pprof_line *line)
{
	struct pb_reader reader = reader_of(message, *rest);
	const struct scalar scalars[] = {
		{ LINE_FUNCTION_ID, &line->function },
		{ LINE_LINE, &line->line },
	};
	struct pb_field field;
	int r;

	*line = (struct pprof_line){ 0 };
	do
		r = pb_reader_next(&reader, &field);
	while (r > 0 && field.number != LOCATION_LINE);
	if (r > 0 && (field.wire != PB_WIRE_LEN || read_scalars(pb_reader_of(field.data, field.len),
								scalars, array_len(scalars)) < 0))
		r = -EBADMSG;
	if (r < 0)
		return pprof_fail(message, r, "a line of a location is damaged");
	rest->len -= (uint32_t)(reader.at - message->data) - rest->at;
	rest->at = (uint32_t)(reader.at - message->data);
	return r;
}
