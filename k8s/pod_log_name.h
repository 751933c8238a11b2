/* SPDX-License-Identifier: Apache-2.0 */
/* The names that the kubelet gives to logs of containers:
 *
 *	pods/<namespace>_<pod>_<uid>/<container>/<restarts>.log
 *	containers/<pod>_<namespace>_<container>-<ID>.log -> the file above
 *
 * (kubelet, pkg/kubelet/kuberuntime/helpers.go: BuildPodLogsDirectory, logSymlink.) No part has a
 * "_" in it, and an ID has 64 hex digits: a link's name that was cut at 255 bytes ends in fewer,
 * and is none. */
#ifndef K8S_POD_LOG_NAME_H
#define K8S_POD_LOG_NAME_H

#include "base/strview.h"

#include <stdint.h>

struct pod_log_dir {
	struct strview namespace, pod, uid;
};

struct pod_log_link {
	struct strview pod, namespace, container, id;
};

/* Target of a link. */
struct pod_log_file {
	struct pod_log_dir dir;
	struct strview container;
	uint32_t restart_count;
};

/* Parse a name. Each returns whether the name has the right form; the parts are borrowed from
 * it. */
bool pod_log_dir_parse(struct strview name, struct pod_log_dir *ret_dir);
bool pod_log_link_parse(struct strview name, struct pod_log_link *ret_link);
bool pod_log_file_parse(struct strview path, struct pod_log_file *ret_file);

#endif
