/* SPDX-License-Identifier: Apache-2.0 */
/* Selects samples by their labels, as Prometheus, Pyroscope and Parca do:
 *
 *	{namespace="shop", pod=~"web.*", comm!="bash"}
 *
 * Operators are = and != for a text, =~ and !~ for an extended regular expression that must match
 * the whole value. All matchers must hold. A label that a sample lacks has the value "".
 *
 * profile/label_key.h lists the labels. The braces may be left out. */
#ifndef STORE_SELECTOR_H
#define STORE_SELECTOR_H

#include "base/err.h"
#include "base/strbuf.h"
#include "profile/label_key.h"
#include "store/dict.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct selector {
	struct matcher *matchers; /* owned */
	size_t nr, cap;
};

/* Adds the matchers of a text. On failure `reterr_msg` says what is wrong, and where. Errors:
 * -EINVAL, -ENOSPC too many matchers, -ENOMEM. */
int selector_add(struct selector *selector, const char *text, struct strbuf *reterr_msg) must_check;

/* Adds a matcher for the samples whose label has one of the values; nothing without values. A pod
 * may be "NAMESPACE/NAME". Errors: -ENOSPC, -ENOMEM. */
int selector_add_values(struct selector *selector, const char *key, char *const *values, size_t nr)
	must_check;
void selector_done(struct selector *selector);

/* Returns the label of a matcher, by its number. */
const char *selector_word(const struct selector *selector, size_t number);

/* Returns whether a label set is selected; an empty selector selects all. */
bool selector_matches(const struct selector *selector, const struct dict *dict, uint32_t labels);

/* Return whether a label, or all labels of a selector, are known of the timeline's label sets:
 * those of threads, processes and CPUs are not. */
bool label_is_of_program(const struct label_key *key);
bool selector_is_of_programs(const struct selector *selector);

/* Returns whether a selector uses no label but that of the host. */
bool selector_is_of_hosts(const struct selector *selector);

/* Returns the cgroup id of a label set. */
uint64_t label_cgroup(const struct dict *dict, uint32_t labels);

/* Returns the value of a label, "" if the label set lacks it. It is borrowed from the dictionary,
 * or in `number`. */
const char *label_value(const struct dict *dict, uint32_t labels, const struct label_key *key,
			char number[static LABEL_NUMBER_BYTES]);

#endif
