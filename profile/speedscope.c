/* SPDX-License-Identifier: Apache-2.0 */
/* https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources and the schema in
 * src/lib/file-format-spec.ts. */
#include "profile/speedscope.h"

#include "base/cleanup.h"
#include "base/json_text.h"
#include "profile/split.h"

#include <inttypes.h>
#include <string.h>

#define HEAD                                                                                       \
	"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","                     \
	"\"exporter\":\"flamelet@" FLAMELET_VERSION "\",\"activeProfileIndex\":0,"

/* Returns what speedscope colours by and shows below a name: the source file or, without one, the
 * file that the code is in. */
static const char *file_of(const struct frame_rows *rows, const struct frame_row *row)
{
	if (row->source)
		return profile_string(rows->profile, row->source);
	if (row->module)
		return profile_string(rows->profile, row->module);
	return row->kind == FRAME_NATIVE ? "" : frame_kind_word(row->kind);
}

static void put_frames(struct strbuf *out, const struct frame_rows *rows)
{
	strbuf_append_str(out, "\"shared\":{\"frames\":[");
	for (uint32_t i = 0; i < rows->nr_rows; i++) {
		const struct frame_row *row = &rows->rows[i];
		const char *file = file_of(rows, row);

		strbuf_append_str(out, i > 0 ? ",\n{" : "\n{");
		json_append_member(out, "name", frame_row_name(rows, i));
		if (*file) {
			strbuf_append_char(out, ',');
			json_append_member(out, "file", file);
		}
		if (row->source && row->start_line)
			strbuf_appendf(out, ",\"line\":%" PRIu32, row->start_line);
		strbuf_append_char(out, '}');
	}
	strbuf_append_str(out, "]},\n");
}

/* The name of the part stands for its root. */
static void put_stack(struct strbuf *out, const struct frame_rows *rows,
		      const struct stack_sum *sum, bool has_root)
{
	struct stack_walk walk = stack_walk_of(rows, sum);
	const char *separator = "";

	if (!has_root)
		(void)stack_walk_next(&walk);
	strbuf_append_char(out, '[');
	while (stack_walk_next(&walk)) {
		strbuf_appendf(out, "%s%" PRIu32, separator, walk.row);
		separator = ",";
	}
	strbuf_append_char(out, ']');
}

static uint64_t weight_of(const struct profile *profile)
{
	return profile->type == PROFILE_CPU && profile->period > 0 ? profile->period : 1;
}

/* Returns speedscope's word for the unit of a weight. */
static const char *unit_of(const struct profile *profile)
{
	const char *unit = profile_type_names(profile->type)->sample_unit;

	if (profile->type == PROFILE_CPU)
		return profile->period > 0 ? "nanoseconds" : "none";
	return strcmp(unit, "nanoseconds") == 0 || strcmp(unit, "bytes") == 0 ? unit : "none";
}

static void put_part(struct strbuf *out, const struct frame_rows *rows, const struct split *split,
		     const struct split_part *part, const char *title)
{
	const struct stack_sum *sums = split->sums.items + part->first;
	uint64_t weight = weight_of(rows->profile);
	bool is_all = part->root == NO_ROOT;

	strbuf_append_str(out, "{\"type\":\"sampled\",");
	json_append_member(out, "name", is_all ? title : frame_row_name(rows, part->root));
	strbuf_appendf(out, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" PRIu64,
		       unit_of(rows->profile), part->count * weight);
	strbuf_append_str(out, ",\n\"samples\":[");
	for (size_t i = 0; i < part->nr; i++) {
		strbuf_append_str(out, i > 0 ? ",\n" : "\n");
		put_stack(out, rows, &sums[i], is_all);
	}
	strbuf_append_str(out, "],\n\"weights\":[");
	for (size_t i = 0; i < part->nr; i++)
		strbuf_appendf(out, "%s%" PRIu64, i > 0 ? "," : "", sums[i].count * weight);
	strbuf_append_str(out, "]}");
}

/* A file without profiles is refused, so one without samples has an empty one. */
static void put_parts(struct strbuf *out, const struct frame_rows *rows, const struct split *split,
		      const char *title)
{
	const struct split_part none = { .root = NO_ROOT };

	strbuf_append_str(out, "\"profiles\":[");
	if (split->nr_parts == 0)
		put_part(out, rows, split, &none, title);
	for (size_t i = 0; i < split->nr_parts; i++) {
		strbuf_append_str(out, i > 0 ? ",\n" : "");
		put_part(out, rows, split, &split->parts[i], title);
	}
	strbuf_append_str(out, "]}\n");
}

static int encode(struct frame_rows *rows, const struct caption *caption, struct strbuf *out)
{
	_cleanup_(split_done) struct split split = { 0 };

	int r = split_init(&split, rows, false);
	if (r < 0)
		return r;
	strbuf_append_str(out, HEAD);
	json_append_member(out, "name", caption->title);
	strbuf_append_str(out, ",\n");
	put_frames(out, rows);
	put_parts(out, rows, &split, caption->title);
	return strbuf_error(out);
}

int speedscope_encode(const struct profile *profile, const struct caption *caption,
		      struct strbuf *out)
{
	_cleanup_(frame_rows_done) struct frame_rows rows = { 0 };

	int r = frame_rows_init(&rows, profile);
	if (r == 0)
		r = encode(&rows, caption, out);
	strbuf_fail(out, r);
	return r;
}
