/* SPDX-License-Identifier: Apache-2.0 */
/* What a server answers: ExportProfilesServiceResponse with success, google.rpc.Status with an
 * error. */
#ifndef OTLP_TRANSPORT_RESPONSE_H
#define OTLP_TRANSPORT_RESPONSE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct response {
	uint64_t nr_rejected_profiles;
	const unsigned char *message; /* the server's words, any bytes; borrowed from the body */
	size_t message_len;
	bool has_retry_info; /* google.rpc.RetryInfo: the request may be repeated … */
	uint64_t retry_delay_ns; /* … after so long; 0: it does not say, or nonsense */
};

/* The body of a success; an empty one is full success. Errors: -EBADMSG. */
int response_parse_success(const void *body, size_t len, struct response *ret_response) must_check;

/* The body of an error. Errors: -EBADMSG. */
int response_parse_status(const void *body, size_t len, struct response *ret_response) must_check;

#endif
