/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/pprof_translator.h"

#include "base/array.h"
#include "base/hex.h"
#include "base/strview.h"
#include "profile/pprof_labels.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int pprof_translator_init(struct pprof_translator *translator, const struct pprof_message *message,
			  struct builder *builder)
{
	size_t nr_strings = message->strings.nr;

	*translator = (struct pprof_translator){
		.message = message,
		.builder = builder,
		.text = strbuf_with_max(SIZE_MAX),
	};
	translator->numbers = calloc(2 * nr_strings + message->mappings.nr + message->functions.nr +
					     message->locations.nr,
				     sizeof(*translator->numbers));
	if (!translator->numbers)
		return -ENOMEM;
	translator->strings = translator->numbers;
	translator->attributes = translator->strings + nr_strings;
	translator->mappings = translator->attributes + nr_strings;
	translator->functions = translator->mappings + message->mappings.nr;
	translator->locations = translator->functions + message->functions.nr;
	return 0;
}

void pprof_translator_done(struct pprof_translator *translator)
{
	free(translator->numbers);
	free(translator->lines);
	strbuf_done(&translator->text);
}

static const char *built_string(const struct pprof_translator *translator, uint32_t id)
{
	return profile_string(builder_peek(translator->builder), id);
}

static bool is_known_string(const struct pprof_translator *translator, const uint32_t *numbers,
			    uint64_t old)
{
	return old < translator->message->strings.nr && numbers[old];
}

int pprof_translate_string(struct pprof_translator *translator, uint64_t old, uint32_t *ret_new)
{
	int r;

	if (!is_known_string(translator, translator->strings, old)) {
		if ((r = pprof_get_string(translator->message, old, &translator->text)) < 0 ||
		    (r = builder_add_string(translator->builder, strbuf_str(&translator->text),
					    ret_new)) < 0)
			return r;
		translator->strings[old] = *ret_new + 1;
	}
	*ret_new = translator->strings[old] - 1;
	return 0;
}

int pprof_translate_attribute(struct pprof_translator *translator, uint64_t label,
			      uint32_t *ret_new)
{
	int r;

	if (!is_known_string(translator, translator->attributes, label)) {
		if ((r = pprof_get_string(translator->message, label, &translator->text)) < 0 ||
		    (r = builder_add_string(translator->builder,
					    pprof_attribute_of(strbuf_str(&translator->text)),
					    ret_new)) < 0)
			return r;
		translator->attributes[label] = *ret_new + 1;
	}
	*ret_new = translator->attributes[label] - 1;
	return 0;
}

static uint32_t fit_u32(uint64_t value)
{
	return value <= UINT32_MAX ? (uint32_t)value : 0;
}

static int translate_function(struct pprof_translator *translator, uint32_t element,
			      uint32_t *ret_new)
{
	uint32_t *known = &translator->functions[element];
	struct profile_function function;
	struct pprof_function old;
	int r;

	if (!*known) {
		if ((r = pprof_get_function(translator->message, element, &old)) < 0 ||
		    (r = pprof_translate_string(translator, old.name, &function.name)) < 0 ||
		    (r = pprof_translate_string(translator, old.system_name,
						&function.system_name)) < 0 ||
		    (r = pprof_translate_string(translator, old.filename, &function.filename)) < 0)
			return r;
		function.start_line = fit_u32(old.start_line);
		r = builder_add_function(translator->builder, &function, ret_new);
		if (r < 0)
			return r;
		*known = *ret_new + 1;
	}
	*ret_new = *known - 1;
	return 0;
}

static bool is_kernel(const char *filename)
{
	return strncmp(filename, "[kernel.", strlen("[kernel.")) == 0;
}

static bool has_build_id(const struct pprof_translator *translator, uint32_t text)
{
	const char *build_id = built_string(translator, text);

	return hex_is(build_id, strlen(build_id));
}

/* Keeps where a mapping lies, as the message has it. The kernel and code without a file lie
 * nowhere; the limit of those that Flamelet writes is the end of the address space. */
static void translate_range(const struct pprof_translator *translator,
			    const struct pprof_mapping *old, struct profile_mapping *mapping)
{
	if (old->limit <= old->start || old->limit == UINT64_MAX ||
	    is_kernel(built_string(translator, mapping->filename)))
		return;
	mapping->start = old->start;
	mapping->limit = old->limit;
	mapping->offset = old->offset;
}

static int translate_mapping(struct pprof_translator *translator, uint32_t element,
			     const struct pprof_mapping *old, uint32_t *ret_new)
{
	uint32_t *known = &translator->mappings[element];
	struct profile_mapping mapping = { 0 };
	int r;

	if (!*known) {
		if ((r = pprof_translate_string(translator, old->filename, &mapping.filename)) <
			    0 ||
		    (r = pprof_translate_string(translator, old->build_id, &mapping.build_id)) < 0)
			return r;
		if (!has_build_id(translator, mapping.build_id))
			mapping.build_id = 0;
		translate_range(translator, old, &mapping);
		r = builder_add_mapping(translator->builder, &mapping, ret_new);
		if (r < 0)
			return r;
		*known = *ret_new + 1;
	}
	*ret_new = *known - 1;
	return 0;
}

/* Sets the mapping, the address, and the kind as far as these determine it. */
static int translate_place(struct pprof_translator *translator, const struct pprof_location *old,
			   uint64_t id, struct profile_location *location)
{
	struct pprof_mapping mapping;
	uint32_t element;
	int r;

	*location = (struct profile_location){ .address = old->address, .kind = FRAME_NATIVE };
	if (old->mapping == 0)
		return 0;
	if (pprof_find(&translator->message->mappings, old->mapping, &element) < 0)
		return pprof_fail(translator->message, -EBADMSG,
				  "location %" PRIu64 ": mapping %" PRIu64 " is not in the table",
				  id, old->mapping);
	if ((r = pprof_get_mapping(translator->message, element, &mapping)) < 0 ||
	    (r = translate_mapping(translator, element, &mapping, &location->mapping)) < 0)
		return r;

	const struct profile *p = builder_peek(translator->builder);
	if (is_kernel(profile_string(p, p->mappings[location->mapping].filename)))
		location->kind = FRAME_KERNEL;
	return 0;
}

static int add_line(struct pprof_translator *translator, uint32_t function, uint64_t line)
{
	int r = array_grow(translator->lines, translator->cap_lines, translator->nr_lines + 1,
			   UINT32_MAX);
	if (r < 0)
		return r;
	translator->lines[translator->nr_lines++] = (struct profile_line){ function,
									   fit_u32(line) };
	return 0;
}

static int translate_lines(struct pprof_translator *translator, struct pprof_span rest, uint64_t id)
{
	struct pprof_line line;
	uint32_t element, function;
	int r;

	translator->nr_lines = 0;
	while ((r = pprof_next_line(translator->message, &rest, &line)) > 0) {
		if (line.function == 0)
			continue;
		if (pprof_find(&translator->message->functions, line.function, &element) < 0)
			return pprof_fail(translator->message, -EBADMSG,
					  "location %" PRIu64 ": function %" PRIu64
					  " is not in the table",
					  id, line.function);
		if ((r = translate_function(translator, element, &function)) < 0 ||
		    (r = add_line(translator, function, line.line)) < 0)
			return r;
	}
	return r;
}

static int add_name(struct pprof_translator *translator, const char *name)
{
	struct profile_function function = { 0 };
	uint32_t id;
	int r;

	if ((r = builder_add_string(translator->builder, name, &function.name)) < 0 ||
	    (r = builder_add_function(translator->builder, &function, &id)) < 0)
		return r;
	translator->nr_lines = 0;
	return add_line(translator, id, 0);
}

/* Converts an address to an offset in the mapped file. */
static uint64_t offset_of(const struct profile_mapping *mapping, uint64_t address)
{
	if (address < mapping->start || address >= mapping->limit)
		return address;
	return address - mapping->start + mapping->offset;
}

/* Names a location without lines: "libfoo.so+0x123", which is the same in all processes. */
static int add_fallback_name(struct pprof_translator *translator,
			     const struct profile_location *location)
{
	const struct profile *p = builder_peek(translator->builder);
	const struct profile_mapping *mapping = &p->mappings[location->mapping];
	const char *path = profile_string(p, mapping->filename);
	const char *slash = strrchr(path, '/');

	strbuf_clear(&translator->text);
	strbuf_append_str(&translator->text, slash ? slash + 1 : path);
	strbuf_appendf(&translator->text, "%s0x%" PRIx64, *path ? "+" : "",
		       offset_of(mapping, location->address));
	int r = strbuf_error(&translator->text);
	return r < 0 ? r : add_name(translator, strbuf_str(&translator->text));
}

/* Returns the kind of code by its lines. For a stack that ends before its root, pprof.h writes a
 * remark in brackets without an address. */
static enum frame_kind kind_of(const struct pprof_translator *translator,
			       const struct profile_location *location)
{
	static const struct {
		const char *end;
		enum frame_kind kind;
	} ends[] = {
		{ ".go", FRAME_GO },	  { ".rs", FRAME_RUST },   { ".java", FRAME_JVM },
		{ ".kt", FRAME_JVM },	  { ".scala", FRAME_JVM }, { ".js", FRAME_V8JS },
		{ ".py", FRAME_CPYTHON },
	};
	const struct profile *p = builder_peek(translator->builder);
	const struct profile_line *outermost = &translator->lines[translator->nr_lines - 1];
	const struct profile_function *function = &p->functions[outermost->function];
	const struct strview filename = strview_of(profile_string(p, function->filename), SIZE_MAX);
	const char *name = profile_string(p, function->name);

	if (location->kind == FRAME_KERNEL)
		return FRAME_KERNEL;
	if (!location->mapping && !location->address && name[0] == '[' &&
	    strview_ends_with(strview_of(name, SIZE_MAX), "]"))
		return FRAME_STOP;
	for (size_t i = 0; i < array_len(ends); i++)
		if (strview_ends_with(filename, ends[i].end))
			return ends[i].kind;
	return FRAME_NATIVE;
}

static int add_location(struct pprof_translator *translator, uint32_t element, uint32_t *ret_new)
{
	uint64_t id = translator->message->locations.items[element].id;
	struct profile_location location;
	struct pprof_location old;
	int r;

	if ((r = pprof_get_location(translator->message, element, &old)) < 0 ||
	    (r = translate_place(translator, &old, id, &location)) < 0 ||
	    (r = translate_lines(translator, old.span, id)) < 0)
		return r;
	if (translator->nr_lines == 0) {
		r = add_fallback_name(translator, &location);
		if (r < 0)
			return r;
	}
	location.kind = kind_of(translator, &location);
	return builder_add_named_location(translator->builder, &location, translator->lines,
					  translator->nr_lines, ret_new);
}

int pprof_translate_location(struct pprof_translator *translator, uint32_t element,
			     uint32_t *ret_new)
{
	uint32_t *known = &translator->locations[element];

	if (!*known) {
		int r = add_location(translator, element, ret_new);
		if (r < 0)
			return r;
		*known = *ret_new + 1;
	}
	*ret_new = *known - 1;
	return 0;
}

int pprof_translator_add_remark(struct pprof_translator *translator, const char *text,
				uint32_t *ret_new)
{
	const struct profile_location location = { .kind = FRAME_STOP };

	int r = add_name(translator, text);
	if (r < 0)
		return r;
	return builder_add_named_location(translator->builder, &location, translator->lines,
					  translator->nr_lines, ret_new);
}
