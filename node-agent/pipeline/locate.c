/* SPDX-License-Identifier: Apache-2.0 */
/* A user address is looked up in the mappings of its process and becomes an offset in the mapped
 * file, so that all processes that map the file share the location:
 *
 *	0x7f12a4c28d90 in pid 4711  ─▶  7f12a4c00000-7f12a4d80000 offset 28000, libc.so.6
 *	                            ─▶  libc.so.6, offset 0x50d90
 *
 * Return addresses are first moved one byte back, into the call instruction: a call that never
 * returns may be a function's last one. A stack's first address stays: it is where the CPU was, or
 * where the process entered the kernel (the instruction that faulted, or the one behind its system
 * call). So do addresses at which a signal interrupted, and the first instruction of a function to
 * which a coroutine returns.
 *
 * Code without a file keeps no address, and neither does code in a memory file (memfd) that is no
 * ELF file. Exceptions are the vDSO and code that a JIT compiler lists. The latter has a mapping
 * for each process, since the addresses of two compilers have nothing to do with each other. */
#include "pipeline/locate.h"

#include "base/clock.h"
#include "base/hash.h"
#include "bpf/shared/frames.h"
#include "process/process_set.h"

#include <string.h>

#define VDSO_NAME "[vdso]"
#define UNKNOWN_NAME "[unknown]"
#define ANON_NAME "[anon]"
#define KERNEL_NAME "[kernel.kallsyms]"

/* Values of a file's cookie that are no id in the ELF cache: ids stay below them. */
#define COOKIE_NOT_ELF UINT32_MAX /* can never be opened as an ELF file */
#define COOKIE_TRIED (UINT32_C(1) << 31) /* with a hash of who tried it last, and when */

/* For opening files in a second. A file takes 50 us, but may take 50 ms where a container has a
 * hundred thousand mounts, and the reader must not be late. Files that were not opened are tried
 * again. */
#define OPEN_MAX_NS (300 * NSEC_PER_MSEC)

/* Stands for a process and a window. After a failure another process or window is worth another
 * try, but not each frame, because a try takes a handful of system calls. */
static uint32_t tried_cookie(const struct locator *locator, uint32_t pid)
{
	return COOKIE_TRIED | hash_u64(locator->window->start_ns + pid) >> 2;
}

/* The process is gone, but the file may have been opened in another process, for its slot. */
static int open_kept(struct locator *locator, const struct mapping *mapping)
{
	struct kept_files *kept = process_table_get_kept(locator->processes);
	int fd = kept_files_take_fd(kept, mapping->file);

	if (fd < 0)
		return -ESRCH;
	return elf_cache_open_file(locator->elfs, locator->owner, mapping->file->path, &fd,
				   &mapping->file->cookie);
}

static int open_elf(struct locator *locator, uint32_t pid, const struct mapping *mapping)
{
	uint64_t begin_ns = clock_mono_ns();

	int r = elf_cache_open(locator->elfs, locator->owner, pid, mapping, &mapping->file->cookie);
	if (r == -ESRCH)
		r = open_kept(locator, mapping);
	locator->window->open_ns += clock_mono_ns() - begin_ns;
	return r;
}

/* If a file's names were evicted, opens it to be read again, now or in a later window. It may get
 * another id. */
static uint32_t reopen_elf(struct locator *locator, uint32_t pid, const struct mapping *mapping)
{
	if (locator->window->open_ns < OPEN_MAX_NS) {
		int r = open_elf(locator, pid, mapping);
		(void)r; /* the cookie stays */
	}
	return mapping->file->cookie;
}

/* Returns the id of the ELF file behind a mapping, 0 if there is none. A file is opened
 * once, not once per process. */
static uint32_t elf_of(struct locator *locator, uint32_t pid, const struct mapping *mapping)
{
	struct mapped_file *file = mapping->file;

	if (file->cookie != 0 && file->cookie < COOKIE_TRIED)
		return file->cookie;
	uint32_t tried = tried_cookie(locator, pid);
	if (file->inode == 0 || file->cookie == COOKIE_NOT_ELF || file->cookie == tried)
		return 0;

	file->cookie = tried;
	if (locator->window->open_ns >= OPEN_MAX_NS)
		return 0;
	int r = open_elf(locator, pid, mapping);
	if (r == -EOPNOTSUPP)
		file->cookie = COOKIE_NOT_ELF;
	return r == 0 ? file->cookie : 0;
}

/* Returns the name of a mapping: the file's path, the kernel's name such as "[vdso]" or "[heap]",
 * or ANON_NAME for anonymous memory ("" or "//anon"). */
static const char *code_name(const struct mapped_file *file)
{
	return file->path[0] == '[' || file->inode != 0 ? file->path : ANON_NAME;
}

static int add_location(struct locator *locator, uint32_t mapping, uint64_t address,
			enum frame_kind kind, uint32_t *ret_location)
{
	const struct profile_location location = { .mapping = mapping,
						   .address = address,
						   .kind = kind };

	return builder_add_location(locator->window->builder, &location, ret_location);
}

static int locate_unknown(struct locator *locator, uint32_t *ret_location)
{
	uint32_t mapping;

	int r = window_add_mapping(locator->window, (struct window_code){ CODE_NAMELESS, 0 },
				   UNKNOWN_NAME, 0, &mapping);
	if (r < 0)
		return r;
	return add_location(locator, mapping, 0, FRAME_NATIVE, ret_location);
}

static bool is_vdso(const struct mapped_file *file)
{
	return strcmp(file->path, VDSO_NAME) == 0;
}

/* Returns whether a JIT compiler may have written the code in this memory. .NET, for example, puts
 * its code into a memfd so that it can map the code twice. */
static bool may_be_jit(const struct mapped_file *file)
{
	if (file->inode != 0)
		return strncmp(file->path, "/memfd:", strlen("/memfd:")) == 0;
	return file->path[0] != '[' || strncmp(file->path, "[anon", strlen("[anon")) == 0 ||
	       strcmp(file->path, "[heap]") == 0;
}

/* Finds the source of the names in a mapping. */
static struct window_code code_of(struct locator *locator, const struct process *process,
				  const struct sample_event *event, const struct mapping *mapping)
{
	uint32_t id = 0;

	if (may_be_jit(mapping->file))
		id = jit_cache_open(locator->jits, event->pid, process->program_ns,
				    event->cgroup_id, process->mappings, event->time_ns);
	if (id != 0)
		return (struct window_code){ CODE_JIT, id };
	id = is_vdso(mapping->file) ? elf_cache_vdso(locator->elfs)
				    : elf_of(locator, event->pid, mapping);
	return (struct window_code){ id != 0 ? CODE_ELF : CODE_NAMELESS, id };
}

/* Returns the window's mapping of the code. A file is reopened at most once per window. */
static int map_code(struct locator *locator, uint32_t pid, const struct mapping *mapping,
		    struct window_code code, uint32_t *ret_mapping)
{
	const char *name = code_name(mapping->file);

	if (code.kind != CODE_ELF)
		return window_add_mapping(locator->window, code, name, 0, ret_mapping);
	if (window_find_code(locator->window, code, ret_mapping))
		return 0;

	if (mapping->file->inode != 0 && elf_cache_wants_file(locator->elfs, code.id))
		code.id = reopen_elf(locator, pid, mapping);
	return window_add_mapping(locator->window, code, name,
				  elf_cache_size(locator->elfs, code.id), ret_mapping);
}

/* Returns the number that stands for an address in all processes that map the code. For code of JIT
 * compilers it is the address itself. */
static uint64_t place_in(const struct mapping *mapping, struct window_code code, uint64_t address)
{
	if (code.kind == CODE_JIT)
		return address;
	if (mapping->file->inode == 0 && !is_vdso(mapping->file))
		return 0;
	if (code.kind == CODE_NAMELESS && may_be_jit(mapping->file))
		return 0;
	return address - mapping->start + mapping->file_offset;
}

static uint64_t version_of(const struct process *process)
{
	return process->mappings ? process->mappings->version : 0;
}

/* Returns whether the location holds for the whole window. It does not if the file could not be
 * opened, because that is tried again. */
static bool is_lasting(const struct mapping *mapping, struct window_code code)
{
	return code.id != 0 || mapping->file->inode == 0;
}

static int search_user(struct locator *locator, struct process *process,
		       const struct sample_event *event, const struct window_place *place,
		       uint32_t *ret_location)
{
	uint64_t address = place->address;
	uint32_t mapping;

	const struct mapping *mapped = process_find_mapping(locator->processes, process, address,
							    event->time_ns);
	if (!mapped)
		return locate_unknown(locator, ret_location);

	struct window_code code = code_of(locator, process, event, mapped);
	int r = map_code(locator, event->pid, mapped, code, &mapping);
	if (r < 0)
		return r;
	r = add_location(locator, mapping, place_in(mapped, code, address), FRAME_NATIVE,
			 ret_location);
	if (r == 0 && is_lasting(mapped, code) && place->version == version_of(process))
		window_keep_location(locator->window, place, *ret_location);
	return r;
}

static int locate_user(struct locator *locator, struct process *process,
		       const struct sample_event *event, uint64_t address, uint32_t *ret_location)
{
	const struct window_place place = {
		.address = address,
		.version = version_of(process),
		.pid = event->pid,
	};

	if (window_find_location(locator->window, &place, ret_location))
		return 0;
	return search_user(locator, process, event, &place, ret_location);
}

static int locate_kernel(struct locator *locator, const struct sample_event *event,
			 uint32_t *locations)
{
	uint32_t mapping;

	if (event->nr_kernel == 0)
		return 0;
	int r = window_add_mapping(locator->window, (struct window_code){ CODE_KERNEL, 0 },
				   KERNEL_NAME, 0, &mapping);
	for (uint32_t i = 0; i < event->nr_kernel && r == 0; i++) {
		uint64_t address = event->frames[i] - (i > 0);

		r = add_location(locator, mapping, address, FRAME_KERNEL, &locations[i]);
	}
	return r;
}

/* Adds a location for the end of a truncated stack; its address is the reason. */
static int locate_stop(struct locator *locator, enum unwind_result result, uint32_t *locations,
		       size_t *nr)
{
	if (result == UNWIND_COMPLETE || result == UNWIND_KERNEL_THREAD ||
	    result == UNWIND_NO_STACK)
		return 0;
	int r = add_location(locator, 0, result, FRAME_STOP, &locations[*nr]);
	if (r == 0)
		(*nr)++;
	return r;
}

static bool is_interrupted(const struct sample_event *event, uint32_t i)
{
	return i < event->nr_user && event->frames[event->nr_kernel + i] & FRAME_INTERRUPTED;
}

uint64_t locate_code_address(const struct sample_event *event, uint32_t i)
{
	uint64_t frame = event->frames[event->nr_kernel + i];
	bool is_exact = i == 0 || frame & (FRAME_INTERRUPTED | FRAME_ENTERED) ||
			is_interrupted(event, i + 1);

	return FRAME_ADDRESS(frame) - !is_exact;
}

/* The texts that stand for a runtime in mappings, and for frames of it that have no names. */
static const struct {
	const char *name;
	enum frame_kind kind;
} runtime_code[RUNTIME_NR_KINDS] = {
	[RUNTIME_CPYTHON] = { "[python]", FRAME_CPYTHON },
	[RUNTIME_HOTSPOT] = { "[java]", FRAME_JVM },
	[RUNTIME_V8] = { "[javascript]", FRAME_V8JS },
};

/* Returns the number of a frame for runtimes_symbolize(). */
static uint64_t number_of(struct locator *locator, struct process *process,
			  const struct sample_event *event, const uint64_t *words)
{
	if (!locator->runtimes || !locator->runtimes->runtimes)
		return 0;
	if (locator->runtime_process == 0)
		locator->runtime_process = runtime_binder_process(locator->runtimes, process,
								  event->time_ns);
	return runtimes_frame(locator->runtimes->runtimes, locator->runtime_process, words,
			      event->time_ns);
}

static int locate_mark(struct locator *locator, uint64_t word, uint32_t *ret_location)
{
	uint64_t mark = RUNTIME_TAG_POSITION(word);

	if (mark >= RUNTIME_NR_MARKS)
		return locate_unknown(locator, ret_location);
	return add_location(locator, 0, UNWIND_NR_RESULTS + mark, FRAME_STOP, ret_location);
}

/* All processes' frames of a runtime are in one mapping, so that equal ones can be joined once they
 * are named. Until then the address is the frame's number. */
static int locate_runtime(struct locator *locator, struct process *process,
			  const struct sample_event *event, const uint64_t *words,
			  uint32_t *ret_location)
{
	enum runtime_kind kind = frame_names_kind(words[0]);
	uint32_t mapping;

	if (kind == RUNTIME_NONE)
		return locate_mark(locator, words[0], ret_location);
	int r = window_add_mapping(locator->window, (struct window_code){ CODE_RUNTIME, kind },
				   runtime_code[kind].name, 0, &mapping);
	if (r < 0)
		return r;
	return add_location(locator, mapping, number_of(locator, process, event, words),
			    runtime_code[kind].kind, ret_location);
}

/* Returns the number of words of the frame that begins with a word. A word that begins no frame
 * counts as one. */
static uint32_t words_at(const struct sample_event *event, uint32_t i)
{
	uint32_t nr = runtime_nr_words(event->frames[event->nr_kernel + i]);

	return nr > 0 && nr <= event->nr_user - i ? nr : 1;
}

static int locate_frame(struct locator *locator, struct process *process,
			const struct sample_event *event, uint32_t i, uint32_t *ret_location)
{
	uint64_t words[RUNTIME_MAX_WORDS] = { event->frames[event->nr_kernel + i] };
	uint32_t nr = words_at(event, i);

	if (RUNTIME_TAG_FRAME(words[0]) == RUNTIME_FRAME_ADDRESS)
		return locate_user(locator, process, event, locate_code_address(event, i),
				   ret_location);
	if (nr != runtime_nr_words(words[0]))
		return locate_unknown(locator, ret_location);
	for (uint32_t j = 1; j < nr; j++)
		words[j] = event->frames[event->nr_kernel + i + j];
	return locate_runtime(locator, process, event, words, ret_location);
}

/* Sets the number of locations, which is that of frames. */
static int locate_user_stack(struct locator *locator, const struct sample_event *event,
			     uint32_t *locations, size_t *ret_nr)
{
	size_t nr = 0;
	int r = 0;

	/* Threads of the kernel are no processes to know. */
	if (event->nr_user == 0)
		return 0;
	struct process *process = process_table_get(locator->processes, event->pid, event->start_ns,
						    event->time_ns);
	if (!process)
		return -ENOMEM;
	locator->process = process;
	for (uint32_t i = 0; i < event->nr_user && r == 0; i += words_at(event, i))
		r = locate_frame(locator, process, event, i, &locations[nr++]);
	*ret_nr = nr;
	return r;
}

/* At most LOCATE_MAX_FRAMES. */
static int locate_frames(struct locator *locator, const struct sample_event *event,
			 uint32_t *locations, size_t *ret_nr)
{
	size_t nr = 0;

	int r = locate_kernel(locator, event, locations);
	if (r == 0)
		r = locate_user_stack(locator, event, &locations[event->nr_kernel], &nr);
	*ret_nr = event->nr_kernel + nr;
	return r < 0 ? r : locate_stop(locator, event->unwind_result, locations, ret_nr);
}

int locate_stack(struct locator *locator, const struct sample_event *event, uint32_t *ret_stack)
{
	uint32_t locations[LOCATE_MAX_FRAMES];
	size_t nr;

	int r = locate_frames(locator, event, locations, &nr);
	return r < 0 ? r : builder_add_stack(locator->window->builder, locations, nr, ret_stack);
}

static int locate_text(struct locator *locator, const char *text, enum frame_kind kind,
		       uint32_t *ret_location)
{
	struct builder *builder = locator->window->builder;
	struct profile_function function = { 0 };
	struct profile_line line = { 0 };
	int r;

	if ((r = builder_add_string(builder, text, &function.name)) < 0 ||
	    (r = builder_add_function(builder, &function, &line.function)) < 0)
		return r;
	/* The addresses of other frames without code are small numbers. */
	const struct profile_location location = {
		.kind = kind, .address = UINT32_MAX + UINT64_C(1) + line.function
	};
	return builder_add_named_location(builder, &location, &line, 1, ret_location);
}

static int locate_waker(struct locator *locator, const struct locate_tip *tip, uint32_t *locations,
			size_t *ret_nr)
{
	struct locator of_waker = *locator;
	size_t nr;

	of_waker.owner = tip->waker->cgroup_id;
	int r = locate_frames(&of_waker, tip->waker, locations, &nr);
	if (r == 0)
		r = locate_text(locator, tip->waker_name, FRAME_STOP, &locations[nr]);
	*ret_nr = nr + 1;
	return r;
}

int locate_waiting_stack(struct locator *locator, const struct sample_event *event,
			 const struct locate_tip *tip, uint32_t *ret_stack)
{
	uint32_t locations[2 * LOCATE_MAX_FRAMES + 3];
	size_t nr = 0, nr_more = 0;
	int r = 0;

	if (tip->waker)
		r = locate_waker(locator, tip, locations, &nr);
	if (r == 0 && tip->cause)
		r = locate_text(locator, tip->cause, FRAME_STOP, &locations[nr++]);
	if (r == 0)
		r = locate_frames(locator, event, &locations[nr], &nr_more);
	nr += nr_more;
	if (r == 0 && tip->root)
		r = locate_text(locator, tip->root, FRAME_KERNEL, &locations[nr++]);
	if (r < 0)
		return r;
	return builder_add_stack(locator->window->builder, locations, nr, ret_stack);
}
