/* SPDX-License-Identifier: Apache-2.0 */
/* What a server answers: ExportProfilesServiceResponse with success, google.rpc.Status with an error. */
#ifndef OTLP_RESPONSE_H
#define OTLP_RESPONSE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

#define RESPONSE_MESSAGE_BYTES 256

struct response {
	uint64_t nr_rejected_profiles;
	char message[RESPONSE_MESSAGE_BYTES]; /* the server's words, cut to fit; "": none */
};

/* The body of a 2xx; an empty one is full success. Errors: -EBADMSG. */
int response_parse_success(const void *body, size_t len, struct response *ret_response) must_check;

/* The body of an error. Errors: -EBADMSG. */
int response_parse_status(const void *body, size_t len, struct response *ret_response) must_check;

#endif
