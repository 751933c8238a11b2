/* SPDX-License-Identifier: Apache-2.0 */
/* Writes sample_profile(), large_profile() or label_profile() to standard output: make_profile KIND
 * [SUBJECT]. "plain-html" is the page of programs without the viewer. */
#include "label_profile.h"
#include "large_profile.h"
#include "sample_profile.h"

#include "base/fileio.h"
#include "profile/html.h"
#include "profile/output.h"
#include "profile/view.h"

#include <string.h>

#define MAX_BYTES ((size_t)16 << 20)

/* The view with a profile for each pod. */
static struct profile *pod_profile(void)
{
	static const char *const groups[] = { "pod" };
	const struct view view = { .groups = groups, .nr_groups = 1 };
	_cleanup_(profile_unrefp) struct profile *profile = sample_profile();
	struct view_result result;

	return profile && view_apply(&view, profile, MAX_BYTES, &result) == 0 ? result.profile
									      : NULL;
}

static const struct kind {
	const char *name;
	enum output_format format;
	struct profile *(*make)(void);
} kinds[] = {
	{ "pprof", OUTPUT_PPROF, sample_profile },
	{ "folded", OUTPUT_FOLDED, sample_profile },
	{ "svg", OUTPUT_SVG, sample_profile },
	{ "large-svg", OUTPUT_SVG, large_profile },
	{ "label-svg", OUTPUT_SVG, label_profile },
	{ "plain-html", OUTPUT_HTML, sample_profile },
	{ "html", OUTPUT_HTML, sample_profile },
	{ "large-html", OUTPUT_HTML, large_profile },
	{ "label-html", OUTPUT_HTML, label_profile },
	{ "firefox", OUTPUT_FIREFOX, sample_profile },
	{ "speedscope", OUTPUT_SPEEDSCOPE, sample_profile },
	{ "pod-speedscope", OUTPUT_SPEEDSCOPE, pod_profile },
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

	const struct output_content content = output_content_of(profile);

	int r = strcmp(kind->name, "plain-html") == 0
			? html_encode(profile, &caption, &out)
			: output_encode(&content, kind->format, &caption, &out);
	return r < 0 ? r : fd_write_all(STDOUT_FILENO, out.data, out.len);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; (argc == 2 || argc == 3) && i < array_len(kinds); i++)
		if (strcmp(argv[1], kinds[i].name) == 0)
			return make(&kinds[i], argv[2]) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
	fprintf(stderr, "usage: make_profile KIND [SUBJECT]\n");
	return 2;
}
