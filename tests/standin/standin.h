/* SPDX-License-Identifier: Apache-2.0 */
/* Runs http_server.py beside a test program. */
#ifndef TESTS_STANDIN_STANDIN_H
#define TESTS_STANDIN_STANDIN_H

#include "base/err.h"

#include <sys/types.h>

struct standin {
	char dir[64]; /* temporary, removed by standin_stop() */
	char ca_file[80]; /* the server's certificate */
	unsigned int port;
	unsigned int tls_port; /* 0: no TLS here */
	pid_t pid;
	int stdin_fd; /* closing it ends the server */
};

/* Returns when the server listens. Errors: -EOPNOTSUPP when there is no Python, else what the system
 * calls say. */
int standin_start(struct standin *standin) must_check;

/* The same, but at tls_port an nginx that speaks HTTP/2 passes all requests on; 0 without nginx. */
int standin_start_http2(struct standin *standin) must_check;

void standin_stop(struct standin *standin);

#endif
