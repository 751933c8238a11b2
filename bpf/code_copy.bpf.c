/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copies code objects of young processes for the agent: shared/code_copy.h.
 *
 * Called by runtime_cpython.bpf.c for each frame of a young process. Maps: scratch_of_cpu,
 * code_copies, copied_code, samples (out).
 * Limits: MAX_COPIES of a sample, and half of the ring buffer. A code object that was not copied
 * makes the sample wake the agent, which then reads the process's memory. */
#include "bpf/maps.bpf.h"
#include "bpf/ring.bpf.h"
#include "bpf/runtime.bpf.h"
#include "bpf/user_memory.bpf.h"

#define MAX_COPIES 32

#define HASH_FACTOR 0x9e3779b97f4a7c15ULL

/* Stands for a code object of a process. */
static __always_inline __u64 identify(const struct sample_event *event, __u64 code, __u16 check)
{
	__u64 process = (event->start_ns ^ (__u64)event->pid << 32) * HASH_FACTOR;

	return ((process ^ code) * HASH_FACTOR ^ check) * HASH_FACTOR;
}

/* Returns the place of a code object's identity: whichever had the place last is known. */
static __always_inline __u64 *place_of(__u64 identity)
{
	__u32 place = identity >> (64 - COPIED_CODE_BITS);

	return bpf_map_lookup_elem(&copied_code, &place);
}

static __always_inline bool is_ring_half_full(void)
{
	return bpf_ringbuf_query(&samples, BPF_RB_AVAIL_DATA) >
	       bpf_ringbuf_query(&samples, BPF_RB_RING_SIZE) / 2;
}

/* Reads the object to which a field of the code object points. */
static __always_inline bool read_part(__u64 field, __u64 *ret_address, void *to, __u32 bytes)
{
	return read_word(field, ret_address) &&
	       bpf_probe_read_user(to, bytes, (const void *)*ret_address) == 0;
}

/* Reads the line table, all of it. */
static __always_inline bool read_lines(struct code_copy *copy, const struct cpython_layout *layout,
				       __u64 code)
{
	__u64 *address = &copy->addresses[CODE_COPY_LINES], bytes;

	if (!read_word(code + layout->lines, address) ||
	    !read_word(*address + layout->bytes_size, &bytes))
		return false;
	/* The verifier of old kernels must see this number itself compared. */
	bytes += CODE_COPY_BYTES_HEADER;
	barrier_var(bytes);
	if (bytes < CODE_COPY_BYTES_HEADER || bytes > CODE_COPY_LINES_BYTES)
		return false;
	copy->nr_line_bytes = bytes;
	return bpf_probe_read_user(copy->lines, bytes, (const void *)*address) == 0;
}

static __always_inline bool read_parts(struct code_copy *copy, const struct cpython_layout *layout,
				       __u64 code)
{
	copy->addresses[CODE_COPY_OBJECT] = code;
	return bpf_probe_read_user(copy->object, sizeof(copy->object), (const void *)code) == 0 &&
	       read_part(code + layout->filename, &copy->addresses[CODE_COPY_FILENAME],
			 copy->filename, sizeof(copy->filename)) &&
	       read_part(code + layout->name, &copy->addresses[CODE_COPY_NAME], copy->name,
			 sizeof(copy->name)) &&
	       read_lines(copy, layout, code);
}

/* Copies a code object, and sends the copy. */
static __always_inline bool send_copy(const struct cpython_layout *layout,
				      const struct sample_event *event, __u64 code, __u16 check)
{
	__u32 zero = 0;
	struct code_copy *copy = bpf_map_lookup_elem(&code_copies, &zero);
	__u64 bytes;

	if (!copy || layout->filename == 0 || is_ring_half_full() ||
	    !read_parts(copy, layout, code))
		return false;
	copy->start_ns = event->start_ns;
	copy->cgroup_id = event->cgroup_id;
	copy->pid = event->pid;
	copy->check = check;
	bytes = offsetof(struct code_copy, lines) + copy->nr_line_bytes;
	if (bytes > sizeof(*copy))
		return false;
	return output_record(copy, bytes, BPF_RB_NO_WAKEUP) == 0;
}

__noinline int python_copy_code(__u64 code, __u32 check)
{
	struct python_chain *chain = get_python_chain();
	struct scratch *scratch = get_scratch();
	__u64 identity, *known;

	if (!scratch || !chain)
		return 0;
	identity = identify(&scratch->event, code, check);
	known = place_of(identity);
	if (!known || *known == identity)
		return 0;
	if (scratch->unwind.nr_copies < MAX_COPIES &&
	    send_copy(&chain->layout, &scratch->event, code, check)) {
		scratch->unwind.nr_copies++;
		*known = identity;
	} else {
		scratch->unwind.asks = true;
	}
	return 0;
}
