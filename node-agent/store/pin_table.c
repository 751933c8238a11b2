/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pin_table.h"

#include "base/cleanup.h"
#include "base/minmax.h"
#include "store/store_sql.h"

#include <string.h>

static int add_pin(struct store_file *file, const struct pin *pin)
{
	const struct sql_value values[] = {
		sql_text(pin->id),	 sql_number(pin->first_s),	sql_number(pin->end_s),
		sql_number(pin->made_s), sql_number(pin->is_automatic), sql_text(pin->note),
	};

	return sql_execute(file,
			   "INSERT INTO pin(id, first, end, made, automatic, note)"
			   " VALUES(?, ?, ?, ?, ?, ?)",
			   values, array_len(values));
}

static int attach(struct store_file *file, const char *path)
{
	char uri[SQL_URI_BYTES];

	if (strlen(path) >= SQL_PATH_BYTES)
		return -ENAMETOOLONG;
	sql_make_uri(path, "mode=ro", uri);
	const struct sql_value value = sql_text(uri);
	return sql_execute(file, "ATTACH ? AS source", &value, 1);
}

/* Returns whether the source, which may be of an older version, has a table. */
static int has_table(struct store_file *file, const char *name)
{
	_cleanup_(sql_finalizep) sqlite3_stmt *query = NULL;

	int r = sql_prepare(file, "SELECT 1 FROM source.sqlite_schema WHERE name = ?", &query);
	if (r < 0)
		return r;
	sql_bind_text(query, 1, name);
	return sql_next(file, query);
}

static int copy_rows(struct store_file *file, const char *sql, const struct pin *pin)
{
	const struct sql_value values[] = { sql_number(pin->first_s), sql_number(pin->end_s) };

	return sql_execute(file, sql, values, array_len(values));
}

/* Blocks of an older version do not name the part of the dictionary that they need. */
static int copy_blocks(struct store_file *file, const struct pin *pin)
{
	static const char *const copies[] = {
		"INSERT OR IGNORE INTO block SELECT *, NULL FROM source.block"
		" WHERE end > ? AND first < ?",
		"INSERT OR IGNORE INTO block SELECT * FROM source.block"
		" WHERE end > ? AND first < ?",
	};
	uint64_t version;

	int r = sql_read_number(file, "PRAGMA source.user_version", &version);
	return r < 0 ? r : copy_rows(file, copies[version >= SQL_VERSION_WITH_PARTS], pin);
}

/* Rows keep their numbers, so that a row that two pins share is copied once. */
static int import_pin(struct store_file *file, const struct pin *pin)
{
	static const struct {
		const char *table, *sql;
	} copies[] = {
		{ "timeline", "INSERT OR IGNORE INTO timeline SELECT * FROM source.timeline"
			      " WHERE end > ? AND first < ?" },
		{ "gap", "INSERT OR IGNORE INTO gap(rowid, first, end, samples)"
			 " SELECT rowid, first, end, samples FROM source.gap"
			 " WHERE end > ? AND first < ?" },
		{ "event", "INSERT OR IGNORE INTO event SELECT * FROM source.event"
			   " WHERE end > ? AND first < ?" },
	};
	int r = copy_blocks(file, pin);

	for (size_t i = 0; r >= 0 && i < array_len(copies); i++) {
		r = has_table(file, copies[i].table);
		if (r > 0)
			r = copy_rows(file, copies[i].sql, pin);
	}
	return r < 0 ? r : add_pin(file, pin);
}

/* The parts that a block needs. */
static const char copy_dict[] =
	"INSERT INTO dict SELECT * FROM source.dict"
	" WHERE id <= (SELECT max(ifnull(part, 9223372036854775807)) FROM block)";

/* Within a transaction, so that the other file is seen as it was at one time. */
static int import(struct store_file *file, const struct pin *pins, size_t nr_pins)
{
	uint64_t nr_blocks = 0;
	int r = has_table(file, "label");

	if (r > 0)
		r = sql_run(file, "INSERT INTO label SELECT * FROM source.label");
	for (size_t i = 0; r == 0 && i < nr_pins; i++)
		r = import_pin(file, &pins[i]);
	if (r == 0)
		r = sql_run(file, copy_dict);
	if (r == 0)
		r = sql_read_number(file, "SELECT count(*) FROM block", &nr_blocks);
	return r < 0 ? r : (int)min_u64(nr_blocks, INT32_MAX);
}

int pin_table_import(struct store_file *file, const char *path, const struct pin *pins,
		     size_t nr_pins)
{
	int nr_blocks = 0;
	int r = attach(file, path);

	if (r == 0)
		r = store_file_begin(file);
	if (r == 0)
		r = nr_blocks = import(file, pins, nr_pins);
	if (r >= 0)
		r = store_file_commit(file);
	if (r < 0)
		store_file_rollback(file);
	int detached = sql_run(file, "DETACH source");
	if (r == 0)
		r = detached;
	return r < 0 ? r : nr_blocks;
}

int pin_table_read(struct store_file *file, pin_table_visit visit, void *context)
{
	_cleanup_(sql_finalizep) sqlite3_stmt *query = NULL;

	if (file->version < SQL_VERSION_WITH_EVENTS)
		return 0;
	int r = sql_prepare(file,
			    "SELECT id, first, end, made, automatic, note FROM pin"
			    " ORDER BY first, id",
			    &query);
	while (r == 0 && (r = sql_next(file, query)) > 0) {
		struct pin pin = {
			.first_s = sql_column_number(query, 1),
			.end_s = sql_column_number(query, 2),
			.made_s = sql_column_number(query, 3),
			.is_automatic = sqlite3_column_int(query, 4) != 0,
		};

		sql_column_text(query, 0, pin.id, sizeof(pin.id));
		sql_column_text(query, 5, pin.note, sizeof(pin.note));
		r = visit(&pin, context);
	}
	return r;
}
