/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/frame_rows.h"

#include "base/array.h"
#include "base/hash.h"

#include <stdlib.h>

static bool is_same(const struct frame_row *a, const struct frame_row *b)
{
	return a->name == b->name && a->module == b->module && a->kind == b->kind;
}

static int get_row(struct frame_rows *rows, const struct frame_row *wanted, uint32_t *ret_row)
{
	const uint32_t key[] = { wanted->name, wanted->module, wanted->kind };
	uint32_t hash = hash_bytes(key, sizeof(key));

	struct htable_iter it = htable_lookup(&rows->index, hash);
	for (uint32_t i; htable_next(&it, &i);) {
		if (is_same(&rows->rows[i], wanted)) {
			*ret_row = i;
			return 0;
		}
	}
	int r = array_grow(rows->rows, rows->cap_rows, rows->nr_rows + 1, UINT32_MAX);
	if (r == 0)
		r = htable_add(&rows->index, hash, (uint32_t)rows->nr_rows);
	if (r < 0)
		return r;
	rows->rows[rows->nr_rows] = *wanted;
	*ret_row = (uint32_t)rows->nr_rows++;
	return 0;
}

static int add_location(struct frame_rows *rows, size_t id)
{
	const struct profile *p = rows->profile;
	const struct profile_location *location = &p->locations[id];
	const struct profile_line *lines = profile_location_lines(p, location);
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < location->nr_lines; i++) {
		const struct profile_function *function = &p->functions[lines[i].function];
		const struct frame_row wanted = {
			.name = function->name,
			.module = p->mappings[location->mapping].filename,
			.source = function->filename,
			.start_line = function->start_line,
			.kind = location->kind,
		};
		uint32_t *row = &rows->of_lines[rows->first[id] + i];

		r = get_row(rows, &wanted, row);
		if (r == 0 && !rows->rows[*row].source)
			rows->rows[*row] = wanted;
	}
	return r;
}

static int add_locations(struct frame_rows *rows, const struct profile *profile)
{
	size_t nr_lines = 0;
	int r = 0;

	rows->first = calloc(profile->nr_locations + 1, sizeof(*rows->first));
	if (!rows->first)
		return -ENOMEM;
	for (size_t i = 0; i < profile->nr_locations; i++) {
		rows->first[i] = nr_lines;
		nr_lines += profile->locations[i].nr_lines;
	}
	rows->of_lines = calloc(nr_lines + 1, sizeof(*rows->of_lines));
	if (!rows->of_lines)
		return -ENOMEM;
	/* No stack has location 0. */
	for (size_t i = 1; r == 0 && i < profile->nr_locations; i++)
		r = add_location(rows, i);
	return r;
}

int frame_rows_init(struct frame_rows *rows, const struct profile *profile)
{
	*rows = (struct frame_rows){ .profile = profile };

	int r = add_locations(rows, profile);
	if (r < 0)
		frame_rows_done(rows);
	return r;
}

void frame_rows_done(struct frame_rows *rows)
{
	free(rows->rows);
	free(rows->of_lines);
	free(rows->first);
	htable_done(&rows->index);
	*rows = (struct frame_rows){ 0 };
}

int frame_rows_add_process(struct frame_rows *rows, uint32_t comm, uint32_t *ret_row)
{
	const struct frame_row row = { .name = comm, .kind = FRAME_LABEL };

	return get_row(rows, &row, ret_row);
}

const uint32_t *frame_rows_of(const struct frame_rows *rows, uint32_t location)
{
	return rows->of_lines + rows->first[location];
}

const char *frame_row_name(const struct frame_rows *rows, uint32_t row)
{
	const char *name = profile_string(rows->profile, rows->rows[row].name);

	return *name ? name : "[unnamed]";
}

const char *frame_kind_word(enum frame_kind kind)
{
	static const char *const words[] = {
		[FRAME_NATIVE] = "native",   [FRAME_KERNEL] = "kernel",	 [FRAME_STOP] = "truncated",
		[FRAME_GO] = "go",	     [FRAME_RUST] = "rust",	 [FRAME_JVM] = "jvm",
		[FRAME_V8JS] = "javascript", [FRAME_CPYTHON] = "python", [FRAME_JIT] = "jit",
		[FRAME_LABEL] = "label",
	};

	return words[kind];
}
