/* SPDX-License-Identifier: Apache-2.0 */
/* GET https://KUBELET/pods: the pods of this node, from the node itself. */
#ifndef K8S_KUBELET_H
#define K8S_KUBELET_H

#include "base/cleanup.h"
#include "base/err.h"
#include "base/http_client.h"
#include "base/strbuf.h"

#include <stddef.h>

#define KUBELET_BODY_MAX_BYTES ((size_t)32 << 20) /* 100 pods are 1.1 MB */

struct kubelet_opts {
	const char *url; /* "https://10.0.0.1:10250", "https://[fd00::1]:10250" */
	const char *
		node_name; /* verified against the certificate, whatever the URL's host; NULL: that */
	const char *ca_file; /* NULL: the system's */
	const char *token_file; /* read again for each request: tokens rotate; NULL: none */
	enum http_verify verify;
};

struct kubelet;

/* Errors: -EINVAL for a bad URL, -ENOMEM. */
int kubelet_new(const struct kubelet_opts *opts, struct kubelet **ret_kubelet) must_check;
void kubelet_free(struct kubelet *kubelet);
DEFINE_FREEP(struct kubelet, kubelet_free)

/* Appends the /pods body to `body`. On failure kubelet_error() is a sentence with the remedy.
 * Errors: those of http_perform(); -EACCES for 401, -EPERM for 403, -EBADMSG for any other status;
 * what reading the token file says. The token is never sent over plain http, except to loopback. */
int kubelet_get_pods(struct kubelet *kubelet, struct strbuf *body) must_check;

const char *kubelet_error(const struct kubelet *kubelet);

#endif
