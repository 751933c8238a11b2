/* SPDX-License-Identifier: Apache-2.0 */
/* What the kubelet's worker says of one request. */
#ifndef K8S_KUBELET_ANSWER_H
#define K8S_KUBELET_ANSWER_H

#include "base/err.h"
#include "base/flat.h"
#include "base/strbuf.h"

#include <stddef.h>

#define KUBELET_WORDS_BYTES 1024

/* How far a request came. */
enum kubelet_stage {
	KUBELET_ANSWERED, /* the pods follow */
	KUBELET_SILENT, /* no answer, or not a whole one: error and libcurl's words */
	KUBELET_NO_LIST, /* what came was not read as a pod list: error */
	KUBELET_REFUSED, /* another status than 200: what it says, for 403 as a sentence */
};

struct kubelet_answer {
	enum kubelet_stage stage;
	int error; /* negative errno, or 0 */
	unsigned int status; /* of HTTP; 0: none came, or the answer was not whole */
	unsigned int http_version; /* 1 or 2; 0 with status 0 */
	size_t nr_bytes; /* of the pod list, as far as it was read */
	char words[KUBELET_WORDS_BYTES]; /* any characters */
};

void kubelet_answer_append(struct strbuf *out, const struct kubelet_answer *answer);

/* Reads the answer; the reader then stands at the pods. Errors: -EBADMSG. */
int kubelet_answer_read(struct flat_reader *reader, struct kubelet_answer *ret_answer) must_check;

#endif
