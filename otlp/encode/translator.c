/* SPDX-License-Identifier: Apache-2.0 */
/* From a profile's tables to a dictionary's.
 *
 *	stack ─▶ location ─▶ lines ─▶ function ─▶ string      profile's numbers
 *	  │         │                    │           │
 *	  ▼         ▼                    ▼           ▼
 *	stack ─▶ location ─▶ lines ─▶ function ─▶ string      dictionary's numbers
 *
 * Each element is translated once, its new number + 1 kept in an array as long as the profile's
 * table; what nothing leads to is not sent. Elements that become equal on the way share a number.
 *
 * Mappings. All code of files that were read has a build id or a hash and carries its mapping and
 * address: with these a backend finds files, functions and instructions by itself. Kernel code does
 * not, as its addresses tell where the kernel was loaded, nor does code without a file, whose
 * addresses mean nothing outside of its process.
 *
 * For Pyroscope that is too much: it repeats a location's mapping for each sample that has it when
 * it converts a request, eight times the size with a hundred mappings, and refuses what gets too
 * large. There (`drops_addresses`) a frame that has its name from a symbol table goes without
 * mapping and address; all addresses of a source line, or in a function of unknown lines, thus
 * become one location. A frame that has only a stand-in for a name ("libfoo.so+0x123", told by the
 * missing system name) keeps both, because with these a backend can still find the symbol.
 *
 * Names. A location without a name is not shown, and a stack of such locations is not even counted:
 * every location has a function with a name, and a stack without frames gets one. So has each of
 * the lines of functions that were inlined into each other.
 *
 * Stacks. Destinations that cut deep stacks cut the leaf, where the time went. We cut the root
 * side, at what they take, and say so in the last frame. */
#include "otlp/encode/translator.h"

#include "base/pb.h"
#include "base/printable.h"
#include "otlp/encode/otlp_fields.h"
#include "otlp/encode/packed.h"

#include <stdbool.h>
#include <stdlib.h>

#define NR_BUILD_IDS 3

#define NAME_OF_NAMELESS "[unknown]"
#define NAME_OF_NO_STACK "[no stack]"
#define NAME_OF_TRUNCATED_STACK "[stack truncated]"

int translator_init(struct translator *translator, const struct encode_job *job, size_t max_bytes)
{
	const struct profile *profile = job->profile;
	size_t nr_strings = profile->strings.nr_strings;

	translator->profile = profile;
	translator->drops_addresses = job->drops_addresses;
	translator->dictionary = (struct dictionary){ 0 };
	translator->message = strbuf_with_max(max_bytes);
	translator->numbers = calloc(3 * nr_strings + profile->nr_mappings + profile->nr_functions +
					     2 * profile->nr_locations + profile->nr_stacks,
				     sizeof(*translator->numbers));
	if (!translator->numbers)
		return -ENOMEM;
	translator->strings = translator->numbers;
	translator->thread_names = translator->strings + nr_strings;
	translator->containers = translator->thread_names + nr_strings;
	translator->mappings = translator->containers + nr_strings;
	translator->functions = translator->mappings + profile->nr_mappings;
	translator->locations = translator->functions + profile->nr_functions;
	translator->location_mappings = translator->locations + profile->nr_locations;
	translator->stacks = translator->location_mappings + profile->nr_locations;
	return dictionary_init(&translator->dictionary, max_bytes);
}

void translator_done(struct translator *translator)
{
	dictionary_done(&translator->dictionary);
	strbuf_done(&translator->message);
	free(translator->numbers);
}

/* Returns the empty scratch message. It holds one element at a time, so everything that the element
 * refers to must be translated before. */
static struct strbuf *begin_message(struct translator *translator)
{
	strbuf_clear(&translator->message);
	return &translator->message;
}

static uint32_t finish_message(struct translator *translator, enum dictionary_table table)
{
	return dictionary_add(&translator->dictionary, table, &translator->message);
}

uint32_t translator_add_text(struct translator *translator, const char *text)
{
	return dictionary_add_string(&translator->dictionary, text);
}

static uint32_t add_string(struct translator *translator, uint32_t old)
{
	uint32_t *known = &translator->strings[old];

	if (!*known)
		*known = translator_add_text(translator, profile_string(translator->profile, old)) +
			 1;
	return *known - 1;
}

static uint32_t add_text_attribute(struct translator *translator, const char *key,
				   const char *value)
{
	uint32_t key_index = translator_add_text(translator, key);
	struct strbuf *message = begin_message(translator);

	pb_uint(message, KEY_VALUE_AND_UNIT_KEY, key_index);
	size_t any = pb_begin(message, KEY_VALUE_AND_UNIT_VALUE);
	size_t text = pb_begin(message, ANY_VALUE_STRING);
	printable_append(message, value);
	pb_end(message, text);
	pb_end(message, any);
	return finish_message(translator, DICTIONARY_ATTRIBUTE);
}

static uint32_t add_number_attribute(struct translator *translator, const char *key, uint64_t value)
{
	uint32_t key_index = translator_add_text(translator, key);
	struct strbuf *message = begin_message(translator);

	pb_uint(message, KEY_VALUE_AND_UNIT_KEY, key_index);
	packed_begin(message, KEY_VALUE_AND_UNIT_VALUE, 1 + packed_varint_len(value));
	pb_int_always(message, ANY_VALUE_INT, (int64_t)value);
	return finish_message(translator, DICTIONARY_ATTRIBUTE);
}

/* Adds an attribute that is cached by its string. ATTRIBUTE_OTHER is not a string; its attribute is
 * cached at "", which no thread and no container has. */
static uint32_t add_text_label(struct translator *translator, uint32_t *known, const char *key,
			       uint32_t text)
{
	bool is_other = text == ATTRIBUTE_OTHER;

	known += is_other ? 0 : text;
	if (!*known)
		*known = add_text_attribute(translator, key,
					    is_other ? ATTRIBUTE_OTHER_TEXT
						     : profile_string(translator->profile, text)) +
			 1;
	return *known - 1;
}

static uint32_t add_cpu(struct translator *translator, uint32_t cpu)
{
	uint32_t attribute = cpu < TRANSLATOR_NR_CPUS ? translator->cpus[cpu] : 0;

	if (attribute)
		return attribute;
	attribute = add_number_attribute(translator, "cpu.logical_number", cpu);
	if (cpu < TRANSLATOR_NR_CPUS)
		translator->cpus[cpu] = attribute;
	return attribute;
}

static uint32_t add_cgroup(struct translator *translator, uint64_t cgroup_id)
{
	if (translator->last_cgroup != cgroup_id) {
		translator->last_cgroup_attribute = add_number_attribute(
			translator, "flamelet.cgroup.id", cgroup_id);
		translator->last_cgroup = cgroup_id;
	}
	return translator->last_cgroup_attribute;
}

static uint32_t add_reason(struct translator *translator, enum wait_reason reason)
{
	uint32_t *known = &translator->reasons[reason];

	if (!*known)
		*known = add_text_attribute(translator, "flamelet.wait.reason",
					    wait_reason_word(reason));
	return *known;
}

size_t translator_add_attributes(struct translator *translator, const struct kept_attributes *kept,
				 uint32_t attributes[static TRANSLATOR_NR_ATTRIBUTES])
{
	size_t nr = 0;

	if (kept->thread_name)
		attributes[nr++] = add_text_label(translator, translator->thread_names,
						  "thread.name", kept->thread_name);
	if (kept->thread_id)
		attributes[nr++] = add_number_attribute(translator, "thread.id", kept->thread_id);
	if (kept->cpu != ATTRIBUTE_NONE)
		attributes[nr++] = add_cpu(translator, kept->cpu);
	if (kept->cgroup_id)
		attributes[nr++] = add_cgroup(translator, kept->cgroup_id);
	if (kept->pid)
		attributes[nr++] = add_number_attribute(translator, "process.pid", kept->pid);
	if (kept->container)
		attributes[nr++] = add_text_label(translator, translator->containers,
						  "container.id", kept->container);
	if (kept->reason != REASON_NONE)
		attributes[nr++] = add_reason(translator, kept->reason);
	return nr;
}

static uint32_t add_named_function(struct translator *translator, const char *name)
{
	uint32_t text = translator_add_text(translator, name);
	struct strbuf *message = begin_message(translator);

	pb_uint(message, FUNCTION_NAME, text);
	return finish_message(translator, DICTIONARY_FUNCTION);
}

static uint32_t build_function(struct translator *translator,
			       const struct profile_function *function)
{
	uint32_t name = add_string(translator, function->name);
	uint32_t system_name = add_string(translator, function->system_name);
	uint32_t filename = add_string(translator, function->filename);

	if (name == 0)
		return add_named_function(translator, NAME_OF_NAMELESS);

	struct strbuf *message = begin_message(translator);
	pb_uint(message, FUNCTION_NAME, name);
	if (system_name != name)
		pb_uint(message, FUNCTION_SYSTEM_NAME, system_name);
	pb_uint(message, FUNCTION_FILENAME, filename);
	pb_uint(message, FUNCTION_START_LINE, function->start_line);
	return finish_message(translator, DICTIONARY_FUNCTION);
}

static uint32_t add_function(struct translator *translator, uint32_t old)
{
	uint32_t *known = &translator->functions[old];

	if (!*known)
		*known = build_function(translator, &translator->profile->functions[old]) + 1;
	return *known - 1;
}

/* Pyroscope only accepts GNU build ids. */
static size_t add_build_ids(struct translator *translator, const struct profile_mapping *mapping,
			    uint32_t attributes[static NR_BUILD_IDS])
{
	const struct {
		const char *key;
		uint32_t value;
	} ids[NR_BUILD_IDS] = {
		{ "process.executable.build_id.gnu", mapping->build_id },
		{ "process.executable.build_id.go", mapping->go_build_id },
		{ "process.executable.build_id.htlhash", mapping->htlhash },
	};
	size_t max = translator->drops_addresses ? 1 : NR_BUILD_IDS;
	size_t nr = 0;

	for (size_t i = 0; i < max; i++)
		if (ids[i].value)
			attributes[nr++] = add_text_attribute(
				translator, ids[i].key,
				profile_string(translator->profile, ids[i].value));
	return nr;
}

static uint32_t build_mapping(struct translator *translator, const struct profile_mapping *mapping)
{
	uint32_t filename = add_string(translator, mapping->filename);
	uint32_t attributes[NR_BUILD_IDS];
	size_t nr = add_build_ids(translator, mapping, attributes);
	struct strbuf *message = begin_message(translator);

	pb_uint(message, MAPPING_MEMORY_START, mapping->start);
	pb_uint(message, MAPPING_MEMORY_LIMIT, mapping->limit);
	pb_uint(message, MAPPING_FILE_OFFSET, mapping->offset);
	pb_uint(message, MAPPING_FILENAME, filename);
	packed_append(message, MAPPING_ATTRIBUTE_INDICES, attributes, nr);
	return finish_message(translator, DICTIONARY_MAPPING);
}

static uint32_t add_mapping(struct translator *translator, uint32_t old)
{
	uint32_t *known = &translator->mappings[old];

	if (!*known)
		*known = build_mapping(translator, &translator->profile->mappings[old]) + 1;
	return *known - 1;
}

/* Returns whether the name is a stand-in, for which a backend could find a better one. A stand-in
 * never has inlined functions. */
static bool is_stand_in(const struct profile *profile, const struct profile_location *location)
{
	const struct profile_line *line = profile_location_lines(profile, location);

	return location->nr_lines == 1 && profile->functions[line->function].system_name == 0;
}

/* Profiles of other programs may have addresses outside of their mappings. */
static bool is_inside(const struct profile_mapping *mapping, uint64_t address)
{
	return mapping->limit == 0 || (address >= mapping->start && address < mapping->limit);
}

static bool keeps_mapping(const struct translator *translator,
			  const struct profile_location *location)
{
	const struct profile *profile = translator->profile;
	const struct profile_mapping *mapping = &profile->mappings[location->mapping];

	if (location->kind == FRAME_KERNEL || location->kind == FRAME_STOP ||
	    !is_inside(mapping, location->address))
		return false;
	if (translator->drops_addresses)
		return mapping->build_id && is_stand_in(profile, location);
	return mapping->build_id || mapping->go_build_id || mapping->htlhash;
}

static void put_line(struct strbuf *message, uint32_t function, uint32_t number)
{
	packed_begin(message, LOCATION_LINES, packed_uint_len(function) + packed_uint_len(number));
	pb_uint(message, LINE_FUNCTION_INDEX, function);
	pb_uint(message, LINE_LINE, number);
}

static uint32_t add_frame_type(struct translator *translator, enum frame_kind kind)
{
	static const char
		*const names[TRANSLATOR_NR_KINDS] = {
			[FRAME_NATIVE] = "native",
			[FRAME_KERNEL] = "kernel",
			[FRAME_GO] = "go",
			[FRAME_RUST] = "rust",
			[FRAME_JVM] = "jvm",
			[FRAME_V8JS] = "v8js",
			[FRAME_CPYTHON] = "cpython",
			[FRAME_JIT] = "native", /* the conventions have nothing closer */
		};
	uint32_t *known = &translator->frame_types[kind];

	if (names[kind] && !*known)
		*known = add_text_attribute(translator, "profile.frame.type", names[kind]);
	return *known;
}

static uint32_t build_location(struct translator *translator, uint32_t old)
{
	const struct profile_location *location = &translator->profile->locations[old];
	const struct profile_line *lines = profile_location_lines(translator->profile, location);
	bool has_mapping = keeps_mapping(translator, location);
	uint32_t mapping = has_mapping ? add_mapping(translator, location->mapping) : 0;
	uint32_t frame_type = add_frame_type(translator, location->kind);
	for (uint32_t i = 0; i < location->nr_lines; i++)
		add_function(translator, lines[i].function);
	translator->location_mappings[old] = mapping;
	struct strbuf *message = begin_message(translator);

	pb_uint(message, LOCATION_MAPPING_INDEX, mapping);
	pb_uint(message, LOCATION_ADDRESS, has_mapping ? location->address : 0);
	for (uint32_t i = 0; i < location->nr_lines; i++) /* known by now: the message stays */
		put_line(message, add_function(translator, lines[i].function), lines[i].line);
	if (frame_type)
		packed_append_one(message, LOCATION_ATTRIBUTE_INDICES, frame_type);
	return finish_message(translator, DICTIONARY_LOCATION);
}

static uint32_t add_location(struct translator *translator, uint32_t old)
{
	uint32_t *known = &translator->locations[old];

	if (!*known)
		*known = build_location(translator, old) + 1;
	return *known - 1;
}

/* Adds a frame of our own with a remark about the stack. */
static uint32_t add_remark(struct translator *translator, const char *name)
{
	uint32_t function = add_named_function(translator, name);
	struct strbuf *message = begin_message(translator);

	put_line(message, function, 0);
	return finish_message(translator, DICTIONARY_LOCATION);
}

static size_t fill_frames(struct translator *translator, const struct profile_stack *stack)
{
	const uint32_t *locations = translator->profile->stack_locations + stack->first;
	size_t nr = stack->nr;

	if (nr == 0) {
		translator->frames[0] = add_remark(translator, NAME_OF_NO_STACK);
		return 1;
	}
	if (nr > ENCODE_STACK_MAX_FRAMES) {
		nr = ENCODE_STACK_MAX_FRAMES - 1;
		translator->frames[nr] = add_remark(translator, NAME_OF_TRUNCATED_STACK);
	}
	for (size_t i = 0; i < nr; i++)
		translator->frames[i] = add_location(translator, locations[i]);
	return stack->nr > nr ? nr + 1 : nr;
}

static uint32_t build_stack(struct translator *translator, const struct profile_stack *stack)
{
	size_t nr = fill_frames(translator, stack);
	struct strbuf *message = begin_message(translator);

	packed_append(message, STACK_LOCATION_INDICES, translator->frames, nr);
	return finish_message(translator, DICTIONARY_STACK);
}

uint32_t translator_add_stack(struct translator *translator, uint32_t stack)
{
	uint32_t *known = &translator->stacks[stack];

	if (!*known)
		*known = build_stack(translator, &translator->profile->stacks[stack]) + 1;
	return *known - 1;
}
