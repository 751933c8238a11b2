/* SPDX-License-Identifier: Apache-2.0 */
/* Samples that read the same become one line, whatever else tells them apart. The text of a
 * sample is written behind that of all lines and stays there if it is new. */
#include "profile/folded.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/htable.h"
#include "base/printable.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct line {
	size_t text; /* offset in folded.text */
	uint64_t count;
};

struct folded {
	const struct profile *profile; /* borrowed */
	struct strbuf text; /* all lines without counts, each with a NUL behind it */
	size_t line; /* where the last line of it begins */
	struct line *lines; /* owned */
	size_t nr_lines, cap_lines;
	struct htable index; /* of lines, by text */
};

static void folded_done(struct folded *folded)
{
	strbuf_done(&folded->text);
	free(folded->lines);
	htable_done(&folded->index);
}

void folded_append_frame(struct strbuf *out, const char *name, enum flame_kind kind,
			 bool is_inlined)
{
	static const char *const marks[] = {
		[FLAME_KERNEL] = "_[k]", [FLAME_GO] = "_[g]",	  [FLAME_RUST] = "_[r]",
		[FLAME_JVM] = "_[j]",	 [FLAME_V8JS] = "_[j]",	  [FLAME_CPYTHON] = "_[p]",
		[FLAME_JIT] = "_[j]",	 [FLAME_NR_KINDS] = NULL,
	};
	size_t start = out->len;

	printable_append(out, *name ? name : "[unnamed]");
	if (strbuf_error(out) < 0)
		return;
	for (char *c = out->data + start; (c = strchr(c, ';'));)
		*c = ':';
	if (is_inlined || marks[kind])
		strbuf_append_str(out, is_inlined ? "_[i]" : marks[kind]);
}

/* Writes the functions of a location, outermost first; all others are inlined. */
static void put_location(struct folded *folded, const struct profile_location *location)
{
	const struct profile *p = folded->profile;
	const struct profile_line *lines = profile_location_lines(p, location);

	for (uint32_t i = location->nr_lines; i-- > 0;) {
		if (folded->text.len > folded->line)
			strbuf_append_char(&folded->text, ';');
		folded_append_frame(&folded->text,
				    profile_string(p, p->functions[lines[i].function].name),
				    flame_kind_of(location->kind), i + 1 < location->nr_lines);
	}
}

static void put_text(struct folded *folded, const struct profile_sample *sample)
{
	const struct profile *p = folded->profile;
	const struct profile_stack *stack = &p->stacks[sample->stack];
	struct strbuf *text = &folded->text;

	folded->line = text->len;
	if (!p->is_grouped)
		folded_append_frame(text, profile_string(p, sample->process_comm), FLAME_PROCESS,
				    false);
	for (size_t i = stack->nr; i-- > 0;)
		put_location(folded, &p->locations[p->stack_locations[stack->first + i]]);
	strbuf_append_char(text, '\0');
}

/* Returns the line with the same text as the one at that offset, or NULL. */
static struct line *find_line(const struct folded *folded, size_t text, uint32_t hash)
{
	struct htable_iter it = htable_lookup(&folded->index, hash);

	for (uint32_t i; htable_next(&it, &i);)
		if (strcmp(folded->text.data + folded->lines[i].text, folded->text.data + text) ==
		    0)
			return &folded->lines[i];
	return NULL;
}

static int add_sample(struct folded *folded, const struct profile_sample *sample)
{
	size_t text = folded->text.len;

	put_text(folded, sample);
	if (strbuf_error(&folded->text) < 0)
		return strbuf_error(&folded->text);

	uint32_t hash = hash_bytes(folded->text.data + text, folded->text.len - text);
	struct line *line = find_line(folded, text, hash);
	if (line) {
		line->count += sample->count;
		folded->text.len = text;
		return 0;
	}

	int r = array_grow(folded->lines, folded->cap_lines, folded->nr_lines + 1, UINT32_MAX);
	if (r < 0)
		return r;
	r = htable_add(&folded->index, hash, (uint32_t)folded->nr_lines);
	if (r < 0)
		return r;
	folded->lines[folded->nr_lines++] = (struct line){ text, sample->count };
	return 0;
}

static int compare_lines(const void *a, const void *b, void *text)
{
	const struct line *line_a = a, *line_b = b;

	return strcmp((char *)text + line_a->text, (char *)text + line_b->text);
}

static int encode(struct folded *folded, struct strbuf *out)
{
	for (size_t i = 0; i < folded->profile->nr_samples; i++) {
		int r = add_sample(folded, &folded->profile->samples[i]);
		if (r < 0)
			return r;
		if (folded->text.len > out->max) /* with counts it is longer still */
			return -ENOSPC;
	}

	if (folded->nr_lines > 0)
		qsort_r(folded->lines, folded->nr_lines, sizeof(*folded->lines), compare_lines,
			folded->text.data);
	for (size_t i = 0; i < folded->nr_lines; i++) {
		const struct line *line = &folded->lines[i];

		strbuf_append_str(out, folded->text.data + line->text);
		strbuf_appendf(out, " %" PRIu64 "\n", line->count);
	}
	return strbuf_error(out);
}

int folded_encode(const struct profile *profile, struct strbuf *out)
{
	_cleanup_(folded_done) struct folded folded = {
		.profile = profile,
		.text = strbuf_with_max(SIZE_MAX), /* encode() keeps it to out->max */
	};

	int r = encode(&folded, out);
	if (r < 0)
		out->error = r;
	return r;
}
