/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the pods of this node from its kubelet: GET https://KUBELET/pods. A kubelet object belongs
 * to one thread at a time. */
#ifndef K8S_KUBELET_H
#define K8S_KUBELET_H

#include "base/cleanup.h"
#include "base/err.h"
#include "base/http_client.h"
#include "k8s/pod_list.h"
#include "worker/worker_client.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kubelet_opts {
	/* "https://10.0.0.1:10250", "https://[fd00::1]:10250"; no path; port 10250 */
	const char *url;
	/* The name to verify if the URL has an address; NULL: the address */
	const char *node_name;
	/* NULL: the system's; the kubelet's own for HTTP_VERIFY_PINNED. Read for each request */
	const char *ca_file;
	const char *token_file; /* read again for each request: tokens rotate; NULL: none */
	enum http_verify verify;
	uint64_t timeout_ns; /* for the whole request; 0: 10 s */
};

struct kubelet;

/* Copies the options. Errors: -EINVAL invalid URL or node name, -ENOMEM. */
int kubelet_new(const struct kubelet_opts *opts, struct kubelet **ret_kubelet) must_check;
void kubelet_free(struct kubelet *kubelet);
DEFINE_FREEP(struct kubelet, kubelet_free)

/* Prevents further requests; a current request fails within a second. May be called from any
 * thread. */
void kubelet_give_up(struct kubelet *kubelet);

/* Reads the pods of the node through a worker process (kubelet_worker.h). After a failure,
 * kubelet_error() returns a sentence with the remedy, which never contains parts of a pod list.
 * Errors: those of http_perform(); -EACCES for 401, -EPERM for 403, -EBADMSG for any other status,
 * an invalid pod list or a token file without a token; -ENOSPC for a body over
 * KUBELET_BODY_MAX_BYTES or pods over `opts->max_bytes`; those of reading the token file and of
 * worker_client_ask(). The token is never sent over plain http, except to loopback. */
int kubelet_get_pods(struct kubelet *kubelet, const struct pod_list_opts *opts,
		     struct pod_list **ret_list) must_check;

/* Describes the last failure; borrowed until the next request. */
const char *kubelet_error(const struct kubelet *kubelet);

/* Statistics of the last request. */
struct kubelet_stats {
	unsigned int status; /* of the answer; 0: none, or an incomplete one */
	unsigned int http_version; /* 1 or 2; 0 with status 0 */
	size_t nr_bytes; /* read of the pod list */
};
struct kubelet_stats kubelet_get_stats(const struct kubelet *kubelet);

/* Returns statistics of the worker process. */
struct worker_stats kubelet_get_worker_stats(const struct kubelet *kubelet);

/* Returns whether no certificate is verified, so that another server could impersonate the kubelet
 * and receive the token. */
bool kubelet_is_insecure(const struct kubelet *kubelet);

const char *kubelet_url(const struct kubelet *kubelet);

#endif
