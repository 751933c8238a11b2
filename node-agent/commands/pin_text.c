/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/pin_text.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/minmax.h"
#include "base/printable.h"
#include "commands/record_query.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#define ID_COLUMNS 6
#define MAX_PINS 10000

static int add_pins(const char *path, const struct time_range *range, struct pin_list *pins)
{
	_cleanup_(pin_list_done) struct pin_list all = { 0 };
	struct stat status;

	if (stat(path, &status) < 0 || !S_ISDIR(status.st_mode))
		return 0;
	int r = pin_dir_list(path, &all);
	for (size_t i = 0; r == 0 && i < all.nr; i++) {
		if (all.items[i].first_s >= range->end_s || all.items[i].end_s <= range->first_s)
			continue;
		r = array_grow(pins->items, pins->cap, pins->nr + 1, MAX_PINS);
		if (r == 0)
			pins->items[pins->nr++] = all.items[i];
	}
	return r;
}

void pin_text_collect(const struct string_list *stores, const struct time_range *range,
		      struct strbuf *messages, struct pin_list *pins)
{
	for (size_t i = 0; i < stores->nr; i++) {
		int r = add_pins(stores->items[i], range, pins);

		if (r < 0)
			strbuf_appendf(messages, "%s: pins are left out: %s\n", stores->items[i],
				       strerror(-r));
	}
}

void pin_text_append(const struct pin_list *pins, uint64_t bytes, struct strbuf *out)
{
	char first[RECORD_TIME_BYTES], end[RECORD_TIME_BYTES];

	strbuf_appendf(out, "%-*s  %-19s  %-19s  note\n", ID_COLUMNS, "pin", "from", "to");
	for (size_t i = 0; i < pins->nr; i++) {
		const struct pin *pin = &pins->items[i];

		record_query_format_time(pin->first_s, first);
		record_query_format_time(pin->end_s, end);
		size_t before = out->len;
		printable_append(out, pin->id);
		strbuf_appendf(out, "%*s  %-19s  %-19s  ",
			       ID_COLUMNS - (int)min_u64(out->len - before, ID_COLUMNS), "", first,
			       end);
		printable_append(out, pin->note);
		strbuf_append_str(out, pin->is_automatic ? " (automatic)\n" : "\n");
	}
	strbuf_appendf(out, "%zu pins, %.1f MB\n", pins->nr, (double)bytes / 1e6);
}

void pin_text_append_json(const struct pin_list *pins, struct strbuf *out)
{
	strbuf_append_char(out, '[');
	for (size_t i = 0; i < pins->nr; i++) {
		const struct pin *pin = &pins->items[i];

		strbuf_append_str(out, i > 0 ? ",{\"id\":\"" : "{\"id\":\"");
		printable_append_quoted(out, pin->id, "\"\\");
		strbuf_appendf(out,
			       "\",\"first\":%" PRIu64 ",\"end\":%" PRIu64 ",\"made\":%" PRIu64
			       ",\"automatic\":%s,\"note\":\"",
			       pin->first_s, pin->end_s, pin->made_s,
			       pin->is_automatic ? "true" : "false");
		printable_append_quoted(out, pin->note, "\"\\");
		strbuf_append_str(out, "\"}");
	}
	strbuf_append_char(out, ']');
}
