/* SPDX-License-Identifier: Apache-2.0 */
/* The process that queries the kubelet for the agent. It parses HTTP, TLS and JSON of the kubelet's
 * answers without privileges (worker_sandbox.h).
 *
 *	agent: kubelet ──http_order──▶ worker: kubelet_worker_main() ──▶ kubelet
 *	               ◀──answer, pods──                            ◀──
 *
 * An answer is a kubelet_answer, followed by the pods (pod_block.h) if there are any. */
#ifndef K8S_KUBELET_WORKER_H
#define K8S_KUBELET_WORKER_H

#include "base/strbuf.h"
#include "k8s/pod_list.h"

#include <stddef.h>

#define KUBELET_WORKER_COMMAND "kubelet-worker" /* argv[1] */

#define KUBELET_BODY_MAX_BYTES ((size_t)64 << 20) /* 5000 pods of 11 KB; not kept */

/* Its memory (RLIMIT_DATA): the list (32 MB at most) with either a pod's text and tree (4 and 32
 * MB) or the reply (twice the list), a thread's stack (8 MB), TLS. With 5000 pods it takes 20
 * MB. */
#define KUBELET_WORKER_DATA_BYTES ((size_t)128 << 20)

/* Appends the pod list's options, which travel in the order's `extra` field beside the HTTP
 * request. */
void kubelet_task_append(struct strbuf *out, const struct pod_list_opts *opts);

/* Runs the command: answers requests until the socket is closed. Returns the exit status. */
int kubelet_worker_main(void);

#endif
