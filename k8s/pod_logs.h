/* SPDX-License-Identifier: Apache-2.0 */
/* Names pods and containers without asking anybody, by the names that the kubelet gives to logs
 * (k8s/pod_log_name.h): a directory DIR/pods/… says which pod a UID is, and a link DIR/containers/…
 * which container an ID is. They contain no labels and no owners. */
#ifndef K8S_POD_LOGS_H
#define K8S_POD_LOGS_H

#include "base/err.h"
#include "k8s/pod_list.h"

#include <stddef.h>

#define POD_LOGS_MAX 65536

/* Lists what is there, in a list of at most `max_bytes`. Nothing is opened but the two directories;
 * a link is read, not followed. Pods come with source POD_FROM_LOGS and has_all_ids false; what has
 * another name, or belongs to a pod that cannot be told, counts as skipped. Errors: -ENOENT when
 * there are no such directories, -ENOSPC over a limit or with more than POD_LOGS_MAX names (nothing
 * is returned), -ENOMEM, and what opening and reading them says. */
int pod_logs_list(const char *dir, size_t max_bytes, struct pod_list **ret_list) must_check;

#endif
