/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/naming.h"

#include "base/strbuf.h"
#include "bpf/shared/frames.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FALLBACK_NAME_MAX 4200
#define NO_ROOM_BYTES 256 /* for NAMING_NO_ROOM and its function */

static const char *const stop_names[] = {
#define X(NAME, name, words) [UNWIND_##NAME] = "[" words "]",
	UNWIND_RESULTS(X)
#undef X
};

/* A name as the profile wants it: two strings and a function. */
static int add_name(struct builder *builder, const char *name, const char *system_name,
		    uint32_t *ret_function)
{
	struct profile_function function = { 0 };

	int r = builder_add_string(builder, name, &function.name);
	if (r == 0)
		r = builder_add_string(builder, system_name, &function.system_name);
	if (r == 0)
		r = builder_add_function(builder, &function, ret_function);
	return r;
}

static int set_function(struct window *window, uint32_t location, uint32_t function)
{
	const struct profile_line line = { .function = function };
	enum frame_kind kind = builder_peek(window->builder)->locations[location].kind;

	return builder_set_lines(window->builder, location, kind, &line, 1);
}

static int set_name(struct window *window, uint32_t location, const char *name,
		    const char *system_name)
{
	uint32_t function;

	int r = add_name(window->builder, name, system_name, &function);
	return r == 0 ? set_function(window, location, function) : r;
}

/* Names in brackets are no paths: a process may have named its memory "[anon:js/code]". */
static const char *base_name(const char *path)
{
	const char *slash = path[0] == '[' ? NULL : strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* `libfoo.so+0x123`; for code without addresses ("[anon]") the name alone. */
static int set_fallback_name(struct window *window, uint32_t location, uint64_t address)
{
	const struct profile *profile = builder_peek(window->builder);
	uint32_t mapping = profile->locations[location].mapping;
	const char *file = base_name(profile_string(profile, profile->mappings[mapping].filename));
	char name[FALLBACK_NAME_MAX];

	if (address != 0)
		snprintf(name, sizeof(name), "%s+0x%" PRIx64, file, address);
	else
		snprintf(name, sizeof(name), "%s", file);
	return set_name(window, location, name, "");
}

/* Counts what was named without an error. */
static int counted(uint64_t *counter, int error)
{
	if (error == 0)
		__atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
	return error;
}

static int name_kernel(struct namer *namer, struct window *window, uint32_t location,
		       uint64_t address)
{
	const char *name = namer->kallsyms ? kallsyms_find(namer->kallsyms, address, NULL) : NULL;

	if (!name)
		return counted(&namer->nr_unnamed, set_fallback_name(window, location, address));
	return counted(&namer->nr_named, set_name(window, location, name, name));
}

static int name_native(struct namer *namer, struct window *window, uint32_t location,
		       uint32_t elf_id, uint64_t offset)
{
	struct elf_frame frame = { .address = offset };

	if (elf_id != 0 && elf_cache_symbolize(namer->elfs, elf_id, offset, &frame) == 0)
		return counted(&namer->nr_named,
			       set_name(window, location, frame.name, frame.system_name));
	return counted(&namer->nr_unnamed, set_fallback_name(window, location, frame.address));
}

/* The ELF id of a builder's mapping. Mapping 0 is none; the window added all others, in order. */
static uint32_t elf_of(const struct window *window, uint32_t mapping)
{
	return mapping == 0 ? 0 : window->mappings[mapping - 1].elf_id;
}

static int name_location(struct namer *namer, struct window *window, uint32_t location)
{
	const struct profile_location *where = &builder_peek(window->builder)->locations[location];

	switch (where->kind) {
	case FRAME_KERNEL:
		return name_kernel(namer, window, location, where->address);
	case FRAME_STOP:
		return set_name(window, location, stop_names[where->address], "");
	default:
		return name_native(namer, window, location, elf_of(window, where->mapping),
				   where->address);
	}
}

static int set_build_id(struct namer *namer, struct window *window,
			const struct window_mapping *mapping)
{
	uint32_t build_id;

	if (mapping->elf_id == 0)
		return 0;
	int r = builder_add_string(window->builder,
				   elf_cache_build_id(namer->elfs, mapping->elf_id), &build_id);
	if (r == 0)
		builder_set_build_id(window->builder, mapping->mapping, build_id);
	return r == -ENOSPC ? 0 : r;
}

/* Names what it can; locations whose names have no room are left without. */
static int name_locations(struct namer *namer, struct window *window)
{
	size_t nr_locations = builder_peek(window->builder)->nr_locations;
	int r = 0;

	for (uint32_t location = 1; location < nr_locations && r == 0; location++) {
		r = name_location(namer, window, location);
		if (r == -ENOSPC)
			r = 0;
	}
	return r;
}

/* Makes room for the one name that says that there was none. */
static int leave_out(struct namer *namer, struct window *window, uint32_t location,
		     uint32_t *no_room)
{
	int r = 0;

	if (*no_room == 0) {
		builder_set_room(window->builder, NO_ROOM_BYTES);
		r = add_name(window->builder, NAMING_NO_ROOM, "", no_room);
	}
	/* All but the first share its line, which takes no room. */
	if (r == 0)
		r = set_function(window, location, *no_room);
	builder_set_room(window->builder, 0);
	return counted(&namer->nr_unnamed, r);
}

/* A shorter name for a location that was left without, or the one that says so. */
static int name_shortly(struct namer *namer, struct window *window, uint32_t location,
			uint32_t *no_room)
{
	const struct profile_location *where = &builder_peek(window->builder)->locations[location];
	int r;

	if (where->nr_lines != 0)
		return 0;
	if (where->kind == FRAME_STOP)
		r = set_name(window, location, stop_names[where->address], "");
	else
		r = counted(&namer->nr_unnamed,
			    set_fallback_name(window, location, where->address));
	return r == -ENOSPC ? leave_out(namer, window, location, no_room) : r;
}

static int name_left_over(struct namer *namer, struct window *window)
{
	size_t nr_locations = builder_peek(window->builder)->nr_locations;
	uint32_t no_room = 0;
	int r = 0;

	for (uint32_t location = 1; location < nr_locations && r == 0; location++)
		r = name_shortly(namer, window, location, &no_room);
	return r;
}

int name_window(struct namer *namer, struct window *window)
{
	builder_set_room(window->builder, WINDOW_MAX_NAME_BYTES);
	int r = name_locations(namer, window);
	builder_set_room(window->builder, WINDOW_MAX_FALLBACK_BYTES);
	for (size_t i = 0; i < window->nr_mappings && r == 0; i++)
		r = set_build_id(namer, window, &window->mappings[i]);
	if (r == 0)
		r = name_left_over(namer, window);
	return r;
}
