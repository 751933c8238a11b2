/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROCESS_HOST_PIDS_H
#define PROCESS_HOST_PIDS_H

/* What /proc/self/ns/pid of a process of the host points to: PROC_PID_INIT_INO of the kernel. */
#define HOST_PID_NAMESPACE "pid:[4026531836]"

#endif
