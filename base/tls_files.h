/* SPDX-License-Identifier: Apache-2.0 */
/* Reads certificates and keys from files. They may be renewed at any time (a mounted Secret, a
 * kubelet's own certificate), so they are read for each request. */
#ifndef BASE_TLS_FILES_H
#define BASE_TLS_FILES_H

#include "base/err.h"
#include "base/http_client.h"
#include "base/strbuf.h"

#define TLS_FILE_MAX_BYTES ((size_t)1 << 20)

/* Paths of PEM files; NULL: none. */
struct tls_files {
	char *ca, *cert, *key; /* owned */
};

/* Copies the paths. tls_files_done() is needed after a failure, too. Errors: -ENOMEM. */
int tls_files_init(struct tls_files *files, const char *ca, const char *cert, const char *key)
	must_check;
void tls_files_done(struct tls_files *files);

/* Contents of the files. */
struct tls_texts {
	struct http_tls tls; /* points into the buffers */
	struct strbuf ca, cert, key;
};

void tls_texts_done(struct tls_texts *texts);

/* Reads all files. On failure, `reterr_msg` gets the name of the file and the reason, and
 * tls_texts_done() is not needed. Errors: -ENOSPC for a file of more than TLS_FILE_MAX_BYTES,
 * -ENOMEM, those of reading it. */
int tls_files_read(const struct tls_files *files, struct tls_texts *ret_texts,
		   struct strbuf *reterr_msg) must_check;

#endif
