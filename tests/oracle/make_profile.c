/* SPDX-License-Identifier: Apache-2.0 */
/* Writes sample_profile() to standard output: make_profile pprof|folded|svg */
#include "sample_profile.h"

#include "base/fileio.h"
#include "profile/output.h"

#include <string.h>

#define MAX_BYTES (1 << 20)

static const struct {
	const char *name;
	enum output_format format;
} formats[] = {
	{ "pprof", OUTPUT_PPROF },
	{ "folded", OUTPUT_FOLDED },
	{ "svg", OUTPUT_SVG },
};

static int make(enum output_format format)
{
	const struct output_info info = { .title = "a title", .subtitle = "a subtitle" };
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
	_cleanup_(profile_unrefp) struct profile *profile = sample_profile();
	if (!profile)
		return -ENOMEM;

	int r = output_encode(profile, format, &info, &out);
	return r < 0 ? r : fd_write_all(STDOUT_FILENO, out.data, out.len);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < array_len(formats); i++)
		if (strcmp(argv[1], formats[i].name) == 0)
			return make(formats[i].format) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
	fprintf(stderr, "usage: make_profile pprof|folded|svg\n");
	return 2;
}
