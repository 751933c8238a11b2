/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/export_rest.h"

#include "base/text.h"

#include <inttypes.h>

static const char *source_of(const struct options *options)
{
	if (options->stores.nr > 0)
		return "the record still has";
	return options->files.nr == 1 ? "the file still has" : "the files still have";
}

static void append_count(const struct export_rest *rest, const struct options *options,
			 struct strbuf *out)
{
	if (rest->nr_samples > 0) {
		text_append_count(out, rest->nr_samples);
		strbuf_append_str(out, " samples were not accepted ");
		strbuf_append_str(out, rest->was_stopped ? "before flamelet was stopped"
							 : "within --wait");
		strbuf_append_str(out, rest->has_unread ? ", and the rest of the range was not sent"
							: "");
	} else {
		strbuf_append_str(out, "the end of the range was not sent");
	}
	strbuf_appendf(out, "; %s %s\n", source_of(options), rest->nr_samples > 0 ? "them" : "it");
}

static void append_command(const struct export_rest *rest, const struct options *options,
			   struct strbuf *out)
{
	strbuf_append_str(out, "flamelet export");
	for (size_t i = 0; i < options->stores.nr; i++) {
		strbuf_append_str(out, " --store ");
		text_append_shell_word(out, options->stores.items[i]);
	}
	if (options->stores.nr > 0)
		strbuf_appendf(out, " %" PRIu64 "..%" PRIu64, rest->range.first_s,
			       rest->range.end_s);
	for (size_t i = rest->first_file; options->stores.nr == 0 && i < options->files.nr; i++) {
		strbuf_append_char(out, ' ');
		text_append_shell_word(out, options->files.items[i]);
	}
	strbuf_append_char(out, '\n');
}

void export_rest_append(const struct export_rest *rest, const struct options *options,
			struct strbuf *out)
{
	append_count(rest, options, out);
	strbuf_append_str(out, "to send what is left, of which a part may have arrived, add your "
			       "other options to: ");
	append_command(rest, options, out);
}
