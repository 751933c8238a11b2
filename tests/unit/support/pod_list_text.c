/* SPDX-License-Identifier: Apache-2.0 */
#include "pod_list_text.h"

#include "base/cleanup.h"

int pod_list_parse(const char *body, size_t len, const struct pod_list_opts *opts,
		   struct pod_list **ret_list)
{
	_cleanup_(pod_list_reader_freep) struct pod_list_reader *reader = NULL;

	int r = pod_list_reader_new(opts, &reader);
	if (r == 0)
		r = pod_list_reader_feed(reader, body, len);
	return r < 0 ? r : pod_list_reader_finish(reader, ret_list);
}
