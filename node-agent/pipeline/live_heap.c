/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/live_heap.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

#define MAX_ROWS (LIVE_HEAP_MAX_BYTES / sizeof(struct live_row))
#define MAX_SITES (LIVE_HEAP_MAX_BYTES / sizeof(struct live_site))
#define NONE UINT32_MAX

static size_t bytes_of(const struct sample_event *event)
{
	return offsetof(struct sample_event, frames) +
	       ((size_t)event->nr_kernel + event->nr_user) * sizeof(event->frames[0]);
}

void live_heap_done(struct live_heap *heap)
{
	for (size_t i = 0; i < heap->nr_sites; i++)
		free(heap->sites[i].event);
	free(heap->rows);
	free(heap->sites);
	free(heap->processes);
	htable_done(&heap->row_index);
	htable_done(&heap->site_index);
	htable_done(&heap->process_index);
}

static void account(struct live_heap *heap, uint32_t process, size_t nr_bytes)
{
	heap->nr_memory_bytes += nr_bytes;
	heap->processes[process].nr_memory_bytes += nr_bytes;
}

static void settle(struct live_heap *heap, uint32_t process, size_t nr_bytes)
{
	heap->nr_memory_bytes -= nr_bytes;
	heap->processes[process].nr_memory_bytes -= nr_bytes;
}

static bool has_room(const struct live_heap *heap, uint32_t process, size_t nr_bytes)
{
	return heap->nr_memory_bytes + nr_bytes <= LIVE_HEAP_MAX_BYTES &&
	       heap->processes[process].nr_memory_bytes + nr_bytes <= LIVE_HEAP_MAX_PROCESS_BYTES;
}

/* Rows. */

static uint32_t hash_of_row(uint32_t process, uint64_t address)
{
	return hash_u64(address ^ (uint64_t)process << 48);
}

static uint32_t find_row(const struct live_heap *heap, uint32_t process, uint64_t address)
{
	struct htable_iter it = htable_lookup(&heap->row_index, hash_of_row(process, address));

	for (uint32_t row; htable_next(&it, &row);)
		if (heap->rows[row].address == address &&
		    heap->sites[heap->rows[row].site].process == process)
			return row;
	return NONE;
}

static int new_row(struct live_heap *heap, uint32_t *ret_row)
{
	if (heap->free_rows == 0) {
		int r = array_grow(heap->rows, heap->cap_rows, heap->nr_rows + 1, MAX_ROWS);

		if (r < 0)
			return r;
		heap->rows[heap->nr_rows] = (struct live_row){ 0 };
		heap->free_rows = (uint32_t)++heap->nr_rows;
	}
	*ret_row = heap->free_rows - 1;
	return 0;
}

/* The free row becomes the first one of the site. */
static int link_row(struct live_heap *heap, uint32_t number, uint32_t site_number)
{
	struct live_row *row = &heap->rows[number];
	struct live_site *site = &heap->sites[site_number];

	int r = htable_add(&heap->row_index, hash_of_row(site->process, row->address), number);
	if (r < 0)
		return r;
	heap->free_rows = row->next;
	row->site = site_number;
	row->previous = 0;
	row->next = site->rows;
	if (site->rows)
		heap->rows[site->rows - 1].previous = number + 1;
	site->rows = number + 1;
	site->nr_bytes += row->nr_bytes;
	site->nr_objects += row->nr_objects;
	heap->nr_live++;
	account(heap, site->process, sizeof(*row));
	return 0;
}

static void unlink_row(struct live_heap *heap, uint32_t number)
{
	struct live_row *row = &heap->rows[number];
	struct live_site *site = &heap->sites[row->site];

	htable_remove(&heap->row_index, hash_of_row(site->process, row->address), number);
	if (row->previous)
		heap->rows[row->previous - 1].next = row->next;
	else
		site->rows = row->next;
	if (row->next)
		heap->rows[row->next - 1].previous = row->previous;
	site->nr_bytes -= row->nr_bytes;
	site->nr_objects -= row->nr_objects;
	heap->nr_live--;
	settle(heap, site->process, sizeof(*row));
	row->next = heap->free_rows;
	heap->free_rows = number + 1;
}

/* Sites. */

static uint32_t hash_of_site(uint32_t process, const struct sample_event *event)
{
	size_t nr = (size_t)event->nr_kernel + event->nr_user;

	return hash_bytes(event->frames, nr * sizeof(event->frames[0])) ^ hash_u64(process);
}

static bool is_of_site(const struct live_site *site, uint32_t process,
		       const struct sample_event *event)
{
	const struct sample_event *known = site->event;

	return site->process == process && known->nr_kernel == event->nr_kernel &&
	       known->nr_user == event->nr_user && known->unwind_result == event->unwind_result &&
	       known->cgroup_id == event->cgroup_id &&
	       memcmp(known->thread_comm, event->thread_comm, TASK_COMM_LEN) == 0 &&
	       memcmp(known->frames, event->frames,
		      bytes_of(event) - offsetof(struct sample_event, frames)) == 0;
}

static size_t site_bytes(const struct sample_event *event)
{
	return sizeof(struct live_site) + bytes_of(event);
}

static int new_site(struct live_heap *heap, uint32_t *ret_site)
{
	if (heap->free_sites == 0) {
		int r = array_grow(heap->sites, heap->cap_sites, heap->nr_sites + 1, MAX_SITES);

		if (r < 0)
			return r;
		heap->sites[heap->nr_sites] = (struct live_site){ 0 };
		heap->free_sites = (uint32_t)++heap->nr_sites;
	}
	*ret_site = heap->free_sites - 1;
	return 0;
}

static void link_site(struct live_heap *heap, uint32_t number, struct live_site site)
{
	struct live_process *process = &heap->processes[site.process];

	heap->free_sites = heap->sites[number].next;
	site.next = process->sites;
	if (process->sites)
		heap->sites[process->sites - 1].previous = number + 1;
	process->sites = number + 1;
	heap->sites[number] = site;
	account(heap, site.process, site_bytes(site.event));
}

static int add_site(struct live_heap *heap, uint32_t process, const struct sample_event *event,
		    uint32_t hash, uint32_t *ret_site)
{
	size_t bytes = bytes_of(event);
	_cleanup_free_ struct sample_event *copied = NULL;

	if (!has_room(heap, process, site_bytes(event) + sizeof(struct live_row)))
		return -ENOSPC;
	copied = malloc(bytes);
	if (!copied)
		return -ENOMEM;
	memcpy(copied, event, bytes);
	copied->tid = 0;
	int r = new_site(heap, ret_site);
	if (r == 0)
		r = htable_add(&heap->site_index, hash, *ret_site);
	if (r < 0)
		return r;
	link_site(
		heap, *ret_site,
		(struct live_site){ .event = take_ptr(copied), .hash = hash, .process = process });
	return 0;
}

static int get_site(struct live_heap *heap, uint32_t process, const struct sample_event *event,
		    uint32_t *ret_site)
{
	uint32_t hash = hash_of_site(process, event);
	struct htable_iter it = htable_lookup(&heap->site_index, hash);

	for (uint32_t site; htable_next(&it, &site);) {
		if (!is_of_site(&heap->sites[site], process, event))
			continue;
		*ret_site = site;
		return has_room(heap, process, sizeof(struct live_row)) ? 0 : -ENOSPC;
	}
	return add_site(heap, process, event, hash, ret_site);
}

static void remove_site(struct live_heap *heap, uint32_t number)
{
	struct live_site *site = &heap->sites[number];

	htable_remove(&heap->site_index, site->hash, number);
	if (site->previous)
		heap->sites[site->previous - 1].next = site->next;
	else
		heap->processes[site->process].sites = site->next;
	if (site->next)
		heap->sites[site->next - 1].previous = site->previous;
	settle(heap, site->process, site_bytes(site->event));
	free(site->event);
	*site = (struct live_site){ .next = heap->free_sites };
	heap->free_sites = number + 1;
}

/* Processes. */

static uint32_t find_process(const struct live_heap *heap, uint32_t pid)
{
	struct htable_iter it = htable_lookup(&heap->process_index, hash_u64(pid));

	for (uint32_t process; htable_next(&it, &process);)
		if (heap->processes[process].pid == pid)
			return process;
	return NONE;
}

static int add_process(struct live_heap *heap, const struct sample_event *event,
		       uint32_t *ret_process)
{
	uint32_t number;

	if (heap->free_processes == 0) {
		int r = array_grow(heap->processes, heap->cap_processes, heap->nr_processes + 1,
				   MAX_SITES);

		if (r < 0)
			return r;
		heap->processes[heap->nr_processes] = (struct live_process){ 0 };
		heap->free_processes = (uint32_t)++heap->nr_processes;
	}
	number = heap->free_processes - 1;
	int r = htable_add(&heap->process_index, hash_u64(event->pid), number);
	if (r < 0)
		return r;
	heap->free_processes = heap->processes[number].next;
	heap->processes[number] = (struct live_process){ .pid = event->pid,
							 .start_ns = event->start_ns };
	*ret_process = number;
	return 0;
}

static void remove_process(struct live_heap *heap, uint32_t number)
{
	struct live_process *process = &heap->processes[number];

	while (process->sites) {
		uint32_t site = process->sites - 1;

		while (heap->sites[site].rows)
			unlink_row(heap, heap->sites[site].rows - 1);
		remove_site(heap, site);
	}
	htable_remove(&heap->process_index, hash_u64(process->pid), number);
	*process = (struct live_process){ .next = heap->free_processes };
	heap->free_processes = number + 1;
}

/* Another process that had the pid is gone. */
static int get_process(struct live_heap *heap, const struct sample_event *event,
		       uint32_t *ret_process)
{
	uint32_t process = find_process(heap, event->pid);

	if (process != NONE && heap->processes[process].start_ns == event->start_ns) {
		*ret_process = process;
		return 0;
	}
	if (process != NONE)
		remove_process(heap, process);
	return add_process(heap, event, ret_process);
}

static void remove_empty(struct live_heap *heap, uint32_t process)
{
	if (heap->processes[process].sites == 0)
		remove_process(heap, process);
}

static void remove_row(struct live_heap *heap, uint32_t row)
{
	uint32_t site = heap->rows[row].site;
	uint32_t process = heap->sites[site].process;

	unlink_row(heap, row);
	if (heap->sites[site].rows == 0)
		remove_site(heap, site);
	remove_empty(heap, process);
}

/* All of it. */

void live_heap_remove(struct live_heap *heap, const struct sample_event *event)
{
	uint32_t process = find_process(heap, event->pid), row;

	if (process == NONE || heap->processes[process].start_ns != event->start_ns)
		return;
	row = find_row(heap, process, event->address);
	if (row != NONE)
		remove_row(heap, row);
}

static int add_row(struct live_heap *heap, uint32_t site, const struct sample_event *event,
		   uint64_t nr_objects)
{
	uint32_t row;

	int r = new_row(heap, &row);
	if (r < 0)
		return r;
	heap->rows[row].address = event->address;
	heap->rows[row].nr_bytes = event->grown_bytes;
	heap->rows[row].nr_objects = nr_objects;
	return link_row(heap, row, site);
}

static int add_to_process(struct live_heap *heap, uint32_t process,
			  const struct sample_event *event, uint64_t nr_objects)
{
	uint32_t site;

	int r = get_site(heap, process, event, &site);
	if (r < 0)
		return r;
	r = add_row(heap, site, event, nr_objects);
	if (r < 0 && heap->sites[site].rows == 0)
		remove_site(heap, site);
	return r;
}

int live_heap_add(struct live_heap *heap, const struct sample_event *event, uint64_t nr_objects)
{
	uint32_t process;

	live_heap_remove(heap, event);
	int r = get_process(heap, event, &process);
	if (r < 0)
		return r;
	r = add_to_process(heap, process, event, nr_objects);
	if (r < 0)
		remove_empty(heap, process);
	return r;
}

static void visit_process(const struct live_heap *heap, const struct live_process *process,
			  void (*handle)(const struct live_site *site, void *data), void *data)
{
	for (uint32_t site = process->sites; site; site = heap->sites[site - 1].next)
		handle(&heap->sites[site - 1], data);
}

void live_heap_visit(const struct live_heap *heap, uint32_t pid,
		     void (*handle)(const struct live_site *site, void *data), void *data)
{
	uint32_t process = pid != 0 ? find_process(heap, pid) : NONE;

	if (process != NONE)
		visit_process(heap, &heap->processes[process], handle, data);
	for (size_t i = 0; pid == 0 && i < heap->nr_processes; i++)
		visit_process(heap, &heap->processes[i], handle, data);
}

void live_heap_forget(struct live_heap *heap, uint32_t pid)
{
	uint32_t process = find_process(heap, pid);

	if (process != NONE)
		remove_process(heap, process);
}

void live_heap_sweep(struct live_heap *heap,
		     bool (*is_gone)(uint32_t pid, uint64_t start_ns, void *data), void *data)
{
	for (uint32_t i = 0; i < heap->nr_processes; i++) {
		const struct live_process *process = &heap->processes[i];

		if (process->sites && is_gone(process->pid, process->start_ns, data))
			remove_process(heap, i);
	}
}
