/* SPDX-License-Identifier: Apache-2.0 */
/* What travels between the agent and the JIT worker, without a worker. */
#ifndef TESTS_UNIT_JIT_FIXTURE_H
#define TESTS_UNIT_JIT_FIXTURE_H

#include "symbol/jit/jit_worker.h"

/* Adds what has been written, as the agent does with an answer, and begins another block. */
void jit_fixture_add(struct jit_writer *writer, struct jit_functions *functions);

/* What a worker answers to a request; the reply is empty and has a limit. */
int jit_fixture_answer(const struct jit_request *request, int fd, struct strbuf *reply);

#endif
