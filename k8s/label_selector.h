/* SPDX-License-Identifier: Apache-2.0 */
/* Kubernetes label selectors, as kubectl -l takes them: "app=web,tier!=db,env in
 * (dev,test),!canary,team". All requirements must hold. (k8s.io/apimachinery/pkg/labels; keys and
 * values as in "Labels and Selectors".) */
#ifndef K8S_LABEL_SELECTOR_H
#define K8S_LABEL_SELECTOR_H

#include "base/cleanup.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "k8s/pod_list.h"

#include <stdbool.h>

#define LABEL_SELECTOR_MAX_BYTES 4096
#define LABEL_SELECTOR_MAX_REQUIREMENTS 64

struct label_selector;

/* On -EINVAL, `reterr_msg` gets the position of the error and the expected token. Errors: -EINVAL,
 * -ENOSPC over a limit, -ENOMEM. */
int label_selector_parse(const char *text, struct strbuf *reterr_msg,
			 struct label_selector **ret_selector) must_check;
void label_selector_free(struct label_selector *selector);
DEFINE_FREEP(struct label_selector, label_selector_free)

/* Appends the requirements as matchers that Prometheus knows, each behind a comma:
 * ,PREFIXapp=~"web|api",PREFIXcanary="". A label that is empty counts as missing. Failures are kept
 * in `out`. */
void label_selector_append_matchers(const struct label_selector *selector, const char *prefix,
				    struct strbuf *out);

/* Returns whether labels fulfil the selector. "!=" and "notin" hold for a missing label, as in
 * Kubernetes. */
bool label_selector_matches(const struct label_selector *selector,
			    const struct pod_attribute *labels, size_t nr_labels);

#endif
