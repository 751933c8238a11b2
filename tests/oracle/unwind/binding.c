/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/oracle/unwind/binding.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fileio.h"
#include "base/strbuf.h"
#include "process/process_maps.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_MAX_BYTES ((size_t)512 << 20)
#define MAPS_MAX_BYTES ((size_t)16 << 20)
#define TABLES_WAIT_NS (30 * NSEC_PER_SEC)
#define MAX_EPOCHS 4096

int binding_init(struct binding *binding, const struct recording_maps *maps, uint32_t pid)
{
	memset(binding, 0, sizeof(*binding));
	binding->pid = pid;
	binding->proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (binding->proc_fd < 0)
		return -errno;

	int r = unwind_memory_bpf_new(maps->arena_fd, maps->tables_fd, maps->processes_fd,
				      &binding->memory);
	if (r < 0)
		return r;
	const struct unwind_tables_opts opts = {
		.memory = binding->memory,
		.max_bytes = ARENA_MAX_BYTES,
	};
	r = unwind_tables_start(&opts, &binding->tables);
	return r < 0 ? r : local_stacks_init(&binding->local, ARENA_MAX_BYTES);
}

void binding_done(struct binding *binding)
{
	for (size_t i = 0; i < binding->nr_libdws; i++)
		libdw_free(binding->libdws[i]);
	for (size_t i = 0; i < binding->nr_epochs; i++)
		mapping_list_unref(binding->epochs[i].list);
	mapping_list_unref(binding->bound);
	local_stacks_done(&binding->local);
	unwind_tables_stop(binding->tables);
	unwind_memory_free(binding->memory);
	mapped_files_done(&binding->files);
	if (binding->proc_fd > 0)
		close(binding->proc_fd);
	free(binding->epochs);
	free(binding->libdws);
}

static int load_list(struct binding *binding, struct mapping_list **ret_list)
{
	_cleanup_(mapping_list_unrefp) struct mapping_list *list = NULL;
	struct process_maps_losses losses = { 0 };

	int r = mapping_list_new(&binding->files, &list);
	if (r == 0)
		r = process_maps_load(binding->proc_fd, binding->pid, /* start_ns= */ 0, list,
				      &losses);
	if (r < 0)
		return r;
	if (list->nr_items == 0)
		return -ESRCH;
	*ret_list = take_ptr(list);
	return 0;
}

static int load_text(const struct binding *binding, struct strbuf *text)
{
	char path[32];

	snprintf(path, sizeof(path), "%u/maps", binding->pid);
	return file_read_at(binding->proc_fd, path, text);
}

/* The next mapping from *index on, of a file if so wanted. */
static const struct mapping *next_mapping(const struct mapping_list *list, size_t *index,
					  bool files_only)
{
	while (*index < list->nr_items) {
		const struct mapping *mapping = &list->items[(*index)++];

		if (!files_only || mapping->file->inode != 0)
			return mapping;
	}
	return NULL;
}

static bool are_same(const struct mapping_list *a, const struct mapping_list *b, bool files_only)
{
	size_t index_a = 0, index_b = 0;

	for (;;) {
		const struct mapping *x = next_mapping(a, &index_a, files_only);
		const struct mapping *y = next_mapping(b, &index_b, files_only);

		if (!x || !y)
			return x == y;
		if (x->start != y->start || x->end != y->end || x->file_offset != y->file_offset ||
		    x->file != y->file)
			return false;
	}
}

/* In both unwinders' tables. Takes `fd` over. */
static int add_file(struct binding *binding, int fd, uint32_t *ret_slot)
{
	_cleanup_close_ int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	int r = table_slots_add(binding->tables->slots, &fd, 0, ret_slot);
	return r < 0 ? r : local_stacks_add_file(&binding->local, copy, *ret_slot);
}

static bool wait_for_tables(struct binding *binding)
{
	uint64_t deadline_ns = clock_mono_ns() + TABLES_WAIT_NS;

	return table_slots_wait_idle(binding->tables->slots, deadline_ns) &&
	       table_slots_wait_idle(binding->local.tables->slots, deadline_ns);
}

static int take_slot(struct binding *binding, const struct mapping *mapping)
{
	char path[96];

	if (mapping->file->inode == 0) {
		if (strcmp(mapping->file->path, "[vdso]") == 0)
			mapping->file->slot = table_slots_vdso(binding->tables->slots);
		return 0;
	}
	snprintf(path, sizeof(path), "%u/map_files/%llx-%llx", binding->pid,
		 (unsigned long long)mapping->start, (unsigned long long)mapping->end);
	int fd = openat(binding->proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		mapping->file->slot = table_slots_without_cfi(binding->tables->slots);
		return 0;
	}
	return add_file(binding, fd, &mapping->file->slot);
}

static int bind(struct binding *binding, struct mapping_list *list)
{
	for (size_t i = 0; i < list->nr_items; i++) {
		int r = list->items[i].file->slot == 0 ? take_slot(binding, &list->items[i]) : 0;
		if (r < 0)
			return r;
	}
	if (!wait_for_tables(binding))
		return -EAGAIN;

	int r = mapping_tables_bind(binding->tables->mapping_tables, binding->pid, list);
	if (r < 0)
		return r;
	if (binding->bound)
		mapping_tables_drop(binding->tables->mapping_tables, binding->bound);
	mapping_list_unref(binding->bound);
	binding->bound = mapping_list_ref(list);
	return 0;
}

static int add_libdw(struct binding *binding, const struct strbuf *text,
		     const struct mapping_list *list)
{
	size_t nr = binding->nr_libdws;

	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
	int r = array_grow(binding->libdws, binding->cap_libdws, nr + 1, MAX_EPOCHS);
	if (r == 0)
		r = libdw_new(strbuf_str(text), text->len, list, &binding->libdws[nr]);
	if (r == 0)
		binding->nr_libdws++;
	return r;
}

static int add_epoch(struct binding *binding, struct mapping_list *list)
{
	int r = array_grow(binding->epochs, binding->cap_epochs, binding->nr_epochs + 1,
			   MAX_EPOCHS);
	if (r < 0)
		return r;
	uint64_t now_ns = clock_mono_ns();
	binding->epochs[binding->nr_epochs++] = (struct epoch){
		.from_ns = now_ns,
		.to_ns = now_ns,
		.list = mapping_list_ref(list),
		.libdw = binding->libdws[binding->nr_libdws - 1],
	};
	binding->in_epoch = true;
	return 0;
}

/* Nothing begins when the mappings change in the middle of it; then the next call tries again. */
static int begin_epoch(struct binding *binding, struct mapping_list *list)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MAPS_MAX_BYTES);
	_cleanup_(mapping_list_unrefp) struct mapping_list *again = NULL;
	bool same_files = binding->nr_libdws > 0 && are_same(binding->bound, list, true);

	int r = bind(binding, list);
	if (r < 0)
		return r;
	r = load_text(binding, &text);
	if (r < 0)
		return r;
	r = load_list(binding, &again);
	if (r < 0)
		return r;
	if (!are_same(list, again, false))
		return 0;
	r = same_files ? 0 : add_libdw(binding, &text, list);
	return r < 0 ? r : add_epoch(binding, list);
}

int binding_follow(struct binding *binding)
{
	_cleanup_(mapping_list_unrefp) struct mapping_list *list = NULL;
	uint64_t now_ns = clock_mono_ns();

	int r = load_list(binding, &list);
	if (r < 0)
		return r;
	if (binding->in_epoch && are_same(binding->bound, list, false)) {
		binding->epochs[binding->nr_epochs - 1].to_ns = now_ns;
		return 0;
	}
	binding->in_epoch = false;
	return begin_epoch(binding, list);
}

void binding_end(struct binding *binding)
{
	if (binding->bound)
		mapping_tables_drop(binding->tables->mapping_tables, binding->bound);
}

const struct epoch *binding_find_epoch(const struct binding *binding, uint64_t time_ns)
{
	for (size_t i = 0; i < binding->nr_epochs; i++) {
		const struct epoch *epoch = &binding->epochs[i];

		if (time_ns >= epoch->from_ns && time_ns <= epoch->to_ns)
			return epoch;
	}
	return NULL;
}
