/* SPDX-License-Identifier: Apache-2.0 */
/* The labels by which samples are selected and grouped, and what each of them names:
 *
 *	namespace, pod, container, node, host, service	an attribute of the resource
 *	workload	the Deployment, StatefulSet, DaemonSet, CronJob, Job, ReplicaSet,
 *			ReplicationController or other workload
 *	comm		name of the process
 *	thread		name of the thread
 *	process		name of the program
 *	reason		why a thread waited
 *	pid, cpu, cgroup (its id)
 *
 * Every other word is the key of an attribute, such as k8s.pod.label.app. */
#ifndef PROFILE_LABEL_KEY_H
#define PROFILE_LABEL_KEY_H

#include <stddef.h>

enum label_source {
	LABEL_ATTRIBUTE,
	LABEL_COMM,
	LABEL_THREAD,
	LABEL_PROCESS,
	LABEL_PID,
	LABEL_CGROUP,
	LABEL_CPU,
	LABEL_REASON,
};

#define LABEL_ATTRIBUTES_MAX 8

struct label_key {
	const char *word; /* borrowed; as the user wrote it */
	enum label_source source;
	/* LABEL_ATTRIBUTE: the value is that of the first one that a resource has. NULL: no more.
	 * Static, or `word`. */
	const char *attributes[LABEL_ATTRIBUTES_MAX];
};

/* Returns what a word names; `word` must outlive it. */
struct label_key label_key_of(const char *word);

/* Returns a word that is no key of an attribute, by its number from 0 on. NULL: there are no
 * more. */
const char *label_key_word(size_t number);

/* Bytes for a number as text. */
#define LABEL_NUMBER_BYTES 24

#endif
