/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the worker that names frames. */
#ifndef RUNTIME_WORKER_NAMES_ANSWER_H
#define RUNTIME_WORKER_NAMES_ANSWER_H

#include "base/err.h"
#include "runtime/worker/runtime_worker.h"

/* Answers RUNTIME_REQUEST_NAMES or RUNTIME_REQUEST_COPIES: see runtime_worker_answer(). */
int names_answer(const struct worker_call *call, const struct runtime_ops *const *runtimes,
		 struct strbuf *reply) must_check;

#endif
