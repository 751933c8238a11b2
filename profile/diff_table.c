/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/diff_table.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NAMES UINT32_MAX
#define NAMES_MAX_BYTES ((size_t)1 << 30)

int diff_table_init(struct diff_table *table)
{
	*table = (struct diff_table){ 0 };
	return intern_init(&table->names, MAX_NAMES, NAMES_MAX_BYTES);
}

void diff_table_done(struct diff_table *table)
{
	free(table->rows);
	intern_done(&table->names);
	htable_done(&table->index);
	*table = (struct diff_table){ 0 };
}

int diff_table_get(struct diff_table *table, const char *name, enum flame_kind kind,
		   uint32_t *ret_row)
{
	uint32_t key[] = { 0, kind };

	int r = intern_add(&table->names, name, &key[0]);
	if (r < 0)
		return r;
	const char *own_name = intern_get(&table->names, key[0]);
	uint32_t hash = hash_bytes(key, sizeof(key));
	struct htable_iter it = htable_lookup(&table->index, hash);
	for (uint32_t i; htable_next(&it, &i);) {
		if (table->rows[i].name == own_name && table->rows[i].kind == kind) {
			*ret_row = i;
			return 0;
		}
	}
	r = array_grow(table->rows, table->cap_rows, table->nr_rows + 1, UINT32_MAX);
	if (r == 0)
		r = htable_add(&table->index, hash, (uint32_t)table->nr_rows);
	if (r < 0)
		return r;
	table->rows[table->nr_rows] = (struct diff_row){ .name = own_name, .kind = kind };
	*ret_row = (uint32_t)table->nr_rows++;
	return 0;
}

static void add_pair(struct diff_pair *sum, struct diff_pair pair)
{
	sum->before += pair.before;
	sum->after += pair.after;
}

/* The functions from the root to a node, for a walk through the tree. */
struct path {
	uint32_t *rows; /* owned; of the nodes, by depth */
	uint32_t *nr_on_path; /* owned; of each row, how often it is on the path */
	uint32_t depth; /* of the last node */
};

static void path_done(struct path *path)
{
	free(path->rows);
	free(path->nr_on_path);
}

static int path_init(struct path *path, const struct flame_tree *tree)
{
	uint32_t max_depth = 0;

	for (size_t i = 0; i < tree->nr_nodes; i++)
		max_depth = tree->nodes[i].depth > max_depth ? tree->nodes[i].depth : max_depth;
	path->rows = calloc((size_t)max_depth + 1, sizeof(*path->rows));
	path->nr_on_path = calloc(tree->nr_nodes + 1, sizeof(*path->nr_on_path));
	return path->rows && path->nr_on_path ? 0 : -ENOMEM;
}

/* Moves from the last node in depth-first order to the next one. Returns whether its function is
 * on the path for the first time. */
static bool path_move(struct path *path, uint32_t depth, uint32_t row)
{
	for (; path->depth >= depth && path->depth > 0; path->depth--)
		path->nr_on_path[path->rows[path->depth]]--;
	path->depth = depth;
	path->rows[depth] = row;
	return path->nr_on_path[row]++ == 0;
}

static int add_node(struct diff_table *table, const struct diff *diff, uint32_t node,
		    struct path *path)
{
	const struct flame_node *n = &diff->tree.nodes[node];
	struct diff_pair self = diff_self(diff, node), total = diff_node(diff, node);
	bool is_process = n->kind == FLAME_PROCESS;
	uint32_t row;

	if (is_process && self.before == 0 && self.after == 0)
		return 0;
	int r = is_process ? diff_table_get(table, "[no stack]", FLAME_STOP, &row)
			   : diff_table_get(table, n->name, diff_kind(n->kind), &row);
	if (r < 0)
		return r;
	add_pair(&table->rows[row].self, self);
	if (is_process)
		add_pair(&table->rows[row].total, self);
	else if (path_move(path, n->depth, row))
		add_pair(&table->rows[row].total, total);
	return 0;
}

int diff_table_add_functions(struct diff_table *table, const struct diff *diff)
{
	_cleanup_(path_done) struct path path = { 0 };
	uint32_t node = 0;

	int r = path_init(&path, &diff->tree);
	while (r == 0 && (node = flame_tree_next(&diff->tree, node, 0)) != 0)
		r = add_node(table, diff, node, &path);
	return r;
}

/* Returns the change that is left without the noise; 0 if nothing is. */
static double sure_change(const struct diff *diff, struct diff_pair pair)
{
	double change = diff_change(diff, pair);

	return copysign(fmax(fabs(change) - diff_noise(diff, pair), 0), change);
}

static int compare_rows(const void *a, const void *b, void *diff)
{
	const struct diff_row *row_a = a, *row_b = b;
	double sure_a = sure_change(diff, row_a->self), sure_b = sure_change(diff, row_b->self);
	double change_a = diff_change(diff, row_a->self), change_b = diff_change(diff, row_b->self);

	if (sure_a > sure_b || sure_a < sure_b)
		return sure_a > sure_b ? -1 : 1;
	if (change_a > change_b || change_a < change_b)
		return change_a > change_b ? -1 : 1;
	int order = strcmp(row_a->name, row_b->name);
	return order ? order : (int)row_a->kind - (int)row_b->kind;
}

void diff_table_sort(struct diff_table *table, const struct diff *diff)
{
	if (table->nr_rows > 0)
		qsort_r(table->rows, table->nr_rows, sizeof(*table->rows), compare_rows,
			(void *)diff);
	htable_clear(&table->index);
}
