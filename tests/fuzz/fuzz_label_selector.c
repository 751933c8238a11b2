/* SPDX-License-Identifier: Apache-2.0 */
/* Two lines: a selector, and a value that a few labels have. Whether they match is answered alike
 * when the selector says everything twice. */
#include "k8s/label_selector.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static struct label_selector *parse(const char *text)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(65536);
	struct label_selector *selector = NULL;

	int r = label_selector_parse(text, &message, &selector);
	if ((r == 0) != (message.len == 0) || (r == 0) != (selector != NULL))
		abort();
	return selector;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_free_ char *text = strndup((const char *)data, len);
	_cleanup_(strbuf_done) struct strbuf twice = strbuf_with_max(65536);
	char *rest = text;

	if (!text)
		return 0;

	const char *line = strsep(&rest, "\n");
	const char *value = rest ? rest : "";
	const struct pod_attribute labels[] = { { "app", value },
						{ "tier", "web" },
						{ "a/b", "" } };
	_cleanup_(label_selector_freep) struct label_selector *once = parse(line);
	if (!once)
		return 0;
	if (line[strspn(line, " \t\r")] == '\0')
		return label_selector_matches(once, NULL, 0) ? 0 : (abort(), 0);

	strbuf_appendf(&twice, "%s,%s", line, line);
	_cleanup_(label_selector_freep) struct label_selector *both = parse(strbuf_str(&twice));
	if (both && label_selector_matches(once, labels, array_len(labels)) !=
			    label_selector_matches(both, labels, array_len(labels)))
		abort();
	return 0;
}
