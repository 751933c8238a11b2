/* SPDX-License-Identifier: Apache-2.0 */
/* Runs kubelet.py beside a test program. */
#ifndef TESTS_STANDIN_KUBELET_STANDIN_H
#define TESTS_STANDIN_KUBELET_STANDIN_H

#include "base/err.h"

#include <stddef.h>
#include <sys/types.h>

struct kubelet_standin {
	char dir[64]; /* temporary, removed by kubelet_standin_stop() */
	char url[64]; /* "https://127.0.0.1:PORT" */
	char ca_file[96];
	char token_file[96]; /* the token it accepts is read from here for each request */
	pid_t pid;
};

/* Starts it at `listen` ("127.0.0.1:0", "[::1]:0") with a body file; its certificate names
 * `node_name`. Returns when it serves. Errors: -EOPNOTSUPP when it does not start (no Python, no
 * openssl, no such address), else what the system calls say. */
int kubelet_standin_start(struct kubelet_standin *standin, const char *listen,
			  const char *node_name, const char *pods_file) must_check;

void kubelet_standin_stop(struct kubelet_standin *standin);

/* Writes one of its files: "fault", "token", "accept", "certificate". */
int kubelet_standin_write(const struct kubelet_standin *standin, const char *name, const char *text)
	must_check;

/* Requests answered so far. */
size_t kubelet_standin_nr_requests(const struct kubelet_standin *standin);

/* Requests whose headers came, with a token or without one. */
size_t kubelet_standin_nr_received(const struct kubelet_standin *standin);

#endif
