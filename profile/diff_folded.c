/* SPDX-License-Identifier: Apache-2.0 */
/* The text of the path to the current node is kept while the tree is walked through: a node cuts it
 * to that of its parent and appends its own name. */
#include "profile/diff_folded.h"

#include "base/cleanup.h"
#include "profile/folded.h"

#include <inttypes.h>
#include <stdlib.h>

struct path {
	struct strbuf text;
	size_t *lengths; /* owned; of the text at the node of each depth */
};

static void path_done(struct path *path)
{
	strbuf_done(&path->text);
	free(path->lengths);
}

static int path_init(struct path *path, const struct flame_tree *tree, size_t max_bytes)
{
	uint32_t max_depth = 0;

	for (size_t i = 0; i < tree->nr_nodes; i++)
		max_depth = tree->nodes[i].depth > max_depth ? tree->nodes[i].depth : max_depth;
	path->text = strbuf_with_max(max_bytes);
	path->lengths = calloc((size_t)max_depth + 1, sizeof(*path->lengths));
	return path->lengths ? 0 : -ENOMEM;
}

static void put_counts(const struct diff *diff, struct diff_pair self, struct strbuf *out)
{
	if (diff->scale < 1 || diff->scale > 1)
		strbuf_appendf(out, " %.2f", (double)self.before * diff->scale);
	else
		strbuf_appendf(out, " %" PRIu64, self.before);
	strbuf_appendf(out, " %" PRIu64 "\n", self.after);
}

static int put_node(const struct diff *diff, uint32_t node, struct path *path, struct strbuf *out)
{
	const struct flame_node *n = &diff->tree.nodes[node];
	struct diff_pair self = diff_self(diff, node);

	strbuf_truncate(&path->text, path->lengths[n->depth - 1]);
	if (n->depth > 1)
		strbuf_append_char(&path->text, ';');
	folded_append_frame(&path->text, n->name, n->kind, n->is_inlined);
	path->lengths[n->depth] = path->text.len;
	if (self.before > 0 || self.after > 0) {
		strbuf_append(out, strbuf_str(&path->text), path->text.len);
		put_counts(diff, self, out);
	}
	return strbuf_error(&path->text);
}

int diff_folded_encode(const struct diff *diff, struct strbuf *out)
{
	_cleanup_(path_done) struct path path = { 0 };
	uint32_t node = 0;

	int r = path_init(&path, &diff->tree, out->max);
	while (r == 0 && (node = flame_tree_next(&diff->tree, node, 0)) != 0)
		r = put_node(diff, node, &path, out);
	strbuf_fail(out, r);
	return strbuf_error(out);
}
