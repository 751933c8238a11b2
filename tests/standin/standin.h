/* SPDX-License-Identifier: Apache-2.0 */
/* Runs http_server.py or grpc_server.py beside a test program. */
#ifndef TESTS_STANDIN_STANDIN_H
#define TESTS_STANDIN_STANDIN_H

#include "base/err.h"

#include <sys/types.h>

struct standin {
	char dir[64]; /* temporary, removed by standin_stop() */
	char ca_file[80]; /* the server's certificate, and the one it takes of clients */
	char key_file[80];
	unsigned int port;
	unsigned int tls_port; /* 0: no TLS here */
	unsigned int mtls_port; /* where clients must show a certificate; 0: none */
	pid_t pid;
	int stdin_fd; /* closing it ends the server */
};

/* Returns when the server listens. Errors: -EOPNOTSUPP when there is no Python, else
 * what the system calls say. */
int standin_start(struct standin *standin) must_check;

/* The same, but behind an nginx that speaks HTTP/2 at port and tls_port; both are 0 without
 * nginx. */
int standin_start_http2(struct standin *standin) must_check;

/* A gRPC server. -EOPNOTSUPP without Python's grpc or openssl, too. */
int standin_start_grpc(struct standin *standin) must_check;

void standin_stop(struct standin *standin);

#endif
