/* SPDX-License-Identifier: Apache-2.0 */
/* Names pods and containers without a request, by the names that the kubelet gives to logs
 * (k8s/pod_log_name.h): a directory DIR/pods/… says which pod a UID is, and a link DIR/containers/…
 * which container an ID is. They contain no labels and no owners. */
#ifndef K8S_POD_LOGS_H
#define K8S_POD_LOGS_H

#include "base/err.h"
#include "k8s/pod_list.h"

#include <stddef.h>

#define POD_LOGS_MAX 65536

/* Lists pods and containers with at most `max_bytes`. Only the two directories are opened; links
 * are read, not followed. Pods have source POD_FROM_LOGS and has_all_ids false. Other names, and
 * links whose pod is ambiguous, count as skipped. Errors: -ENOENT the directories do not exist,
 * -ENOSPC over a limit or more than POD_LOGS_MAX names (nothing is returned), -ENOMEM, and errors
 * of opening and reading the directories. */
int pod_logs_list(const char *dir, size_t max_bytes, struct pod_list **ret_list) must_check;

#endif
