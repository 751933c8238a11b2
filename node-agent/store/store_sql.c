/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_sql.h"

#include "base/cleanup.h"
#include "base/minmax.h"

#include <stdio.h>
#include <string.h>

static int error_of(int result)
{
	switch (result & 0xff) {
	case SQLITE_OK:
	case SQLITE_ROW:
	case SQLITE_DONE:
		return 0;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return -EACCES;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_ERROR: /* a table or a column is missing */
	case SQLITE_MISMATCH:
	case SQLITE_TOOBIG:
		return -EBADMSG;
	default:
		return -EIO;
	}
}

/* SQLite reports a full disk as an I/O error in some calls. */
int sql_error(const struct store_file *file, int result)
{
	int r = error_of(result);

	if (r == -EIO && sqlite3_system_errno(file->db) != 0)
		return -sqlite3_system_errno(file->db);
	return r;
}

int sql_failure(const struct store_file *file, int result)
{
	int r = sql_error(file, result);

	return r < 0 ? r : -EIO;
}

int sql_run(struct store_file *file, const char *sql)
{
	return sql_error(file, sqlite3_exec(file->db, sql, NULL, NULL, NULL));
}

int sql_prepare(struct store_file *file, const char *sql, sqlite3_stmt **ret_statement)
{
	return sql_error(file, sqlite3_prepare_v2(file->db, sql, -1, ret_statement, NULL));
}

void sql_finalizep(sqlite3_stmt **statement)
{
	sqlite3_finalize(*statement);
}

void sql_bind_number(sqlite3_stmt *statement, int index, uint64_t number)
{
	sqlite3_bind_int64(statement, index, (sqlite3_int64)min_u64(number, INT64_MAX));
}

void sql_bind_text(sqlite3_stmt *statement, int index, const char *text)
{
	sqlite3_bind_text(statement, index, text, -1, SQLITE_STATIC);
}

uint64_t sql_column_number(sqlite3_stmt *query, int column)
{
	return (uint64_t)sqlite3_column_int64(query, column);
}

void sql_column_text(sqlite3_stmt *query, int column, char *to, size_t size)
{
	const unsigned char *text = sqlite3_column_text(query, column);

	snprintf(to, size, "%s", text ? (const char *)text : "");
}

static void bind_value(sqlite3_stmt *statement, int index, const struct sql_value *value)
{
	switch (value->kind) {
	case SQL_VALUE_NUMBER:
		sql_bind_number(statement, index, value->number);
		break;
	case SQL_VALUE_REAL:
		sqlite3_bind_double(statement, index, value->real);
		break;
	case SQL_VALUE_TEXT:
		sql_bind_text(statement, index, value->data);
		break;
	case SQL_VALUE_BYTES:
		sqlite3_bind_blob64(statement, index, value->data, value->len, SQLITE_STATIC);
		break;
	}
}

int sql_execute(struct store_file *file, const char *sql, const struct sql_value *values,
		size_t nr_values)
{
	_cleanup_(sql_finalizep) sqlite3_stmt *statement = NULL;

	int r = sql_prepare(file, sql, &statement);
	if (r < 0)
		return r;
	for (size_t i = 0; i < nr_values; i++)
		bind_value(statement, (int)i + 1, &values[i]);
	return sql_error(file, sqlite3_step(statement));
}

int sql_read_number(struct store_file *file, const char *sql, uint64_t *ret_value)
{
	_cleanup_(sql_finalizep) sqlite3_stmt *query = NULL;

	int r = sql_prepare(file, sql, &query);
	if (r < 0)
		return r;
	int result = sqlite3_step(query);
	if (result != SQLITE_ROW)
		return result == SQLITE_DONE ? -EBADMSG : sql_failure(file, result);
	*ret_value = sql_column_number(query, 0);
	return 0;
}

/* What has a meaning in a URI is escaped. */
void sql_make_uri(const char *path, const char *parameters, char uri[static SQL_URI_BYTES])
{
	static const char digits[] = "0123456789abcdef";
	size_t len = (size_t)snprintf(uri, SQL_URI_BYTES, "file:");

	for (; *path && len + 64 < SQL_URI_BYTES; path++) {
		if (strchr("%?#", *path)) {
			uri[len++] = '%';
			uri[len++] = digits[(unsigned char)*path >> 4];
			uri[len++] = digits[*path & 0xf];
		} else {
			uri[len++] = *path;
		}
	}
	snprintf(uri + len, SQL_URI_BYTES - len, "?%s", parameters);
}

int sql_next(struct store_file *file, sqlite3_stmt *query)
{
	int result = sqlite3_step(query);

	return result == SQLITE_ROW ? 1 : sql_error(file, result);
}
