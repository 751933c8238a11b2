/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/bpf/trap_cost.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "bpf/shared/heap.h"
#include "capture/bpf/uprobe_multi.h"

#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#define NR_CALLS 400
#define NR_ROUNDS 5

#define TRIAL_ARGUMENTS ((HEAP_USUAL_ARGUMENTS & ((1 << HEAP_ARGUMENT_BITS) - 1)) | HEAP_IS_TRIAL)

/* It begins with an instruction that the kernel carries out itself, as most functions do. */
__attribute__((noinline)) static void called_function(uint64_t size)
{
	__asm__ volatile("nop" : : "r"(size));
}

struct place {
	uintptr_t address;
	uint64_t offset;
	bool is_found;
};

/* Only the first object is the program itself. */
static int find_offset(struct dl_phdr_info *info, size_t size, void *data)
{
	struct place *place = data;
	uint64_t address = place->address - info->dlpi_addr;

	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type != PT_LOAD || address < segment->p_vaddr ||
		    address - segment->p_vaddr >= segment->p_filesz)
			continue;
		place->offset = address - segment->p_vaddr + segment->p_offset;
		place->is_found = true;
	}
	return 1;
}

/* Returns the shortest time of a call, of several rounds. */
static uint64_t time_call(void)
{
	uint64_t shortest = UINT64_MAX;

	for (int round = 0; round < NR_ROUNDS; round++) {
		uint64_t begin = clock_mono_ns();

		for (int i = 0; i < NR_CALLS; i++)
			called_function(1);
		uint64_t length = (clock_mono_ns() - begin) / NR_CALLS;
		shortest = length < shortest ? length : shortest;
	}
	return shortest;
}

int trap_cost_measure(const struct bpf_program *program, volatile uint64_t *window,
		      uint64_t *ret_ns)
{
	_cleanup_close_ int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	_cleanup_close_ int link = -EBADF;
	struct place place = { .address = (uintptr_t)called_function };

	if (file < 0)
		return -errno;
	(void)dl_iterate_phdr(find_offset, &place);
	if (!place.is_found)
		return -ENOENT;
	const struct heap_probes probes = {
		.nr = 1,
		.of[0] = { .offset = place.offset,
			   .arguments = TRIAL_ARGUMENTS,
			   .kind = HEAP_PROBE_CALL },
	};
	int r = uprobe_multi_attach(program, (uint32_t)getpid(), file, &probes, HEAP_PROBE_CALL,
				    &link);
	if (r < 0)
		return r;
	window[HEAP_WINDOW_UNTIL_NS] = UINT64_MAX;
	*ret_ns = time_call();
	window[HEAP_WINDOW_UNTIL_NS] = 0;
	return 0;
}
