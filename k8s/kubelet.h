/* SPDX-License-Identifier: Apache-2.0 */
/* GET https://KUBELET/pods: the pods of this node, from the node itself. A kubelet object belongs
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
	/* The name to verify where the URL has an address; NULL: the address */
	const char *node_name;
	/* NULL: the system's; the kubelet's own for HTTP_VERIFY_PINNED. Read for each request */
	const char *ca_file;
	const char *token_file; /* read again for each request: tokens rotate; NULL: none */
	enum http_verify verify;
	uint64_t timeout_ns; /* of a whole request; 0: 10 s */
};

struct kubelet;

/* Copies what it needs of `opts`. Errors: -EINVAL for a bad URL or node name, -ENOMEM. */
int kubelet_new(const struct kubelet_opts *opts, struct kubelet **ret_kubelet) must_check;
void kubelet_free(struct kubelet *kubelet);
DEFINE_FREEP(struct kubelet, kubelet_free)

/* From now on no request begins, and one that is under way fails within a second. For any
 * thread. */
void kubelet_give_up(struct kubelet *kubelet);

/* Asks for the pods of the node, by a process of its own (kubelet_worker.h). On failure
 * kubelet_error() is a sentence with the remedy; nothing of a pod list is ever in it. Errors: those
 * of http_perform(); -EACCES for 401, -EPERM for 403, -EBADMSG for any other status, for what is no
 * pod list and for a token file that holds no token; -ENOSPC for a body over KUBELET_BODY_MAX_BYTES
 * or pods over `opts->max_bytes`; what reading the token file says; those of worker_client_send()
 * and worker_client_wait() for that process. The token is never sent over plain http, except to
 * loopback. */
int kubelet_get_pods(struct kubelet *kubelet, const struct pod_list_opts *opts,
		     struct pod_list **ret_list) must_check;

/* About the last request; borrowed until the next one. */
const char *kubelet_error(const struct kubelet *kubelet);

/* About the last request. */
struct kubelet_stats {
	unsigned int status; /* of the answer; 0: none came, or it was not whole */
	unsigned int http_version; /* 1 or 2; 0 with status 0 */
	size_t nr_bytes; /* of the pod list, as far as it was read */
};
struct kubelet_stats kubelet_get_stats(const struct kubelet *kubelet);

/* Of the process that asks; one that answers nonsense counts among the dead. */
struct worker_stats kubelet_get_worker_stats(const struct kubelet *kubelet);

/* Whether anybody could answer in the kubelet's place, and be shown the token: no certificate is
 * verified. */
bool kubelet_is_insecure(const struct kubelet *kubelet);

const char *kubelet_url(const struct kubelet *kubelet);

#endif
