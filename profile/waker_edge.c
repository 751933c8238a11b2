/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/waker_edge.h"

#include "base/cleanup.h"
#include "profile/waker_frame.h"

#include <string.h>

#define LABEL_MAX_BYTES 16384

/* Appends "web" for "[woken by worker of web]". */
static void append_waker(const char *frame, struct strbuf *out)
{
	const char *name = frame + strlen(WAKER_FRAME_PREFIX);
	size_t len = strlen(name);

	for (const char *of = name; (of = strstr(of, " of "));) {
		of += strlen(" of ");
		len = strlen(of);
		name = of;
	}
	strbuf_append(out, name, len > 0 ? len - 1 : 0); /* without the bracket */
}

static void append_sleeper(const struct profile *profile, const struct profile_sample *sample,
			   struct strbuf *out)
{
	const char *pod = profile_resource_get(profile, sample->resource, "k8s.pod.name");
	const char *ns = profile_resource_get(profile, sample->resource, "k8s.namespace.name");

	if (pod && ns)
		strbuf_appendf(out, "%s/", ns);
	strbuf_append_str(out, pod ? pod : profile_string(profile, sample->process_comm));
}

bool waker_edge_append(const struct profile *profile, const struct profile_sample *sample,
		       const char *between, struct strbuf *out)
{
	size_t depth = waker_frame_depth(profile, sample->stack);
	const struct profile_stack *stack = &profile->stacks[sample->stack];

	if (depth == 0 || wait_reason_is_queued(sample->reason))
		return false;
	uint32_t frame = profile->stack_locations[stack->first + depth - 1];
	append_waker(profile_location_name(profile, frame), out);
	strbuf_append_str(out, between);
	append_sleeper(profile, sample, out);
	return true;
}

int waker_edge_rank(const struct profile *profile, const char *between, struct ranking *ranking)
{
	_cleanup_(strbuf_done) struct strbuf label = strbuf_with_max(LABEL_MAX_BYTES);

	int r = ranking_init(ranking);
	for (size_t i = 0; r == 0 && i < profile->nr_samples; i++) {
		const struct profile_sample *sample = &profile->samples[i];

		strbuf_clear(&label);
		if (waker_edge_append(profile, sample, between, &label))
			r = ranking_add(ranking, strbuf_str(&label), sample->count);
	}
	return r;
}
