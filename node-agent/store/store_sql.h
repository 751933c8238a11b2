/* SPDX-License-Identifier: Apache-2.0 */
/* How the files of the record use SQLite: for store_file.c and the tables that have a file of their
 * own. The errors are those of store_file.h. */
#ifndef STORE_STORE_SQL_H
#define STORE_STORE_SQL_H

#include "base/err.h"
#include "store/store_file.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#define SQL_PATH_BYTES 4096
#define SQL_URI_BYTES (3 * SQL_PATH_BYTES)
#define SQL_HOST_BYTES 256

#define SQL_VERSION_WITH_EVENTS 4 /* and pins */
#define SQL_VERSION_WITH_PARTS 5 /* blocks name the part of the dictionary that they need */
#define SQL_VERSION_WITH_REASONS 6 /* label sets have the reasons of waits */

struct store_file {
	sqlite3 *db; /* owned */
	bool is_writer;
	bool lacks_log;
	uint64_t version; /* of the format */
	uint64_t last_part; /* of the dictionary of the samples, that was written */
	char host[SQL_HOST_BYTES];
};

/* Returns the error of a call's result, or 0. */
int sql_error(const struct store_file *file, int result);

/* Returns the error of a call that failed; never 0. */
int sql_failure(const struct store_file *file, int result);

/* Runs statements that return no rows. */
int sql_run(struct store_file *file, const char *sql) must_check;
int sql_prepare(struct store_file *file, const char *sql, sqlite3_stmt **ret_statement) must_check;
void sql_finalizep(sqlite3_stmt **statement);

/* Bind a parameter, counted from 1. A text is borrowed until the statement ends. Numbers that
 * SQLite cannot store become the largest one that it can. */
void sql_bind_number(sqlite3_stmt *statement, int index, uint64_t number);
void sql_bind_text(sqlite3_stmt *statement, int index, const char *text);

/* A value for a parameter of a statement. Texts and bytes are borrowed until the statement ends. */
struct sql_value {
	enum { SQL_VALUE_NUMBER, SQL_VALUE_REAL, SQL_VALUE_TEXT, SQL_VALUE_BYTES } kind;
	uint64_t number; /* as sql_bind_number() takes it */
	double real;
	const void *data;
	size_t len;
};

static inline struct sql_value sql_number(uint64_t number)
{
	return (struct sql_value){ .kind = SQL_VALUE_NUMBER, .number = number };
}

static inline struct sql_value sql_real(double real)
{
	return (struct sql_value){ .kind = SQL_VALUE_REAL, .real = real };
}

static inline struct sql_value sql_text(const char *text)
{
	return (struct sql_value){ .kind = SQL_VALUE_TEXT, .data = text };
}

static inline struct sql_value sql_bytes(const void *data, size_t len)
{
	return (struct sql_value){ .kind = SQL_VALUE_BYTES, .data = data, .len = len };
}

/* Runs a statement that returns no rows, with these values for its parameters. */
int sql_execute(struct store_file *file, const char *sql, const struct sql_value *values,
		size_t nr_values) must_check;

/* Moves on to the next row of a query. Returns 1 for a row, 0 at the end. */
int sql_next(struct store_file *file, sqlite3_stmt *query) must_check;

/* Return a column of a row, counted from 0. A text is truncated to `size` bytes with its NUL. */
uint64_t sql_column_number(sqlite3_stmt *query, int column);
void sql_column_text(sqlite3_stmt *query, int column, char *to, size_t size);

/* Runs a query that returns one number. */
int sql_read_number(struct store_file *file, const char *sql, uint64_t *ret_number) must_check;

/* Makes a URI of a path shorter than SQL_PATH_BYTES. */
void sql_make_uri(const char *path, const char *parameters, char uri[static SQL_URI_BYTES]);

#endif
