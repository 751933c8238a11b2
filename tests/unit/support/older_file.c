/* SPDX-License-Identifier: Apache-2.0 */
#include "older_file.h"

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/zstd.h"
#include "store/dict_code.h"
#include "store/stored_dict.h"
#include "unit.h"

#include <sqlite3.h>

#define LEVEL 3

/* A table with parts of a dictionary. */
static const struct {
	const char *select, *update;
} tables[] = {
	{ "SELECT id, data FROM dict ORDER BY id", "UPDATE dict SET data = ? WHERE id = ?" },
	{ "SELECT id, data FROM label ORDER BY id", "UPDATE label SET data = ? WHERE id = ?" },
};

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *statement;

	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
	return statement;
}

static void replace_part(sqlite3_stmt *update, sqlite3_int64 id, const struct strbuf *part)
{
	sqlite3_bind_blob(update, 1, part->data, (int)part->len, SQLITE_STATIC);
	sqlite3_bind_int64(update, 2, id);
	assert_int_equal(sqlite3_step(update), SQLITE_DONE);
	sqlite3_reset(update);
}

/* The column of the reasons is the last one of the last table, and has a byte for each row. */
static void shorten(sqlite3_stmt *parts, sqlite3_stmt *update)
{
	_cleanup_(strbuf_done) struct strbuf plain = strbuf_with_max(STORE_FILE_BLOB_MAX);
	_cleanup_(zstd_unpacker_done) struct zstd_unpacker unpacker = { 0 };
	_cleanup_(dict_done) struct dict dict;

	assert_int_equal(dict_init(&dict), 0);
	while (sqlite3_step(parts) == SQLITE_ROW) {
		_cleanup_(strbuf_done) struct strbuf packed = strbuf_with_max(STORE_FILE_BLOB_MAX);
		size_t nr_before = dict.tables[DICT_LABELS].nr_rows;

		assert_int_equal(stored_unpack(&unpacker, sqlite3_column_blob(parts, 1),
					       (size_t)sqlite3_column_bytes(parts, 1), &plain),
				 0);
		assert_int_equal(
			dict_decode(&dict, DICT_FORM_PRESENT, false, plain.data, plain.len), 0);
		size_t nr_rows = dict.tables[DICT_LABELS].nr_rows - nr_before;
		zstd_append_checked(&packed, plain.data, plain.len - nr_rows, LEVEL);
		assert_int_equal(strbuf_error(&packed), 0);
		replace_part(update, sqlite3_column_int64(parts, 0), &packed);
	}
}

void older_file_make(const char *path, const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	for (size_t i = 0; i < array_len(tables); i++) {
		sqlite3_stmt *parts = prepare(db, tables[i].select);
		sqlite3_stmt *update = prepare(db, tables[i].update);

		shorten(parts, update);
		sqlite3_finalize(parts);
		sqlite3_finalize(update);
	}
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}
