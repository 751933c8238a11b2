/* SPDX-License-Identifier: Apache-2.0 */
/* An HTTP server that answers for debug files as the first two digits of the build id say. */
#ifndef TESTS_UNIT_DEBUGINFOD_STANDIN_H
#define TESTS_UNIT_DEBUGINFOD_STANDIN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define STANDIN_FOUND "aa" /* a file of STANDIN_FILE_BYTES */
#define STANDIN_MISSING "bb" /* 404 */
#define STANDIN_SILENT "cc" /* takes the request and never answers */
#define STANDIN_ENDLESS "dd" /* a body without length and end */
#define STANDIN_LARGE "ee" /* announces more than it may be */
#define STANDIN_BOMB "ff" /* compressed: STANDIN_BOMB_BYTES of zeros */

#define STANDIN_FILE_BYTES 40000
#define STANDIN_LARGE_BYTES (UINT64_C(1) << 30)
#define STANDIN_BOMB_BYTES ((size_t)32 << 20)

struct debuginfod_standin {
	pid_t pid;
	char url[64];
};

void debuginfod_standin_start(struct debuginfod_standin *standin);
void debuginfod_standin_stop(struct debuginfod_standin *standin);

/* Returns a port without a listener. */
unsigned int free_port(void);

/* Returns the status of a GET request to 127.0.0.1, or 0 if there is no answer. */
unsigned int http_status(unsigned int port, const char *path);

#endif
