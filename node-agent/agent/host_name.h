/* SPDX-License-Identifier: Apache-2.0 */
/* The value of the attribute host.name: the machine's name. In a container the
 * kernel reports another one. */
#ifndef AGENT_HOST_NAME_H
#define AGENT_HOST_NAME_H

#define HOST_NAME_SIZE 256

/* Finds it, the first of these that there is: `node_name`, by which Kubernetes knows the machine
 * (NULL or "": not told); the kernel's, if process 1 has the same one; /etc/hostname of process 1;
 * the kernel's all the same, which is then the container's. `proc_fd` is a directory like /proc. ""
 * when there is none at all. */
void host_name_find(int proc_fd, const char *node_name, char ret_name[static HOST_NAME_SIZE]);

#endif
