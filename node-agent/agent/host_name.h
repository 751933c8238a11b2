/* SPDX-License-Identifier: Apache-2.0 */
/* The value of the attribute host.name: the machine's name. In a container the
 * kernel reports another one. */
#ifndef AGENT_HOST_NAME_H
#define AGENT_HOST_NAME_H

#define HOST_NAME_SIZE 256

/* Finds the name, from the first of these sources that has one: `node_name`, by which Kubernetes
 * knows the machine (NULL or "" if unknown); the kernel, if process 1 is in our UTS namespace;
 * /etc/hostname of process 1; the kernel in any case, which then reports the container's name. The
 * name is "" if there is none. `proc_fd` is a directory like /proc. */
void host_name_find(int proc_fd, const char *node_name, char ret_name[static HOST_NAME_SIZE]);

#endif
