/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the labels that the samples of a record have: a user who asks for another one is shown the
 * list. */
#ifndef STORE_LABEL_NAMES_H
#define STORE_LABEL_NAMES_H

#include "base/err.h"
#include "profile/label_key.h"
#include "store/store_reader.h"

#include <stdbool.h>
#include <stddef.h>

struct label_names {
	char **attributes; /* owned, as the texts are; keys */
	size_t nr, cap;
	bool has_cpu, has_reason; /* some sample has the label "cpu", or "reason" */
};

void label_names_done(struct label_names *names);

/* Collects the labels of all files that have samples of a range. Files that cannot be read, and
 * keys beyond a thousand, are left out. Errors: -ENOMEM. */
int label_names_read(const struct store_reader *reader, const struct time_range *range,
		     struct label_names *ret_names) must_check;

/* Returns whether a sample may have a label. All have those of processes, and the host. */
bool label_names_have(const struct label_names *names, const struct label_key *key);

/* Appends all labels, "pod, host, comm, k8s.pod.label.app": the words of profile/label_key.h, then
 * all other attributes. */
void label_names_append(const struct label_names *names, struct strbuf *out);

#endif
