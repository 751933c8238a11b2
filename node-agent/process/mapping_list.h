/* SPDX-License-Identifier: Apache-2.0 */
/* The executable mappings of a process, sorted by address and free of overlaps.
 *
 * fork() copies an address space, so a child starts with its parent's list: the same object,
 * counted. To change a list that others hold, make a copy first (mapping_list_make_own()). A
 * server with a thousand forked children has one list. */
#ifndef PROCESS_MAPPING_LIST_H
#define PROCESS_MAPPING_LIST_H

#include "base/cleanup.h"
#include "base/err.h"
#include "bpf/shared/runtime.h"
#include "process/mapped_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAPPING_LIST_MAX 16384

struct mapping {
	uint64_t start;
	uint64_t end;
	uint64_t file_offset; /* of `start`; 0 where there is no file */
	struct mapped_file *file; /* shared, owned by the table */
};

/* The place of the list's mapping table, which the unwinder reads; see
 * unwind/tables/mapping_tables.h. */
struct mapping_table_place {
	uint32_t unit; /* 0: nowhere */
	uint32_t id;
	uint32_t bytes;
	uint32_t nr_lacking; /* what it lacked then, as mapping_tables.c counts it */
};

struct mapping_list {
	struct mapped_files *files; /* borrowed: what the mappings' files belong to */
	struct mapping *items; /* owned; each holds a reference to its file */
	size_t nr_items;
	size_t cap_items;
	unsigned int nr_refs;
	uint64_t version; /* of the contents: each state of each list has another one */
	bool is_changed; /* since it was put into the arena; the unwind tables clear it */
	bool is_partial; /* set by the consumer: some of its files are still to be opened */
	/* Owned; the descriptors of its runtimes, for unwinders; NULL: none. */
	struct runtime_descriptor *runtimes;
	size_t nr_runtimes; /* at most RUNTIME_MAX_OF_PROCESS */
	struct mapping_table_place table;
};

/* Makes an empty list with one reference. Errors: -ENOMEM. */
int mapping_list_new(struct mapped_files *files, struct mapping_list **ret_list) must_check;

struct mapping_list *mapping_list_ref(struct mapping_list *list);

/* NULL is fine. */
void mapping_list_unref(struct mapping_list *list);
DEFINE_FREEP(struct mapping_list, mapping_list_unref)

/* Replaces the caller's reference to a shared list by a list that is the caller's alone.
 * Errors: -ENOMEM. */
int mapping_list_make_own(struct mapping_list **list) must_check;

/* Adds a mapping to a list that is not shared and takes a reference to its file. Earlier
 * mappings of the range are cut out. On failure nothing has changed. Errors: -ENOSPC at
 * MAPPING_LIST_MAX, -ENOMEM. */
int mapping_list_insert(struct mapping_list *list, const struct mapping *mapping) must_check;

/* Sets the descriptors of runtimes, in place of earlier ones, for all processes that have the list.
 * Errors: -ENOSPC more than RUNTIME_MAX_OF_PROCESS, -ENOMEM; then nothing has changed. */
int mapping_list_set_runtimes(struct mapping_list *list, const struct runtime_descriptor *runtimes,
			      size_t nr_runtimes) must_check;

/* Replaces a file by another in all mappings of a list that is not shared; takes its own
 * references. */
void mapping_list_replace_file(struct mapping_list *list, struct mapped_file *file,
			       struct mapped_file *other);

/* Returns the mapping that holds an address, or NULL; `list` may be NULL. Valid until the list
 * changes. */
const struct mapping *mapping_list_find(const struct mapping_list *list, uint64_t address);

#endif
