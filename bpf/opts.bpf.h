/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Knobs, written by the agent before the programs are loaded; the verifier removes what they switch off.
 * Defined in maps.bpf.c. */
#ifndef BPF_OPTS_BPF_H
#define BPF_OPTS_BPF_H

#include <stdbool.h>
extern const volatile bool include_idle; /* send samples of idle CPUs too */
extern const volatile bool cgroup_is_v1; /* no v2 hierarchy: identify by the memory controller's */
extern const volatile bool filter_by_pid; /* only processes in filter_pids */
extern const volatile bool filter_by_tid; /* only threads in filter_tids */
extern const volatile bool filter_by_comm; /* only thread or process names in filter_comms */
extern const volatile bool filter_by_cgroup; /* only tasks in or below a cgroup in filter_cgroups */
extern const volatile bool
	pass_to_perf; /* the event of a wanted sample writes its own record too */

#endif
