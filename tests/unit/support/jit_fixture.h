/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to the JIT worker and its replies, without a worker. */
#ifndef TESTS_UNIT_JIT_FIXTURE_H
#define TESTS_UNIT_JIT_FIXTURE_H

#include "symbol/jit/jit_worker.h"

/* Adds the functions of a writer, as the agent does with an answer, and begins a new block. */
void jit_fixture_add(struct jit_writer *writer, struct jit_functions *functions);

/* Handles a request as a worker does. The reply must be empty and have a limit. */
int jit_fixture_answer(const struct jit_request *request, int fd, struct strbuf *reply);

#endif
