/* SPDX-License-Identifier: Apache-2.0 */
/* A file of the record: an SQLite database with at most an hour of samples and the dictionary that
 * they refer to. docs/record.md describes its tables. While it is written, it has a write-ahead log
 * beside it; closed, it is one file that can be copied.
 *
 * All calls: -ENOSPC the disk is full, -EROFS, -EACCES, -EIO, -EBADMSG the file is damaged or not
 * of this kind, -ENODATA it is only just being created, -ENOLINK all of it is in a log that is not
 * there, -EOPNOTSUPP its version is unknown, -EBUSY another process holds it, -ENOMEM. */
#ifndef STORE_STORE_FILE_H
#define STORE_STORE_FILE_H

#include "base/cleanup.h"
#include "base/err.h"
#include "profile/profile_type.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORE_FILE_SUFFIX ".db"
#define STORE_FILE_BLOB_MAX ((size_t)64 << 20) /* of a blob, decompressed */

struct store_file;

/* What is known of a block besides its bytes. */
struct store_block {
	uint64_t first_s; /* its first second, Unix time */
	uint64_t end_s; /* behind its last second */
	enum profile_type type;
	uint64_t period; /* what a value stands for (store/stored_value.h) */
	uint64_t nr_rows;
	uint64_t total; /* sum of all values */
	uint64_t min_count; /* stacks with fewer samples were folded; 1: none */
	uint64_t folded; /* value of the samples whose stacks were folded */
	bool is_head; /* part of a block that is not yet complete */
};

/* The dictionaries of a file. */
enum store_dict {
	STORE_DICT_SAMPLES, /* of the blocks: stacks and label sets */
	STORE_DICT_TIMELINE, /* of the timeline: label sets */
};

/* What is known of a part of the timeline besides its bytes. */
struct store_timeline_row {
	uint64_t first_s, end_s; /* as in struct store_block */
	bool is_head;
};

/* A part of a dictionary. The numbers of later parts are higher; those of heads are the highest. */
struct store_dict_part {
	uint64_t number; /* from 1 on */
	bool is_head;
};

/* Parts by their numbers: those above `after`, up to `last`. */
struct store_dict_range {
	uint64_t after, last;
};

/* The parts up to some number, without those of heads. */
struct store_dict_size {
	uint64_t nr_parts, nr_bytes;
};

/* A time without samples, because they could not be written. */
struct store_gap {
	uint64_t first_s, end_s;
	uint64_t nr_samples; /* that are lost */
};

/* Creates a file, mode 0600, which must not exist. */
int store_file_create(const char *path, const char *host, struct store_file **ret_file) must_check;

/* The same, for copies of rows of another file. */
int store_file_create_like(const char *path, const struct store_file *other,
			   struct store_file **ret_file) must_check;

/* Opens a file for reading, also while another process writes it. Nothing is made beside it, so
 * copies stay as they are. */
int store_file_open(const char *path, struct store_file **ret_file) must_check;

/* Returns whether the file was copied without its log, so that it lacks what was written last. */
bool store_file_lacks_log(const struct store_file *file);

/* Completes a file that a writer left behind when it was killed: its log is merged into it. */
int store_file_repair(const char *path) must_check;

/* Closes a file. A file that was created becomes a single file, which can be copied. Errors, which
 * do not matter for what was written. NULL is fine. */
int store_file_close(struct store_file *file);
static inline void store_file_closep(struct store_file **file)
{
	(void)store_file_close(*file);
}

/* Writing. Everything between begin and commit is in the file, or nothing is. */
int store_file_begin(struct store_file *file) must_check;
int store_file_commit(struct store_file *file) must_check;
void store_file_rollback(struct store_file *file);

/* Adds a part of a dictionary, encoded and compressed. With `is_head`, it is for the heads only.
 * Blocks that are added later need no part behind it. */
int store_file_add_dict(struct store_file *file, enum store_dict dict, bool is_head,
			const void *data, size_t len) must_check;
int store_file_add_block(struct store_file *file, const struct store_block *block, const void *data,
			 size_t len) must_check;
int store_file_add_timeline(struct store_file *file, const struct store_timeline_row *row,
			    const void *data, size_t len) must_check;
int store_file_add_gap(struct store_file *file, const struct store_gap *gap) must_check;

/* Removes all heads, and their parts of the dictionaries. */
int store_file_remove_heads(struct store_file *file) must_check;

/* Reading. The data passed on are borrowed for the call, and compressed. A visitor's error ends the
 * reading and is returned. All calls between store_file_begin() and store_file_rollback() see the
 * file as it was at one time. */
typedef int (*store_dict_visit)(const struct store_dict_part *part, const void *data, size_t len,
				void *context);
typedef int (*store_block_visit)(const struct store_block *block, const void *data, size_t len,
				 void *context);
typedef int (*store_timeline_visit)(const struct store_timeline_row *row, const void *data,
				    size_t len, void *context);
typedef int (*store_gap_visit)(const struct store_gap *gap, void *context);

/* Visits parts of a dictionary in their order, those of the heads last. */
int store_file_read_dict(struct store_file *file, enum store_dict dict,
			 const struct store_dict_range *range, store_dict_visit visit,
			 void *context) must_check;

/* Finds the last part of the dictionary of the samples that the blocks of a range need; UINT64_MAX
 * if they do not say it, because the file has an older version. */
int store_file_find_part(struct store_file *file, uint64_t first_s, uint64_t end_s,
			 uint64_t *ret_last) must_check;

/* Measures the dictionary of the samples up to a part, without reading it. */
int store_file_measure_dict(struct store_file *file, uint64_t last,
			    struct store_dict_size *ret_size) must_check;

/* Visits the blocks that have seconds from `first_s` on and before `end_s`. If `with_data` is not
 * set, `data` is NULL. */
int store_file_read_blocks(struct store_file *file, uint64_t first_s, uint64_t end_s,
			   bool with_data, store_block_visit visit, void *context) must_check;

/* Visits the parts of the timeline that have seconds of a range, as above. A file of an older
 * version has none. */
int store_file_read_timeline(struct store_file *file, uint64_t first_s, uint64_t end_s,
			     bool with_data, store_timeline_visit visit, void *context) must_check;
int store_file_read_gaps(struct store_file *file, store_gap_visit visit, void *context) must_check;

/* Returns whether the file has a timeline. Files of version 2 have none. */
bool store_file_has_timeline(const struct store_file *file);

/* Returns whether the file's label sets say why threads waited. They do from version 6 on. Rows of
 * an older file must be copied into a file of version 5. */
bool store_file_has_reasons(const struct store_file *file);

/* Returns the name of the host that wrote the file; borrowed from it. */
const char *store_file_host(const struct store_file *file);

#endif
