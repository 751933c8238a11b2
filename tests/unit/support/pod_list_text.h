/* SPDX-License-Identifier: Apache-2.0 */
/* Pod lists of a text that is there as a whole. */
#ifndef TESTS_UNIT_POD_LIST_TEXT_H
#define TESTS_UNIT_POD_LIST_TEXT_H

#include "k8s/pod_list_reader.h"

/* Errors: those of the reader's functions. */
int pod_list_parse(const char *body, size_t len, const struct pod_list_opts *opts,
		   struct pod_list **ret_list) must_check;

#endif
