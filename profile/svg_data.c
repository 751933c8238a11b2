/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/svg_data.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "profile/diff_svg.h"
#include "profile/flame_color.h"
#include "profile/flame_source.h"
#include "profile/xml.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Nodes that differ only in position and count share a function. */
struct functions {
	const struct profile *profile; /* borrowed */
	const struct flame_tree *tree; /* borrowed */
	const struct diff *diff; /* borrowed; or NULL */
	uint32_t *of_nodes; /* owned; number of each node's function */
	uint32_t *nodes; /* owned; one node of each */
	uint32_t nr;
	struct htable index; /* of functions */
};

static void functions_done(struct functions *functions)
{
	free(functions->of_nodes);
	free(functions->nodes);
	htable_done(&functions->index);
}

/* Returns the profile that a node's function belongs to. */
static const struct profile *profile_of(const struct functions *functions, uint32_t node)
{
	return functions->diff ? diff_profile_of(functions->diff, node) : functions->profile;
}

static bool are_alike(const struct functions *functions, uint32_t node_a, uint32_t node_b)
{
	const struct flame_node *a = &functions->tree->nodes[node_a];
	const struct flame_node *b = &functions->tree->nodes[node_b];

	return a->name_id == b->name_id && a->function == b->function && a->kind == b->kind &&
	       a->is_inlined == b->is_inlined &&
	       profile_of(functions, node_a) == profile_of(functions, node_b);
}

static int add_node(struct functions *functions, uint32_t node)
{
	const struct flame_node *nodes = functions->tree->nodes;
	const uint32_t key[] = { nodes[node].name_id, nodes[node].function, nodes[node].kind,
				 nodes[node].is_inlined };
	uint32_t hash = hash_bytes(key, sizeof(key));

	struct htable_iter it = htable_lookup(&functions->index, hash);
	for (uint32_t i; htable_next(&it, &i);) {
		if (are_alike(functions, functions->nodes[i], node)) {
			functions->of_nodes[node] = i;
			return 0;
		}
	}
	int r = htable_add(&functions->index, hash, functions->nr);
	if (r < 0)
		return r;
	functions->of_nodes[node] = functions->nr;
	functions->nodes[functions->nr++] = node;
	return 0;
}

static int find_functions(struct functions *functions, uint64_t min_count)
{
	const struct flame_tree *tree = functions->tree;
	uint32_t node = 0;
	int r;

	functions->of_nodes = calloc(tree->nr_nodes, sizeof(*functions->of_nodes));
	functions->nodes = calloc(tree->nr_nodes, sizeof(*functions->nodes));
	if (!functions->of_nodes || !functions->nodes)
		return -ENOMEM;
	do {
		r = add_node(functions, node);
		node = flame_tree_next(tree, node, min_count);
	} while (node && r == 0);
	return r;
}

static void put_functions(struct strbuf *out, const struct functions *functions)
{
	strbuf_appendf(out, "%" PRIu32 "\n", functions->nr);
	for (uint32_t i = 0; i < functions->nr; i++) {
		const struct flame_node *node = &functions->tree->nodes[functions->nodes[i]];
		const struct profile *profile = profile_of(functions, functions->nodes[i]);

		flame_color_append(out, node->kind, node->is_inlined, node->name);
		strbuf_appendf(out, "\n%d\n", (int)node->kind);
		xml_append(out, node->name);
		strbuf_append_char(out, '\n');
		flame_source_append(out, "", profile, node);
		strbuf_append_char(out, '\n');
	}
}

static void put_nodes(struct strbuf *out, const struct functions *functions, uint64_t min_count)
{
	const struct flame_node *nodes = functions->tree->nodes;
	uint32_t node = 0;

	do {
		strbuf_appendf(out, "%" PRIu32 ",%" PRIu64 ",%" PRIu32, functions->of_nodes[node],
			       nodes[node].count, nodes[node].depth);
		if (functions->diff)
			strbuf_appendf(out, ",%" PRIu64, nodes[node].before);
		strbuf_append_char(out, ' ');
		node = flame_tree_next(functions->tree, node, min_count);
	} while (node);
}

int svg_data_append(struct strbuf *out, const struct profile *profile,
		    const struct flame_tree *tree, const struct diff *diff)
{
	_cleanup_(functions_done) struct functions functions = {
		.profile = profile,
		.tree = tree,
		.diff = diff,
	};
	const char *values = profile_type_names(profile->type)->values;
	uint64_t min_count = 0;

	while (flame_tree_count(tree, min_count) > SVG_DATA_MAX_NODES)
		min_count += min_count / 4 + 1;
	int r = find_functions(&functions, min_count);
	if (r < 0)
		return r;
	strbuf_append_str(out, "<metadata id=\"tree\">\n");
	strbuf_append(out, values, strlen(values) - 1); /* "samples", of one */
	strbuf_appendf(out, "\n%zu\n", tree->nr_nodes - flame_tree_count(tree, min_count));
	put_functions(out, &functions);
	put_nodes(out, &functions, min_count);
	strbuf_append_str(out, "\n</metadata>\n");
	if (diff)
		diff_svg_append_data(out, diff);
	return 0;
}
