/* SPDX-License-Identifier: Apache-2.0 */
/* The kubelet worker's answer to one request. */
#ifndef K8S_KUBELET_ANSWER_H
#define K8S_KUBELET_ANSWER_H

#include "base/err.h"
#include "base/flat.h"
#include "base/strbuf.h"

#include <stddef.h>

#define KUBELET_WORDS_BYTES 1024

/* Progress of a request. */
enum kubelet_stage {
	KUBELET_ANSWERED, /* the pods follow */
	KUBELET_SILENT, /* no complete answer: error and libcurl's message */
	KUBELET_NO_LIST, /* the answer is not a pod list: error */
	KUBELET_REFUSED, /* another status than 200: the server's message; for 403, a sentence */
};

struct kubelet_answer {
	enum kubelet_stage stage;
	int error; /* negative errno, or 0 */
	unsigned int status; /* of HTTP; 0: no complete answer */
	unsigned int http_version; /* 1 or 2; 0 with status 0 */
	size_t nr_bytes; /* read of the pod list */
	char words[KUBELET_WORDS_BYTES]; /* any characters */
};

void kubelet_answer_append(struct strbuf *out, const struct kubelet_answer *answer);

/* Reads the answer up to the pods. Errors: -EBADMSG. */
int kubelet_answer_read(struct flat_reader *reader, struct kubelet_answer *ret_answer) must_check;

#endif
