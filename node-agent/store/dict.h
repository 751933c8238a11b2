/* SPDX-License-Identifier: Apache-2.0 */
/* What the samples of a file of the record refer to. Each distinct thing has one row, and refers to
 * rows that were added before:
 *
 *	labels ─▶ resource, process, strings
 *	node ─▶ parent node, frame ─▶ mapping, functions ─▶ strings
 *
 * A stack is the number of its leaf's node in a tree of frames, whose root is node 0. Frames have
 * no addresses and no lines: a function is one frame wherever it is sampled.
 *
 * dict_code.h turns them into bytes. */
#ifndef STORE_DICT_H
#define STORE_DICT_H

#include "base/cleanup.h"
#include "base/err.h"
#include "store/successors.h"
#include "store/word_table.h"

#include <stddef.h>
#include <stdint.h>

#define DICT_STRING_MAX_BYTES 16384 /* with its NUL; longer ones are cut */

enum dict_table {
	DICT_STRINGS, /* bytes and a NUL, filled up with NULs */
	DICT_MAPPINGS, /* file name, build id, Go's build id, hash of the file: strings */
	DICT_FUNCTIONS, /* name, system name, file name: strings; first line */
	DICT_FRAMES, /* enum frame_kind, mapping, then functions, innermost first */
	DICT_NODES, /* parent, frame */
	DICT_RESOURCES, /* pairs of strings: key, value */
	DICT_PROCESSES, /* pid, start in ns since boot (low, high), path, name: strings */
	/* resource, process, comm of the process and of the thread: strings; pid, cgroup id (low,
	 * high), CPU + 1 or 0, enum wait_reason */
	DICT_LABELS,
	DICT_NR_TABLES,
};

enum { NODE_PARENT, NODE_FRAME, NODE_WORDS };
enum { FRAME_KIND, FRAME_MAPPING, FRAME_FIRST_FUNCTION };
enum { MAPPING_FILENAME, MAPPING_BUILD_ID, MAPPING_GO_BUILD_ID, MAPPING_HTLHASH, MAPPING_WORDS };
enum {
	FUNCTION_NAME,
	FUNCTION_SYSTEM_NAME,
	FUNCTION_FILENAME,
	FUNCTION_START_LINE,
	FUNCTION_WORDS
};
enum {
	PROCESS_PID,
	PROCESS_START_LOW,
	PROCESS_START_HIGH,
	PROCESS_PATH,
	PROCESS_NAME,
	PROCESS_WORDS
};
enum {
	LABELS_RESOURCE,
	LABELS_PROCESS,
	LABELS_PROCESS_COMM,
	LABELS_THREAD_COMM,
	LABELS_PID,
	LABELS_CGROUP_LOW,
	LABELS_CGROUP_HIGH,
	LABELS_CPU,
	LABELS_REASON,
	LABELS_WORDS
};

struct dict {
	struct word_table tables[DICT_NR_TABLES];
	struct successors successors; /* of the nodes that were encoded or decoded */
	const char *host; /* borrowed; of label sets that do not name theirs; NULL: not known */
};

/* The numbers of rows at some time. */
struct dict_mark {
	size_t nr[DICT_NR_TABLES];
};

/* Row 0 of all tables except the labels is the empty one. dict_done() is needed after a failure,
 * too. Errors: -ENOMEM. */
int dict_init(struct dict *dict) must_check;
void dict_done(struct dict *dict);

/* Find or add a row. Errors: -ENOSPC, -ENOMEM. */
int dict_add(struct dict *dict, enum dict_table table, const uint32_t *words, size_t nr,
	     uint32_t *ret_id) must_check;
int dict_add_string(struct dict *dict, const char *text, uint32_t *ret_id) must_check;

/* Looks up many strings at once, which is faster than one by one. Sets the number of each in
 * `known`, plus 1. Entries of unknown strings, and of very long ones, stay as they are. */
void dict_find_strings(const struct dict *dict, const char *const *texts, size_t nr,
		       uint32_t *known);

/* The row must exist. */
struct word_row dict_get(const struct dict *dict, enum dict_table table, uint32_t id);

/* Return the parent and the frame of a node, which must exist. The root is its own parent. */
static inline uint32_t dict_parent(const struct dict *dict, uint32_t node)
{
	return dict->tables[DICT_NODES].words[(size_t)node * NODE_WORDS + NODE_PARENT];
}

static inline uint32_t dict_frame(const struct dict *dict, uint32_t node)
{
	return dict->tables[DICT_NODES].words[(size_t)node * NODE_WORDS + NODE_FRAME];
}

/* Returns a string; borrowed until the next addition. The row must exist. */
const char *dict_string(const struct dict *dict, uint32_t id);

struct dict_mark dict_mark(const struct dict *dict);

/* Removes all rows that were added since the mark. */
void dict_truncate(struct dict *dict, const struct dict_mark *mark);

/* Returns which table the words of a row refer to at an index, or DICT_NR_TABLES for plain
 * numbers. */
enum dict_table dict_target(enum dict_table table, size_t index);

/* Returns the bytes of memory that it uses. */
size_t dict_bytes(const struct dict *dict);

#endif
