/* SPDX-License-Identifier: Apache-2.0 */
#include "top/path_text.h"

#include "base/cleanup.h"
#include "top/color.h"

#define FRAME_COLUMNS_MAX 48 /* of a caller; the leaf may take the whole line */
#define FRAME_MAX_BYTES 1024
#define KERNEL_MARK "[k]"

struct path {
	const struct hot_stack *stack;
	const struct cells_style *style;
	size_t columns;
	size_t widths[HOT_FRAMES_MAX];
	size_t arrow; /* cells of " ← " */
	size_t dots; /* cells of " ← …" */
	size_t entry; /* the application's first frame; nr_frames: none, or it is the leaf */
};

static size_t append_frame(struct strbuf *out, const struct hot_frame *frame, size_t columns,
			   const struct cells_style *style)
{
	size_t mark = frame->kind == FRAME_KERNEL ? sizeof(KERNEL_MARK) - 1 : 0;
	size_t room = columns > mark ? columns - mark : 0;
	const char *name = *frame->name ? frame->name : "[unnamed]";

	size_t width = cells_append(out, name, room, ELIDE_LEFT, style);
	if (mark > 0)
		strbuf_append_str(out, KERNEL_MARK);
	return width + mark;
}

static size_t frame_columns(const struct path *path, size_t frame)
{
	return frame == 0 || path->columns < FRAME_COLUMNS_MAX ? path->columns : FRAME_COLUMNS_MAX;
}

static void measure(struct path *path)
{
	const struct hot_stack *stack = path->stack;

	path->arrow = cells_width(cells_symbol(path->style, " ← ", " <- "));
	path->dots = cells_width(cells_symbol(path->style, " ← …", " <- ..."));
	path->entry = 0;
	while (path->entry < stack->nr_frames && stack->frames[path->entry].kind == FRAME_KERNEL)
		path->entry++;
	if (path->entry == 0)
		path->entry = stack->nr_frames;
	for (size_t i = 0; i < stack->nr_frames; i++) {
		_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(FRAME_MAX_BYTES);

		path->widths[i] = append_frame(&text, &stack->frames[i], frame_columns(path, i),
					       path->style);
	}
}

/* Returns the cells of the first `nr` frames and what must follow them. */
static size_t width_with(const struct path *path, size_t nr, bool has_entry)
{
	bool is_whole = nr == path->stack->nr_frames;
	size_t width = path->widths[0];

	for (size_t i = 1; i < nr; i++)
		width += path->arrow + path->widths[i];
	if (!has_entry || nr > path->entry)
		return width + (is_whole ? 0 : path->dots);
	width += path->arrow + path->widths[path->entry];
	if (nr < path->entry)
		width += path->dots;
	return width + (path->entry + 1 < path->stack->nr_frames ? path->dots : 0);
}

/* Returns how many of the first frames fit; 0: not even the leaf with what must follow. */
static size_t fit(const struct path *path, bool has_entry)
{
	size_t nr = path->stack->nr_frames;

	while (nr > 0 && width_with(path, nr, has_entry) > path->columns)
		nr--;
	return nr;
}

static void append_part(struct strbuf *out, const struct path *path, size_t frame)
{
	bool is_kernel = path->stack->frames[frame].kind == FRAME_KERNEL;

	if (frame > 0)
		strbuf_append_str(out, cells_symbol(path->style, " ← ", " <- "));
	color_begin(out, path->style, is_kernel ? COLOR_KERNEL : COLOR_APPLICATION);
	append_frame(out, &path->stack->frames[frame], frame_columns(path, frame), path->style);
	color_end(out, path->style);
}

void path_text_append(struct strbuf *out, const struct hot_stack *stack, size_t columns,
		      const struct cells_style *style)
{
	struct path path = { .stack = stack, .style = style, .columns = columns };

	if (stack->nr_frames == 0)
		return;
	measure(&path);
	bool has_entry = path.entry < stack->nr_frames;
	size_t nr = fit(&path, has_entry);
	if (nr == 0 && has_entry) {
		has_entry = false;
		nr = fit(&path, false);
	}
	if (nr == 0) {
		append_part(out, &path, 0);
		return;
	}
	for (size_t i = 0; i < nr; i++)
		append_part(out, &path, i);
	size_t shown = nr;
	if (has_entry && nr <= path.entry) {
		if (nr < path.entry)
			strbuf_append_str(out, cells_symbol(style, " ← …", " <- ..."));
		append_part(out, &path, path.entry);
		shown = path.entry + 1;
	}
	if (shown < stack->nr_frames)
		strbuf_append_str(out, cells_symbol(style, " ← …", " <- ..."));
}
