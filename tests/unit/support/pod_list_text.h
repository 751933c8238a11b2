/* SPDX-License-Identifier: Apache-2.0 */
/* Pod lists of a text that is there as a whole. */
#ifndef TESTS_UNIT_POD_LIST_TEXT_H
#define TESTS_UNIT_POD_LIST_TEXT_H

#include "k8s/pod_list_reader.h"

/* Errors: those of the reader's functions. */
static inline int pod_list_parse(const char *body, size_t len, const struct pod_list_opts *opts,
				 struct pod_list **ret_list)
{
	_cleanup_(pod_list_reader_freep) struct pod_list_reader *reader = NULL;

	int r = pod_list_reader_new(opts, &reader);
	if (r == 0)
		r = pod_list_reader_feed(reader, body, len);
	return r < 0 ? r : pod_list_reader_finish(reader, ret_list);
}

#endif
