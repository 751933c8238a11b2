/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/symbolizer.h"

#include "base/capabilities.h"
#include "base/clock.h"
#include "base/heartbeat.h"
#include "base/log.h"
#include "bpf/shared/frames.h"
#include "bpf/shared/runtime.h"
#include "pipeline/placing.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FALLBACK_NAME_MAX 4200
#define MAX_ROUNDS 4 /* of waiting for names */
#define WAIT_SLICE_NS (250 * NSEC_PER_MSEC) /* then it is asked whether to wait on */
#define JIT_WAIT_NS (500 * NSEC_PER_MSEC) /* for lists of compiled code, in that window */
#define RUNTIME_WAIT_NS (500 * NSEC_PER_MSEC) /* for names of frames of runtimes, in that window */
#define NO_ROOM_BYTES 256 /* for SYMBOLIZER_NO_ROOM and its function */

static const char *const stop_names[] = {
#define X(NAME, name, words) [UNWIND_##NAME] = "[" words "]",
	UNWIND_RESULTS(X)
#undef X
#define X(NAME, words) [UNWIND_NR_RESULTS + RUNTIME_MARK_##NAME] = "[" words "]",
		RUNTIME_MARKS(X)
#undef X
};

/* Adds a function and its strings to the profile. */
static int add_function(struct builder *builder, const struct symbol_line *line,
			uint32_t *ret_function)
{
	struct profile_function function = { .start_line = line->start_line };

	int r = builder_add_string(builder, line->name, &function.name);
	if (r == 0)
		r = builder_add_string(builder, line->system_name, &function.system_name);
	if (r == 0)
		r = builder_add_string(builder, line->filename, &function.filename);
	if (r == 0)
		r = builder_add_function(builder, &function, ret_function);
	return r;
}

static int set_lines(struct window *window, uint32_t location, enum frame_kind kind,
		     const struct symbol_frames *frames)
{
	struct profile_line lines[SYMBOL_MAX_LINES];

	for (size_t i = 0; i < frames->nr_lines; i++) {
		lines[i].line = frames->lines[i].line;
		int r = add_function(window->builder, &frames->lines[i], &lines[i].function);
		if (r < 0)
			return r;
	}
	return builder_set_lines(window->builder, location, kind, lines, frames->nr_lines);
}

/* Sets a name that is not a symbol's. */
static int set_name(struct window *window, uint32_t location, const char *name)
{
	const struct symbol_line line = { .name = name, .system_name = "", .filename = "" };
	const struct symbol_frames frames = { .lines = &line, .nr_lines = 1 };

	return set_lines(window, location, builder_peek(window->builder)->locations[location].kind,
			 &frames);
}

/* Names in brackets are no paths: a process may have named its memory "[anon:js/code]". */
static const char *base_name(const char *path)
{
	const char *slash = path[0] == '[' ? NULL : strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Sets a name such as `libfoo.so+0x123`, with the address of its function if that is known, else
 * its own. Code without addresses ("[anon]") gets the file's name alone. */
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
	return set_name(window, location, name);
}

/* Counts what was named without an error. */
static int counted(uint64_t *counter, int error)
{
	if (error == 0)
		__atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
	return error;
}

/* A resolver knows the names of one kind of code. ask() returns whether symbolize() has everything
 * it needs, and otherwise asks for it; it is NULL if symbolize() always has. Errors of symbolize():
 * -ENOENT if there is no name, others of its cache. */
struct resolver {
	bool (*ask)(struct symbolizer *symbolizer, uint32_t id, uint64_t address);
	int (*symbolize)(struct symbolizer *symbolizer, uint32_t id, uint64_t address,
			 struct symbol_frames *ret_frames);
};

static int symbolize_nameless(struct symbolizer *symbolizer, uint32_t id, uint64_t address,
			      struct symbol_frames *ret_frames)
{
	(void)symbolizer;
	(void)id;
	*ret_frames = (struct symbol_frames){ .address = address };
	return -ENOENT;
}

static bool ask_elf(struct symbolizer *symbolizer, uint32_t id, uint64_t offset)
{
	return elf_cache_ask(symbolizer->elfs, id, offset);
}

static int symbolize_elf(struct symbolizer *symbolizer, uint32_t id, uint64_t offset,
			 struct symbol_frames *ret_frames)
{
	return elf_cache_symbolize(symbolizer->elfs, id, offset, ret_frames);
}

/* An address in one process's memory is of no use to others: code without a name is "[anon]". */
static int symbolize_jit(struct symbolizer *symbolizer, uint32_t id, uint64_t address,
			 struct symbol_frames *ret_frames)
{
	*ret_frames = (struct symbol_frames){ 0 };
	return jit_cache_symbolize(symbolizer->jits, id, address, ret_frames);
}

static int symbolize_runtime(struct symbolizer *symbolizer, uint32_t kind, uint64_t number,
			     struct symbol_frames *ret_frames)
{
	(void)kind;
	*ret_frames = (struct symbol_frames){ 0 };
	return symbolizer->runtimes ? runtimes_symbolize(symbolizer->runtimes, number, ret_frames)
				    : -ENOENT;
}

static int symbolize_kernel(struct symbolizer *symbolizer, uint32_t id, uint64_t address,
			    struct symbol_frames *ret_frames)
{
	(void)id;
	*ret_frames = (struct symbol_frames){ .address = address };
	const char *name = symbolizer->kernel ? kernel_symbols_find(symbolizer->kernel, address,
								    clock_mono_ns(), NULL)
					      : NULL;
	if (!name)
		return -ENOENT;
	symbolizer->kernel_line =
		(struct symbol_line){ .name = name, .system_name = name, .filename = "" };
	ret_frames->lines = &symbolizer->kernel_line;
	ret_frames->nr_lines = 1;
	return 0;
}

static const struct resolver resolvers[] = {
	[CODE_NAMELESS] = { NULL, symbolize_nameless },
	[CODE_ELF] = { ask_elf, symbolize_elf },
	[CODE_JIT] = { NULL, symbolize_jit },
	[CODE_RUNTIME] = { NULL, symbolize_runtime },
	[CODE_KERNEL] = { NULL, symbolize_kernel },
};

static const enum frame_kind kinds[] = {
	[LANGUAGE_UNKNOWN] = FRAME_NATIVE, [LANGUAGE_GO] = FRAME_GO,
	[LANGUAGE_RUST] = FRAME_RUST,	   [LANGUAGE_JVM] = FRAME_JVM,
	[LANGUAGE_V8JS] = FRAME_V8JS,	   [LANGUAGE_CPYTHON] = FRAME_CPYTHON,
	[LANGUAGE_JIT] = FRAME_JIT,
};

static int name_code(struct symbolizer *symbolizer, struct window *window, uint32_t location,
		     const struct profile_location *where)
{
	struct window_code code = window_code_of(window, where->mapping);
	bool is_kernel = where->kind == FRAME_KERNEL;
	struct symbol_frames frames;

	if (resolvers[code.kind].symbolize(symbolizer, code.id, where->address, &frames) < 0)
		return counted(
			&symbolizer->nr_unnamed,
			set_fallback_name(window, location,
					  frames.function ? frames.function : frames.address));
	return counted(&symbolizer->nr_named,
		       set_lines(window, location,
				 is_kernel ? FRAME_KERNEL : kinds[frames.language], &frames));
}

static int name_location(struct symbolizer *symbolizer, struct window *window, uint32_t location)
{
	const struct profile_location *where = &builder_peek(window->builder)->locations[location];

	if (where->kind == FRAME_STOP)
		return set_name(window, location, stop_names[where->address]);
	return name_code(symbolizer, window, location, where);
}

/* Returns whether more may be known of a location's code later. */
static bool can_wait(const struct window *window, const struct profile_location *where)
{
	return where->kind != FRAME_STOP &&
	       resolvers[window_code_of(window, where->mapping).kind].ask;
}

/* Returns whether a location has no name yet and may get a better one after a while; if
 * so, asks for what it needs. */
static bool is_worth_waiting_for(struct symbolizer *symbolizer, const struct window *window,
				 const struct profile_location *where)
{
	struct window_code code = window_code_of(window, where->mapping);

	return where->nr_lines == 0 && can_wait(window, where) &&
	       !resolvers[code.kind].ask(symbolizer, code.id, where->address);
}

size_t symbolizer_ask(struct symbolizer *symbolizer, const struct window *window)
{
	const struct profile *profile = builder_peek(window->builder);
	size_t nr_asked = 0;

	for (size_t i = 1; i < profile->nr_locations; i++)
		nr_asked += is_worth_waiting_for(symbolizer, window, &profile->locations[i]);
	return nr_asked;
}

static uint64_t earlier(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns < b_ns ? a_ns : b_ns;
}

static uint64_t get_wait_end_ns(const struct symbolizer *symbolizer, uint64_t until_ns)
{
	if (!symbolizer->give_up_ns)
		return until_ns;
	return earlier(until_ns, __atomic_load_n(symbolizer->give_up_ns, __ATOMIC_RELAXED));
}

static bool must_hurry(const struct symbolizer *symbolizer)
{
	return clock_mono_ns() >= get_wait_end_ns(symbolizer, UINT64_MAX);
}

/* Returns whether only slow files are missing, for which the window does not wait any more. */
static bool is_rest_too_slow(const struct symbolizer *symbolizer, const struct window *window)
{
	return symbolizer->slow_wait_ns > 0 && elf_cache_is_slow_only(symbolizer->elfs) &&
	       clock_mono_ns() >= window->end_ns + symbolizer->slow_wait_ns;
}

/* Returns the time until which to wait for files. With `can_be_held` there is no wait once an end
 * is set: windows that are held wait together. */
static uint64_t get_files_end_ns(const struct symbolizer *symbolizer, uint64_t until_ns,
				 bool can_be_held)
{
	bool has_end = get_wait_end_ns(symbolizer, UINT64_MAX) != UINT64_MAX;

	return can_be_held && has_end ? 0 : get_wait_end_ns(symbolizer, until_ns);
}

/* As elf_cache_wait(). Replies about JIT compilers' lists are taken as they come, so that their
 * worker does not count as late. */
static bool wait_for_elfs(const struct symbolizer *symbolizer, const struct window *window,
			  uint64_t until_ns, bool can_be_held)
{
	uint64_t end_ns, slice_ns;

	do {
		heartbeat_beat();
		(void)jit_cache_work(symbolizer->jits);
		end_ns = get_files_end_ns(symbolizer, until_ns, can_be_held);
		slice_ns = earlier(end_ns, clock_mono_ns() + WAIT_SLICE_NS);
		if (elf_cache_wait(symbolizer->elfs, slice_ns))
			return true;
	} while (slice_ns < end_ns && !is_rest_too_slow(symbolizer, window));
	return false;
}

/* Waits until the files are read, then for the lines of addresses in them. The number of rounds is
 * limited because names could evict each other for ever. */
static void await_names(struct symbolizer *symbolizer, const struct window *window,
			uint64_t until_ns, bool can_be_held)
{
	for (unsigned int round = 0; round < MAX_ROUNDS && !must_hurry(symbolizer); round++)
		if (symbolizer_ask(symbolizer, window) == 0 ||
		    !wait_for_elfs(symbolizer, window, until_ns, can_be_held))
			return;
}

/* Adds a build id, or leaves it out if there is no room. */
static int add_build_id(struct builder *builder, const char *text, uint32_t *ret_id)
{
	int r = builder_add_string(builder, text, ret_id);

	return r == -ENOSPC ? 0 : r;
}

static int set_build_ids(struct symbolizer *symbolizer, struct window *window,
			 const struct window_mapping *mapping)
{
	struct build_ids ids = elf_cache_build_ids(symbolizer->elfs, mapping->code.id);
	struct builder *builder = window->builder;
	struct profile_mapping set = { 0 };

	if (mapping->code.kind != CODE_ELF)
		return 0;
	int r = add_build_id(builder, ids.gnu, &set.build_id);
	if (r == 0)
		r = add_build_id(builder, ids.go, &set.go_build_id);
	if (r == 0)
		r = add_build_id(builder, ids.htlhash, &set.htlhash);
	if (r == 0)
		builder_set_build_ids(builder, mapping->mapping, &set);
	return r;
}

/* Names the locations that have no name yet; those whose names have no room are left without. With
 * `nr_left` those that are worth waiting for are left as well, and counted. */
static int name_locations(struct symbolizer *symbolizer, struct window *window, size_t *nr_left)
{
	size_t nr_locations = builder_peek(window->builder)->nr_locations;
	int r = 0;

	for (uint32_t location = 1; location < nr_locations && r == 0; location++) {
		const struct profile_location *where =
			&builder_peek(window->builder)->locations[location];

		heartbeat_beat();
		if (where->nr_lines > 0)
			continue;
		if (nr_left && is_worth_waiting_for(symbolizer, window, where)) {
			++*nr_left;
			continue;
		}
		r = name_location(symbolizer, window, location);
		if (r == -ENOSPC)
			r = 0;
	}
	return r;
}

/* Makes room for the one name that says that there was none. */
static int leave_out(struct symbolizer *symbolizer, struct window *window, uint32_t location)
{
	builder_set_room(window->builder, NO_ROOM_BYTES);
	int r = set_name(window, location, SYMBOLIZER_NO_ROOM);
	builder_set_room(window->builder, 0);
	return counted(&symbolizer->nr_unnamed, r);
}

/* Sets a shorter name for a location that has none, or SYMBOLIZER_NO_ROOM. */
static int name_shortly(struct symbolizer *symbolizer, struct window *window, uint32_t location)
{
	const struct profile_location *where = &builder_peek(window->builder)->locations[location];
	enum code_kind code = window_code_of(window, where->mapping).kind;
	bool is_of_process = code == CODE_JIT || code == CODE_RUNTIME;
	int r;

	if (where->nr_lines != 0)
		return 0;
	if (where->kind == FRAME_STOP)
		r = set_name(window, location, stop_names[where->address]);
	else
		r = counted(
			&symbolizer->nr_unnamed,
			set_fallback_name(window, location, is_of_process ? 0 : where->address));
	return r == -ENOSPC ? leave_out(symbolizer, window, location) : r;
}

/* Names all locations that have no name yet, or, with `is_partly`, those that cannot wait. */
static int name_left_over(struct symbolizer *symbolizer, struct window *window, bool is_partly)
{
	size_t nr_locations = builder_peek(window->builder)->nr_locations;
	int r = 0;

	for (uint32_t location = 1; location < nr_locations && r == 0; location++) {
		const struct profile_location *where =
			&builder_peek(window->builder)->locations[location];

		if (!is_partly || !can_wait(window, where))
			r = name_shortly(symbolizer, window, location);
	}
	return r;
}

static void refresh_jits(struct symbolizer *symbolizer, uint64_t until_ns)
{
	uint64_t now_ns = clock_mono_ns();

	jit_cache_refresh(symbolizer->jits, now_ns,
			  earlier(get_wait_end_ns(symbolizer, until_ns), now_ns + JIT_WAIT_NS));
}

/* Names are read soon after their frames occur, so only the last ones may still be missing. */
static void wait_for_runtimes(struct symbolizer *symbolizer, uint64_t until_ns)
{
	uint64_t end_ns = earlier(get_wait_end_ns(symbolizer, until_ns),
				  clock_mono_ns() + RUNTIME_WAIT_NS);

	if (symbolizer->runtimes)
		runtimes_wait(symbolizer->runtimes, end_ns);
}

int symbolizer_name_window_partly(struct symbolizer *symbolizer, struct window *window,
				  uint64_t until_ns, size_t *ret_nr_left)
{
	size_t nr_left = 0;

	refresh_jits(symbolizer, until_ns);
	wait_for_runtimes(symbolizer, until_ns);
	await_names(symbolizer, window, until_ns, true);
	builder_set_room(window->builder, WINDOW_MAX_NAME_BYTES);
	int r = name_locations(symbolizer, window, &nr_left);
	builder_set_room(window->builder, WINDOW_MAX_FALLBACK_BYTES);
	if (r == 0)
		r = name_left_over(symbolizer, window, true);
	if (r == 0)
		*ret_nr_left = nr_left;
	return r;
}

int symbolizer_name_window_rest(struct symbolizer *symbolizer, struct window *window)
{
	builder_set_room(window->builder, WINDOW_MAX_NAME_BYTES);
	int r = name_locations(symbolizer, window, NULL);
	builder_set_room(window->builder, WINDOW_MAX_FALLBACK_BYTES);
	for (size_t i = 0; i < window->nr_mappings && r == 0; i++)
		r = set_build_ids(symbolizer, window, &window->mappings[i]);
	if (r == 0)
		r = name_left_over(symbolizer, window, false);
	if (r == 0)
		r = place_window(symbolizer->elfs, window);
	return r;
}

int symbolizer_name_window(struct symbolizer *symbolizer, struct window *window, uint64_t until_ns)
{
	refresh_jits(symbolizer, until_ns);
	wait_for_runtimes(symbolizer, until_ns);
	await_names(symbolizer, window, until_ns, false);
	return symbolizer_name_window_rest(symbolizer, window);
}

int symbolizer_load_kernel(int proc_fd, struct kernel_symbols **ret_kernel)
{
	int error = 0;
	int r = kernel_symbols_new(proc_fd, clock_mono_ns(), &error, ret_kernel);

	if (r < 0)
		return r;
	if (error == -EPERM && !(capabilities_effective() & CAPABILITY(SYSLOG)))
		log_warn("CAP_SYSLOG is missing: kernel functions have no names; in a pod, add "
			 "SYSLOG to securityContext.capabilities.add");
	else if (error < 0)
		log_warn_errno(error, "cannot read /proc/kallsyms, so kernel functions have no "
				      "names; see kernel.kptr_restrict");
	return 0;
}
