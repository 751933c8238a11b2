/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/oracle/unwind/local_stack.h"

#include "base/clock.h"

#include <fcntl.h>
#include <string.h>

int local_stacks_init(struct local_stacks *stacks, size_t max_bytes)
{
	int r = unwind_memory_local_new(max_bytes, &stacks->memory);
	if (r < 0)
		return r;
	const struct unwind_tables_opts opts = { .memory = stacks->memory, .max_bytes = max_bytes };
	r = unwind_tables_start(&opts, &stacks->tables);
	return r < 0 ? r : local_unwinder_new(stacks->memory, &stacks->unwinder);
}

void local_stacks_done(struct local_stacks *stacks)
{
	local_unwinder_free(stacks->unwinder);
	unwind_tables_stop(stacks->tables);
	unwind_memory_free(stacks->memory);
}

int local_stacks_add_file(struct local_stacks *stacks, int fd, uint32_t slot)
{
	uint32_t own_slot;
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (copy < 0)
		return -errno;
	int r = table_slots_add(stacks->tables->slots, &copy, 0, &own_slot);
	return r == 0 && own_slot != slot ? -EBADMSG : r;
}

static void unwind_copy(struct local_stacks *stacks, const struct perf_copy *perf)
{
	struct stack_copy copy = {
		.ip = perf->registers[NR_DWARF_REGISTERS - 1],
		.address = perf->registers[CFI_SP],
		.bytes = perf->bytes,
		.len = perf->len,
		.is_truncated = perf->is_truncated,
	};

	memcpy(copy.regs, perf->registers, sizeof(copy.regs));
	(void)local_unwinder_unwind(stacks->unwinder, &copy, &stacks->event);
}

/* A process is bound when the unwinder has asked for it. */
static int bind(struct local_stacks *stacks, const struct perf_copy *copy,
		struct mapping_list *list)
{
	if (stacks->bound == list)
		return 0;
	if (stacks->bound)
		mapping_tables_drop(stacks->tables->mapping_tables, stacks->bound);
	else
		unwind_copy(stacks, copy);
	stacks->bound = list;
	return mapping_tables_bind(stacks->tables->mapping_tables, stacks->event.pid, list);
}

int local_stacks_unwind(struct local_stacks *stacks, uint32_t pid, struct mapping_list *list,
			const struct perf_copy *copy, struct bpf_stack *ret_stack)
{
	struct sample_event *event = &stacks->event;

	event->pid = pid;
	int r = bind(stacks, copy, list);
	if (r < 0)
		return r;
	uint64_t begin_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	unwind_copy(stacks, copy);
	stacks->unwind_ns += clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	stacks->nr_frames += event->nr_user;
	for (size_t i = 0; i < event->nr_user; i++)
		stacks->frames[i] = FRAME_ADDRESS(event->frames[i]);
	*ret_stack = (struct bpf_stack){
		.result = event->unwind_result,
		.nr_frames = event->nr_user,
		.frames = stacks->frames,
	};
	return 0;
}
