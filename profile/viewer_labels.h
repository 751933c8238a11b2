/* SPDX-License-Identifier: Apache-2.0 */
/* The labels of samples as the viewer gets them (viewer_data.h): the words of labels, and the
 * distinct sets of their values. */
#ifndef PROFILE_VIEWER_LABELS_H
#define PROFILE_VIEWER_LABELS_H

#include "base/err.h"
#include "base/htable.h"
#include "base/intern.h"
#include "profile/label_key.h"
#include "profile/profile.h"
#include "profile/view.h"

#include <stddef.h>
#include <stdint.h>

#define VIEWER_LABELS_MAX 48

struct viewer_labels {
	struct intern *strings; /* borrowed; of the values */
	struct label_key keys[VIEWER_LABELS_MAX];
	size_t nr_keys;
	uint32_t *values; /* owned; of all sets, `nr_keys` each */
	size_t nr_sets, cap_values;
	struct htable index; /* of sets */
};

/* Uses the usual labels, those of the view, and the labels of pods in either profile; `before` may
 * be NULL. All arguments must outlive the labels. */
void viewer_labels_init(struct viewer_labels *labels, struct intern *strings,
			const struct view *view, const struct profile *profile,
			const struct profile *before);
void viewer_labels_done(struct viewer_labels *labels);

/* Finds or adds the set of a sample's labels. Errors: -ENOMEM, -ENOSPC too many values. */
int viewer_labels_get(struct viewer_labels *labels, const struct profile *profile,
		      const struct profile_sample *sample, uint32_t *ret_set) must_check;

/* Returns whether any sample has a value of the label. */
bool viewer_labels_has(const struct viewer_labels *labels, size_t key);

#endif
