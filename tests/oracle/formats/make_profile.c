/* SPDX-License-Identifier: Apache-2.0 */
/* Writes sample_profile(), large_profile() or label_profile() to standard output: make_profile KIND
 * [SUBJECT] */
#include "label_profile.h"
#include "large_profile.h"
#include "sample_profile.h"

#include "base/fileio.h"
#include "profile/output.h"

#include <string.h>

#define MAX_BYTES ((size_t)16 << 20)

static const struct kind {
	const char *name;
	enum output_format format;
	struct profile *(*make)(void);
} kinds[] = {
	{ "pprof", OUTPUT_PPROF, sample_profile },  { "folded", OUTPUT_FOLDED, sample_profile },
	{ "svg", OUTPUT_SVG, sample_profile },	    { "large-svg", OUTPUT_SVG, large_profile },
	{ "label-svg", OUTPUT_SVG, label_profile },
};

static int make(const struct kind *kind, const char *subject)
{
	const struct caption caption = { .subject = subject,
					 .title = "a title",
					 .subtitle = "a subtitle" };
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
	_cleanup_(profile_unrefp) struct profile *profile = kind->make();
	if (!profile)
		return -ENOMEM;

	int r = output_encode(profile, kind->format, &caption, &out);
	return r < 0 ? r : fd_write_all(STDOUT_FILENO, out.data, out.len);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; (argc == 2 || argc == 3) && i < array_len(kinds); i++)
		if (strcmp(argv[1], kinds[i].name) == 0)
			return make(&kinds[i], argv[2]) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
	fprintf(stderr, "usage: make_profile pprof|folded|svg|large-svg|label-svg [SUBJECT]\n");
	return 2;
}
