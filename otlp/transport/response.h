/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the body of an answer: an ExportProfilesServiceResponse for success, a google.rpc.Status
 * for an error. */
#ifndef OTLP_TRANSPORT_RESPONSE_H
#define OTLP_TRANSPORT_RESPONSE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct response {
	uint64_t nr_rejected_profiles;
	const unsigned char *message; /* from the server, any bytes; borrowed from the body */
	size_t message_len;
	bool has_retry_info; /* google.rpc.RetryInfo: the request may be retried … */
	uint64_t retry_delay_ns; /* … after this time; 0: missing or invalid */
};

/* Parses the body of a success; an empty body is a full success. Errors: -EBADMSG. */
int response_parse_success(const void *body, size_t len, struct response *ret_response) must_check;

/* Parses the body of an error. Errors: -EBADMSG. */
int response_parse_status(const void *body, size_t len, struct response *ret_response) must_check;

#endif
