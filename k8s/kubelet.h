/* SPDX-License-Identifier: Apache-2.0 */
/* GET https://KUBELET/pods: the pods of this node, from the node itself. A kubelet object belongs
 * to one thread at a time. */
#ifndef K8S_KUBELET_H
#define K8S_KUBELET_H

#include "base/cleanup.h"
#include "base/err.h"
#include "base/http_client.h"
#include "base/strbuf.h"

#include <stddef.h>
#include <stdint.h>

#define KUBELET_BODY_MAX_BYTES ((size_t)32 << 20) /* 100 pods are 1.1 MB */

struct kubelet_opts {
	const char
		*url; /* "https://10.0.0.1:10250", "https://[fd00::1]:10250"; no path; port 10250 */
	const char
		*node_name; /* the name to verify where the URL has an address; NULL: the address */
	const char *ca_file; /* NULL: the system's */
	const char *token_file; /* read again for each request: tokens rotate; NULL: none */
	enum http_verify verify;
	uint64_t timeout_ns; /* of a whole request; 0: 10 s */
};

struct kubelet;

/* Copies what it needs of `opts`. Errors: -EINVAL for a bad URL or node name, -ENOMEM. */
int kubelet_new(const struct kubelet_opts *opts, struct kubelet **ret_kubelet) must_check;
void kubelet_free(struct kubelet *kubelet);
DEFINE_FREEP(struct kubelet, kubelet_free)

/* Reads the /pods body into `body`, an empty buffer, which is empty again after a failure. Then
 * kubelet_error() is a sentence with the remedy.
 * Errors: those of http_perform(); -EACCES for 401, -EPERM for 403, -EBADMSG for any other status
 * and for a token file that holds no token; what reading the token file says. The token is never
 * sent over plain http, except to loopback. */
int kubelet_get_pods(struct kubelet *kubelet, struct strbuf *body) must_check;

/* About the last request; borrowed until the next one. */
const char *kubelet_error(const struct kubelet *kubelet);

const char *kubelet_url(const struct kubelet *kubelet);

#endif
