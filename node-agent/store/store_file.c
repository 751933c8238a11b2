/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_file.h"

#include "store/store_sql.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define APPLICATION_ID 0x666c616d /* "flam" */
#define VERSION SQL_VERSION_WITH_REASONS
#define OLDEST_VERSION 2
#define VERSION_WITH_TIMELINE 3
#define BUSY_MS 2000
/* A byte of the file's header. */
#define READ_VERSION_AT 19
#define READ_VERSION_WITH_LOG 2

static const char schema[] =
	"PRAGMA page_size = 8192;"
	"PRAGMA journal_mode = WAL;"
	"PRAGMA synchronous = FULL;"
	"BEGIN;"
	"PRAGMA application_id = 1718378861;" /* APPLICATION_ID */
	"PRAGMA user_version = 6;" /* VERSION */
	"CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;"
	"CREATE TABLE dict(id INTEGER PRIMARY KEY, head INTEGER, data BLOB);"
	"CREATE TABLE block(id INTEGER PRIMARY KEY, first INTEGER, end INTEGER, type INTEGER,"
	" period INTEGER, rows INTEGER, total INTEGER, min_count INTEGER, folded INTEGER,"
	" head INTEGER, data BLOB, part INTEGER);"
	"CREATE TABLE label(id INTEGER PRIMARY KEY, head INTEGER, data BLOB);"
	"CREATE TABLE timeline(id INTEGER PRIMARY KEY, first INTEGER, end INTEGER, head INTEGER,"
	" data BLOB);"
	"CREATE TABLE gap(first INTEGER, end INTEGER, samples INTEGER);"
	"CREATE TABLE event(number INTEGER PRIMARY KEY, first INTEGER, end INTEGER, kind TEXT,"
	" open INTEGER, score REAL, subject TEXT, selector TEXT, text TEXT);"
	"CREATE TABLE pin(id TEXT PRIMARY KEY, first INTEGER, end INTEGER, made INTEGER,"
	" automatic INTEGER, note TEXT);"
	"COMMIT;";

static int open_database(const char *name, int flags, struct store_file **ret_file)
{
	struct store_file *file = calloc(1, sizeof(*file));

	if (!file)
		return -ENOMEM;
	int result = sqlite3_open_v2(name, &file->db, flags | SQLITE_OPEN_NOMUTEX, NULL);
	if (result != SQLITE_OK) {
		int r = file->db ? sql_failure(file, result) : -ENOMEM;

		(void)store_file_close(file);
		return r < 0 ? r : -EIO;
	}
	sqlite3_busy_timeout(file->db, BUSY_MS);
	/* A damaged file must not make SQLite run code or use much memory. */
	sqlite3_db_config(file->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(file->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_limit(file->db, SQLITE_LIMIT_LENGTH, (int)STORE_FILE_BLOB_MAX);
	*ret_file = file;
	return 0;
}

static int write_meta(struct store_file *file, const char *host)
{
	const struct sql_value value = sql_text(host);

	return sql_execute(file, "INSERT INTO meta VALUES('host', ?)", &value, 1);
}

static int create(const char *path, const char *host, uint64_t version,
		  struct store_file **ret_file)
{
	struct store_file *file;
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return -errno;
	close(fd);
	int r = open_database(path, SQLITE_OPEN_READWRITE, &file);
	if (r < 0) {
		unlink(path);
		return r;
	}
	file->is_writer = true;
	file->version = version;
	snprintf(file->host, sizeof(file->host), "%s", host);
	r = sql_run(file, schema);
	if (r == 0 && version == SQL_VERSION_WITH_PARTS)
		r = sql_run(file, "PRAGMA user_version = 5");
	if (r == 0)
		r = write_meta(file, host);
	if (r < 0) {
		file->is_writer = false;
		(void)store_file_close(file);
		unlink(path);
		return r;
	}
	*ret_file = file;
	return 0;
}

int store_file_create(const char *path, const char *host, struct store_file **ret_file)
{
	return create(path, host, VERSION, ret_file);
}

/* Rows of an older file are copied as they are, so the copy is of a version that had such rows. The
 * tables of version 5 are those of the present one. */
int store_file_create_like(const char *path, const struct store_file *other,
			   struct store_file **ret_file)
{
	uint64_t version = store_file_has_reasons(other) ? VERSION : SQL_VERSION_WITH_PARTS;

	return create(path, other->host, version, ret_file);
}

static int check_version(struct store_file *file)
{
	uint64_t id;
	int r;

	if ((r = sql_read_number(file, "PRAGMA application_id", &id)) < 0)
		return r;
	if (id != APPLICATION_ID)
		return id == 0 ? -ENODATA : -EBADMSG;
	if ((r = sql_read_number(file, "PRAGMA user_version", &file->version)) < 0)
		return r;
	return file->version >= OLDEST_VERSION && file->version <= VERSION ? 0 : -EOPNOTSUPP;
}

static int read_host(struct store_file *file)
{
	_cleanup_(sql_finalizep) sqlite3_stmt *query = NULL;

	int r = sql_prepare(file, "SELECT value FROM meta WHERE key = 'host'", &query);
	if (r < 0)
		return r;
	if (sqlite3_step(query) == SQLITE_ROW && sqlite3_column_type(query, 0) == SQLITE_TEXT)
		snprintf(file->host, sizeof(file->host), "%s",
			 (const char *)sqlite3_column_text(query, 0));
	return 0;
}

/* Ways to read a file that leave nothing beside it. */
enum way {
	WAY_SHARED, /* as SQLite usually does; a file with a log has its index (-shm) already */
	WAY_PRIVATE, /* the log's index is in memory */
	WAY_ALONE, /* without a log */
	WAY_NR,
};

static int open_by(enum way way, const char *path, struct store_file **ret_file)
{
	static const char *const parameters[WAY_NR] = {
		[WAY_SHARED] = "mode=ro",
		[WAY_PRIVATE] = "mode=ro&vfs=unix-none",
		[WAY_ALONE] = "mode=ro&immutable=1",
	};
	_cleanup_(store_file_closep) struct store_file *file = NULL;
	char uri[SQL_URI_BYTES];

	if (strlen(path) >= SQL_PATH_BYTES)
		return -ENAMETOOLONG;
	sql_make_uri(path, parameters[way], uri);
	int r = open_database(uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, &file);
	if (r < 0)
		return r;
	if (way == WAY_PRIVATE) {
		sqlite3_db_config(file->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
		r = sql_run(file, "PRAGMA locking_mode = EXCLUSIVE");
	}
	if (r < 0)
		return r;
	*ret_file = take_ptr(file);
	return 0;
}

/* Returns whether the file counts on a log. SQLite reads it, as it may have the file open
 * elsewhere: with a file descriptor of ours, its locks would end. */
static bool has_log_format(struct store_file *file)
{
	unsigned char version = 0;
	sqlite3_file *main = NULL;

	return sqlite3_file_control(file->db, "main", SQLITE_FCNTL_FILE_POINTER, &main) ==
		       SQLITE_OK &&
	       main && main->pMethods &&
	       main->pMethods->xRead(main, &version, sizeof(version), READ_VERSION_AT) ==
		       SQLITE_OK &&
	       version == READ_VERSION_WITH_LOG;
}

/* Returns the size of the file beside this one, or -1. */
static off_t size_beside(struct store_file *file, const char *suffix)
{
	const char *name = sqlite3_db_filename(file->db, "main");
	char path[SQL_PATH_BYTES];
	struct stat status;

	if (!name || snprintf(path, sizeof(path), "%s%s", name, suffix) >= (int)sizeof(path) ||
	    stat(path, &status) < 0)
		return -1;
	return status.st_size;
}

/* A writer has both the log and its index. A copy may lack them, and SQLite would make them. */
static enum way way_of(struct store_file *file)
{
	if (!has_log_format(file))
		return WAY_SHARED;
	off_t log = size_beside(file, "-wal");
	bool has_index = size_beside(file, "-shm") >= 0;
	if (log >= 0 && has_index)
		return WAY_SHARED;
	return log > 0 ? WAY_PRIVATE : WAY_ALONE;
}

/* Opens a file as its neighbours permit. */
static int open_beside(const char *path, struct store_file **ret_file, enum way *ret_way)
{
	_cleanup_(store_file_closep) struct store_file *file = NULL;

	int r = open_by(WAY_SHARED, path, &file);
	if (r < 0)
		return r;
	*ret_way = way_of(file);
	if (*ret_way != WAY_SHARED)
		return open_by(*ret_way, path, ret_file);
	*ret_file = take_ptr(file);
	return 0;
}

/* Looks into a file that was opened. */
static int look_into(struct store_file *file, enum way way)
{
	int r = check_version(file);
	if (r == 0)
		r = read_host(file);
	/* If it was completed meanwhile, it needs no log any more. */
	file->lacks_log = way == WAY_ALONE && has_log_format(file);
	return r == -ENODATA && file->lacks_log ? -ENOLINK : r;
}

static int open_for_reading(const char *path, enum way way, struct store_file **ret_file)
{
	_cleanup_(store_file_closep) struct store_file *file = NULL;

	int r = way == WAY_SHARED ? open_beside(path, &file, &way) : open_by(way, path, &file);
	if (r < 0)
		return r;
	r = look_into(file, way);
	if (r == 0)
		*ret_file = take_ptr(file);
	return r;
}

static bool cannot_write(int error)
{
	return error == -EIO || error == -EROFS || error == -EACCES || error == -ENOENT;
}

int store_file_open(const char *path, struct store_file **ret_file)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EBADMSG;
	int r = open_for_reading(path, WAY_SHARED, ret_file);
	/* A file with a log that lies where we may not write. */
	for (enum way way = WAY_PRIVATE; way < WAY_NR && cannot_write(r); way++)
		r = open_for_reading(path, way, ret_file);
	return r;
}

bool store_file_lacks_log(const struct store_file *file)
{
	return file->lacks_log;
}

int store_file_repair(const char *path)
{
	_cleanup_(store_file_closep) struct store_file *file = NULL;

	int r = open_database(path, SQLITE_OPEN_READWRITE, &file);
	if (r == 0)
		r = check_version(file);
	if (r == 0)
		r = sql_run(file, "PRAGMA journal_mode = DELETE");
	return r;
}

int store_file_close(struct store_file *file)
{
	int r = 0;

	if (!file)
		return 0;
	if (file->is_writer)
		r = sql_run(file, "PRAGMA journal_mode = DELETE");
	sqlite3_close(file->db);
	free(file);
	return r;
}

int store_file_begin(struct store_file *file)
{
	return sql_run(file, "BEGIN");
}

int store_file_commit(struct store_file *file)
{
	return sql_run(file, "COMMIT");
}

void store_file_rollback(struct store_file *file)
{
	/* It fails if SQLite has already rolled back by itself. */
	(void)sqlite3_exec(file->db, "ROLLBACK", NULL, NULL, NULL);
}

int store_file_add_dict(struct store_file *file, enum store_dict dict, bool is_head,
			const void *data, size_t len)
{
	static const char *const statements[] = {
		[STORE_DICT_SAMPLES] = "INSERT INTO dict(head, data) VALUES(?, ?)",
		[STORE_DICT_TIMELINE] = "INSERT INTO label(head, data) VALUES(?, ?)",
	};
	const struct sql_value values[] = { sql_number(is_head), sql_bytes(data, len) };

	int r = sql_execute(file, statements[dict], values, array_len(values));
	if (r == 0 && dict == STORE_DICT_SAMPLES)
		file->last_part = (uint64_t)sqlite3_last_insert_rowid(file->db);
	return r;
}

int store_file_add_block(struct store_file *file, const struct store_block *block, const void *data,
			 size_t len)
{
	const struct sql_value values[] = {
		sql_number(block->first_s),   sql_number(block->end_s),
		sql_number(block->type),      sql_number(block->period),
		sql_number(block->nr_rows),   sql_number(block->total),
		sql_number(block->min_count), sql_number(block->folded),
		sql_number(block->is_head),   sql_bytes(data, len),
		sql_number(file->last_part),
	};

	return sql_execute(
		file,
		"INSERT INTO block(first, end, type, period, rows, total, min_count, folded,"
		" head, data, part) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		values, array_len(values));
}

int store_file_add_timeline(struct store_file *file, const struct store_timeline_row *row,
			    const void *data, size_t len)
{
	const struct sql_value values[] = { sql_number(row->first_s), sql_number(row->end_s),
					    sql_number(row->is_head), sql_bytes(data, len) };

	return sql_execute(file, "INSERT INTO timeline(first, end, head, data) VALUES(?, ?, ?, ?)",
			   values, array_len(values));
}

int store_file_add_gap(struct store_file *file, const struct store_gap *gap)
{
	const struct sql_value values[] = { sql_number(gap->first_s), sql_number(gap->end_s),
					    sql_number(gap->nr_samples) };

	return sql_execute(file, "INSERT INTO gap VALUES(?, ?, ?)", values, array_len(values));
}

int store_file_remove_heads(struct store_file *file)
{
	return sql_run(file, "DELETE FROM block WHERE head; DELETE FROM dict WHERE head;"
			     "DELETE FROM timeline WHERE head; DELETE FROM label WHERE head");
}

/* In the order of the table, so that SQLite need not sort, which may take a temporary file. */
static int read_dict_parts(struct store_file *file, enum store_dict dict, bool of_heads,
			   const struct store_dict_range *range, store_dict_visit visit,
			   void *context)
{
	static const char *const queries[] = {
		[STORE_DICT_SAMPLES] =
			"SELECT id, data FROM dict WHERE head = ? AND id > ? AND id <= ?"
			" ORDER BY id",
		[STORE_DICT_TIMELINE] =
			"SELECT id, data FROM label WHERE head = ? AND id > ? AND id <= ?"
			" ORDER BY id",
	};
	_cleanup_(sql_finalizep) sqlite3_stmt *query = NULL;

	int r = sql_prepare(file, queries[dict], &query);
	if (r < 0)
		return r;
	sqlite3_bind_int(query, 1, of_heads);
	sql_bind_number(query, 2, range->after);
	sql_bind_number(query, 3, range->last);
	while (r == 0 && (r = sql_next(file, query)) > 0) {
		const struct store_dict_part part = { sql_column_number(query, 0), of_heads };
		const void *data = sqlite3_column_blob(query, 1);

		r = visit(&part, data, (size_t)sqlite3_column_bytes(query, 1), context);
	}
	return r;
}

int store_file_read_dict(struct store_file *file, enum store_dict dict,
			 const struct store_dict_range *range, store_dict_visit visit,
			 void *context)
{
	int r = 0;

	if (dict == STORE_DICT_TIMELINE && !store_file_has_timeline(file))
		return 0;
	r = read_dict_parts(file, dict, false, range, visit, context);
	return r < 0 ? r : read_dict_parts(file, dict, true, range, visit, context);
}

int store_file_find_part(struct store_file *file, uint64_t first_s, uint64_t end_s,
			 uint64_t *ret_last)
{
	_cleanup_(sql_finalizep) sqlite3_stmt *query = NULL;

	*ret_last = UINT64_MAX;
	if (file->version < SQL_VERSION_WITH_PARTS)
		return 0;
	/* A block that was copied from an older file names no part. */
	int r = sql_prepare(
		file, "SELECT max(ifnull(part, ?)) FROM block WHERE end > ? AND first < ?", &query);
	if (r < 0)
		return r;
	sql_bind_number(query, 1, UINT64_MAX);
	sql_bind_number(query, 2, first_s);
	sql_bind_number(query, 3, end_s);
	r = sql_next(file, query);
	if (r > 0)
		*ret_last = sql_column_number(query, 0);
	return r < 0 ? r : 0;
}

int store_file_measure_dict(struct store_file *file, uint64_t last,
			    struct store_dict_size *ret_size)
{
	_cleanup_(sql_finalizep) sqlite3_stmt *query = NULL;

	int r = sql_prepare(file,
			    "SELECT count(*), ifnull(sum(length(data)), 0) FROM dict"
			    " WHERE NOT head AND id <= ?",
			    &query);
	if (r < 0)
		return r;
	sql_bind_number(query, 1, last);
	r = sql_next(file, query);
	if (r <= 0)
		return r;
	*ret_size = (struct store_dict_size){ sql_column_number(query, 0),
					      sql_column_number(query, 1) };
	return 0;
}

static struct store_block read_block(sqlite3_stmt *query)
{
	uint64_t type = sql_column_number(query, 2);

	return (struct store_block){
		.first_s = sql_column_number(query, 0),
		.end_s = sql_column_number(query, 1),
		.type = type < PROFILE_NR_TYPES ? (enum profile_type)type : PROFILE_NR_TYPES,
		.period = sql_column_number(query, 3),
		.nr_rows = sql_column_number(query, 4),
		.total = sql_column_number(query, 5),
		.min_count = sql_column_number(query, 6),
		.folded = sql_column_number(query, 7),
		.is_head = sql_column_number(query, 8) != 0,
	};
}

int store_file_read_blocks(struct store_file *file, uint64_t first_s, uint64_t end_s,
			   bool with_data, store_block_visit visit, void *context)
{
	_cleanup_(sql_finalizep) sqlite3_stmt *query = NULL;

	int r = sql_prepare(
		file,
		"SELECT first, end, type, period, rows, total, min_count, folded, head,"
		" iif(?3, data, NULL) FROM block WHERE end > ?1 AND first < ?2 ORDER BY id",
		&query);
	if (r < 0)
		return r;
	sql_bind_number(query, 1, first_s);
	sql_bind_number(query, 2, end_s);
	sqlite3_bind_int(query, 3, with_data);
	while (r == 0 && (r = sql_next(file, query)) > 0) {
		const struct store_block block = read_block(query);
		const void *data = sqlite3_column_blob(query, 9);

		r = visit(&block, data, (size_t)sqlite3_column_bytes(query, 9), context);
	}
	return r;
}

int store_file_read_timeline(struct store_file *file, uint64_t first_s, uint64_t end_s,
			     bool with_data, store_timeline_visit visit, void *context)
{
	_cleanup_(sql_finalizep) sqlite3_stmt *query = NULL;

	if (!store_file_has_timeline(file))
		return 0;
	int r = sql_prepare(file,
			    "SELECT first, end, head, iif(?3, data, NULL) FROM timeline"
			    " WHERE end > ?1 AND first < ?2 ORDER BY id",
			    &query);
	if (r < 0)
		return r;
	sql_bind_number(query, 1, first_s);
	sql_bind_number(query, 2, end_s > INT64_MAX ? INT64_MAX : end_s);
	sqlite3_bind_int(query, 3, with_data);
	while (r == 0 && (r = sql_next(file, query)) > 0) {
		const struct store_timeline_row row = { sql_column_number(query, 0),
							sql_column_number(query, 1),
							sql_column_number(query, 2) != 0 };
		const void *data = sqlite3_column_blob(query, 3);

		r = visit(&row, data, (size_t)sqlite3_column_bytes(query, 3), context);
	}
	return r;
}

bool store_file_has_reasons(const struct store_file *file)
{
	return file->version >= SQL_VERSION_WITH_REASONS;
}

bool store_file_has_timeline(const struct store_file *file)
{
	return file->version >= VERSION_WITH_TIMELINE;
}

int store_file_read_gaps(struct store_file *file, store_gap_visit visit, void *context)
{
	_cleanup_(sql_finalizep) sqlite3_stmt *query = NULL;

	int r = sql_prepare(file, "SELECT first, end, samples FROM gap ORDER BY first", &query);
	while (r == 0 && (r = sql_next(file, query)) > 0) {
		const struct store_gap gap = { sql_column_number(query, 0),
					       sql_column_number(query, 1),
					       sql_column_number(query, 2) };

		r = visit(&gap, context);
	}
	return r;
}

const char *store_file_host(const struct store_file *file)
{
	return file->host;
}
