/* SPDX-License-Identifier: Apache-2.0 */
/* The BPF unwinder compiled for this machine, as it is: the headers in bpf/host/ stand before
 * libbpf's, and what is left of maps and helpers are the functions below, which come down to a
 * few loads. (bpf/ is GPL-2.0 or BSD-2-Clause; here it is used under the latter.)
 *
 * Its helpers have no argument that says for whom they are called: `current` does. */
#include "unwind/local_unwinder.h"

#include "unwind/tables/unwind_memory_local.h"

#include <stdlib.h>
#include <string.h>

#include "bpf/kernel.bpf.h"

/* The maximum size of most stacks. Memory that is further away is no part of this one. */
#define MAX_DISTANCE (UINT64_C(8) << 20)

static __always_inline void *find_scratch(void);
static __always_inline void *find_known_rule(const __u32 *place);
static __always_inline void *find_chunk(const __u32 *chunk);
static __always_inline void *find_block(const char *chunk, const __u32 *block);
static __always_inline void *find_slot(const __u32 *slot);
static void *find_process(const __u32 *pid);
static long set_process(const __u32 *pid, const __u64 *binding);
static __always_inline long read_copy(void *to, __u32 bytes, uint64_t address);

/* The type of a map says which map it is. */
#undef bpf_map_lookup_elem
#define bpf_map_lookup_elem(map, key)                                                              \
	_Generic((map),                                                                            \
		 typeof(scratch_of_cpu) * : find_scratch(),                                        \
		 typeof(known_rules) * : find_known_rule(key),                                     \
		 typeof(arena) * : find_chunk(key),                                                \
		 void * : find_block((const char *)(map), key),                                    \
		 typeof(tables) * : find_slot(key),                                                \
		 typeof(processes) * : find_process(key),                                          \
		 default : NULL)
#undef bpf_map_update_elem
#define bpf_map_update_elem(map, key, value, flags)                                                \
	_Generic((map), typeof(processes) * : set_process(key, value))
#undef bpf_probe_read_user
#define bpf_probe_read_user(to, bytes, from) read_copy(to, bytes, (uintptr_t)(from))

/* These are static here. */
static int search_ranges(void);
static int search_rows(__u32 table, __u32 rows_offset, __u32 pc);
static int is_entered_by_return(void);
static int is_between_functions(int is_lost);
static int step(void);
static int unwind_frame(void);
#define find_range local_find_range
#define find_rule local_find_rule
#define find_rule_of_range local_find_rule_of_range
#define find_range_of_task local_find_range_of_task
#define find_mappings local_find_mappings
#define check_range local_check_range
#define unwind_native local_unwind_native
#define python_begin local_python_begin
#define python_splice local_python_splice
#define python_cut local_python_cut
#define python_end local_python_end
#define hotspot_step local_hotspot_step
#define v8_step local_v8_step

/* NOLINTNEXTLINE(bugprone-suspicious-include): see above */
#include "bpf/unwind_lookup.bpf.c"
/* NOLINTNEXTLINE(bugprone-suspicious-include): see above */
#include "bpf/unwind_native.bpf.c"

struct local_unwinder {
	struct unwind_memory *memory; /* borrowed */
	struct unwind_view view; /* owned */
	uint64_t binding; /* of the process that was looked up last */
	struct scratch scratch;
	struct known_rule rules[NR_KNOWN_RULES];

	/* Of the stack being unwound. */
	const struct stack_copy *copy;
	bool has_left_copy; /* a word that was needed is above it */
};

static _Thread_local struct local_unwinder *current;

static __always_inline void *find_scratch(void)
{
	return &current->scratch;
}

static __always_inline void *find_known_rule(const __u32 *place)
{
	return *place < NR_KNOWN_RULES ? &current->rules[*place] : NULL;
}

static __always_inline void *find_chunk(const __u32 *chunk)
{
	const struct unwind_view *view = &current->view;
	size_t offset = (size_t)*chunk * ARENA_CHUNK_BYTES;

	return offset < view->max_bytes ? view->arena + offset : NULL;
}

static __always_inline void *find_block(const char *chunk, const __u32 *block)
{
	return (char *)chunk + (size_t)*block * ARENA_BLOCK_BYTES;
}

static __always_inline void *find_slot(const __u32 *slot)
{
	return *slot < MAX_TABLE_SLOTS ? &current->memory->tables[*slot] : NULL;
}

/* Only the copy is there: nothing tells which mappings the process has. */
int find_range_of_task(void)
{
	struct unwind_state *state = &current->scratch.unwind;
	bool has_table = state->mapping_table != 0;

	state->range_start = code_address(state);
	state->range_end = state->range_start + 1;
	state->range = (struct mapping_range){ .is_hole = has_table };
	state->origin = has_table ? RANGE_OF_TASK : RANGE_UNKNOWN;
	return GOES_ON;
}

int find_mappings(void)
{
	return GOES_ON;
}

/* The frames of interpreters are on their heaps, of which there is no copy. */
int python_begin(__u32 unit, __u32 offset)
{
	(void)unit, (void)offset;
	current->scratch.unwind.python = PYTHON_OVER;
	return 0;
}

int python_splice(__u64 sp, __u64 offset)
{
	(void)sp, (void)offset;
	return 0;
}

int python_cut(void)
{
	return 0;
}

int python_end(int is_complete)
{
	(void)is_complete;
	return 0;
}

int hotspot_step(void)
{
	return RUNTIME_ELSEWHERE;
}

int v8_step(void)
{
	return RUNTIME_ELSEWHERE;
}

int check_range(void)
{
	return GOES_ON;
}

static void *find_process(const __u32 *pid)
{
	struct local_unwinder *unwinder = current;
	int r = unwind_memory_find_binding(unwinder->memory, *pid, &unwinder->binding);

	return r == 0 ? &unwinder->binding : NULL;
}

static long set_process(const __u32 *pid, const __u64 *binding)
{
	return unwind_memory_set_binding(current->memory, *pid, *binding);
}

/* Reads nothing of the living process: it may have another stack by now, and a page that only
 * the process can provide (userfaultfd, FUSE) would block for as long as it likes. */
static long leave_copy(void *to, __u32 bytes, uint64_t offset)
{
	memset(to, 0, bytes);
	if (offset <= current->copy->len + MAX_DISTANCE)
		current->has_left_copy = true;
	return -EFAULT;
}

static __always_inline long read_copy(void *to, __u32 bytes, uint64_t address)
{
	const struct stack_copy *copy = current->copy;
	uint64_t offset = address - copy->address;

	if (offset > copy->len || bytes > copy->len - offset)
		return leave_copy(to, bytes, offset);
	memcpy(to, copy->bytes + offset, bytes);
	return 0;
}

/* Returns why a stack ended that could not be read. If the copy is of the whole stack, a frame
 * pointer that leads out of it was none; the kernel side finds that out by reading there. */
static enum unwind_result result_of_unreadable(const struct local_unwinder *unwinder)
{
	if (unwinder->copy->is_truncated && unwinder->has_left_copy)
		return UNWIND_TRUNCATED;
	if (unwinder->scratch.unwind.rule.kind == CFA_NONE)
		return UNWIND_BAD_FRAME_POINTER;
	return UNWIND_UNREADABLE_STACK;
}

static uint64_t chain_address(const struct stack_copy *copy, size_t i)
{
	uint64_t address;

	memcpy(&address, copy->chain + i * sizeof(address), sizeof(address));
	return address;
}

/* The kernel followed the frame pointers when it made the copy. Follows them through the copy,
 * up to the one that leads out of it, and returns the index of the address that is read there; 0
 * if the kernel went another way. */
static size_t find_in_chain(const struct local_unwinder *unwinder)
{
	const struct stack_copy *copy = unwinder->copy;
	uint64_t fp = copy->regs[CFI_FP];
	uint64_t frame[2];

	if (copy->nr_chain == 0 || chain_address(copy, 0) != copy->ip)
		return 0;
	for (size_t i = 1; i < copy->nr_chain; i++) {
		if (fp == unwinder->scratch.unwind.regs[CFI_FP])
			return i;
		if (read_copy(frame, sizeof(frame), fp) < 0 ||
		    return_address_of(frame[1]) != chain_address(copy, i))
			return 0;
		fp = frame[0];
	}
	return 0;
}

/* Returns whether a rule is that of Go code that has its frame: there the frame pointer is
 * always that of the frame, and no other code has such rules (gopclntab_frame.h). */
static bool has_go_frame(const struct cfi_rule *rule)
{
	if (rule->kind != CFA_REGISTER || rule->reg != CFI_SP ||
	    rule->saved[0] != rule->return_address - 1)
		return false;
	return CFI_IS_ARM64 ? rule->flags & CFI_SAVED_BELOW_SP
			    : rule->offset >= 16 && rule->saved[1] == CFI_LOST;
}

/* Goes on behind a change of stacks of Go's runtime, where the copy has nothing: the code of
 * goroutines has frame pointers. */
static int follow_chain(struct local_unwinder *unwinder, size_t i)
{
	struct unwind_state *state = &unwinder->scratch.unwind;

	do {
		int result = return_to(state, chain_address(unwinder->copy, i), 0, 0);

		if (result == GOES_ON && !push_frame(&unwinder->scratch))
			return UNWIND_TOO_DEEP;
		if (result == GOES_ON)
			result = find_rule();
		if (result != GOES_ON)
			return result;
		if (state->rule.kind == CFA_END)
			return UNWIND_COMPLETE;
		i++;
	} while (i < unwinder->copy->nr_chain && has_go_frame(&state->rule));
	return UNWIND_UNREADABLE_STACK;
}

static int unwind_copy(struct local_unwinder *unwinder)
{
	int result = unwind_native();
	size_t next = 0;

	if (result != UNWIND_UNREADABLE_STACK)
		return result;
	if (unwinder->scratch.unwind.rule.kind == CFA_STACK_SWITCH)
		next = find_in_chain(unwinder);
	return next > 0 ? follow_chain(unwinder, next) : (int)result_of_unreadable(unwinder);
}

int local_unwinder_new(struct unwind_memory *memory, struct local_unwinder **ret_unwinder)
{
	_cleanup_free_ struct local_unwinder *unwinder = calloc(1, sizeof(*unwinder));

	if (!unwinder)
		return -ENOMEM;
	unwinder->memory = memory;
	int r = unwind_memory_open_view(memory, &unwinder->view);
	if (r == 0)
		*ret_unwinder = take_ptr(unwinder);
	return r;
}

void local_unwinder_free(struct local_unwinder *unwinder)
{
	if (!unwinder)
		return;
	unwind_memory_close_view(unwinder->memory, &unwinder->view);
	free(unwinder);
}

static void begin_stack(struct local_unwinder *unwinder, const struct stack_copy *copy,
			const struct sample_event *event)
{
	struct scratch *scratch = &unwinder->scratch;

	unwinder->copy = copy;
	unwinder->has_left_copy = false;
	memcpy(scratch->unwind.regs, copy->regs, sizeof(copy->regs));
	scratch->unwind.ip = copy->ip;
	scratch->unwind.missing = copy->missing;
	scratch->unwind.pid = event->pid;
	scratch->unwind.is_exiting = false;
	scratch->event.nr_kernel = event->nr_kernel;
	scratch->event.nr_user = 0;
}

bool local_unwinder_unwind(struct local_unwinder *unwinder, const struct stack_copy *copy,
			   struct sample_event *event)
{
	const struct sample_event *found = &unwinder->scratch.event;

	begin_stack(unwinder, copy, event);
	current = unwinder;
	pthread_mutex_lock(unwinder->view.unwinding);
	int result = unwind_copy(unwinder);
	pthread_mutex_unlock(unwinder->view.unwinding);
	event->nr_user = found->nr_user;
	memcpy(event->frames + event->nr_kernel, found->frames + event->nr_kernel,
	       found->nr_user * sizeof(*event->frames));
	event->unwind_result = (uint8_t)result;
	return unwinder->scratch.unwind.asks;
}

/* BPF programs follow processes by themselves. */
static struct bound_processes *bound_here(const struct local_unwinder *unwinder)
{
	return &((struct local_memory *)unwinder->memory)->processes;
}

/* Gives a child the binding of its parent, whose code it has until it maps something. Without
 * memory, the binding is asked for when the child is sampled. */
static void copy_binding(struct bound_processes *bound, uint32_t parent_pid, uint32_t pid)
{
	const uint64_t *parents = bound_processes_find(bound, parent_pid);
	uint64_t binding = parents ? *parents : 0;

	if (MAPPING_BINDING_ID(binding) == 0 || bound_processes_set(bound, pid, binding) < 0)
		bound_processes_remove(bound, pid);
}

void local_unwinder_follow(struct local_unwinder *unwinder, const struct proc_event *event)
{
	struct bound_processes *bound = bound_here(unwinder);

	switch (event->kind) {
	case PROC_FORK:
		copy_binding(bound, event->parent_pid, event->pid);
		break;
	case PROC_EXEC:
		bound_processes_remove(bound, event->pid);
		break;
	case PROC_EXIT: /* of the first thread: others may go on */
	case PROC_THREAD:
	case PROC_MMAP:
	case PROC_KERNEL_CODE:
		break;
	}
}

void local_unwinder_lose_events(struct local_unwinder *unwinder)
{
	bound_processes_clear(bound_here(unwinder));
}
