/* SPDX-License-Identifier: Apache-2.0 */
/* Parses pod lists that are in memory as a whole. */
#ifndef TESTS_UNIT_POD_LIST_TEXT_H
#define TESTS_UNIT_POD_LIST_TEXT_H

#include "k8s/pod_list_reader.h"

/* The caller frees the list. Errors: those of the reader's functions. */
int pod_list_parse(const char *body, size_t len, const struct pod_list_opts *opts,
		   struct pod_list **ret_list) must_check;

#endif
