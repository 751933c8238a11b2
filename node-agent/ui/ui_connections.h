/* SPDX-License-Identifier: Apache-2.0 */
/* The open connections, and how long each may last. A client that sends or reads slowly, or not at
 * all, takes one of them for a limited time; while all are taken, for a shorter one. Callers pass
 * the time. */
#ifndef UI_UI_CONNECTIONS_H
#define UI_UI_CONNECTIONS_H

#include "base/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UI_MAX_CONNECTIONS 32
/* For a request to arrive, and for an answer to be read. */
#define UI_REQUEST_NS (60 * NSEC_PER_SEC)
#define UI_ANSWER_NS (600 * NSEC_PER_SEC)
/* The same while all connections are taken. */
#define UI_CROWDED_REQUEST_NS (1 * NSEC_PER_SEC)
#define UI_CROWDED_ANSWER_NS (10 * NSEC_PER_SEC)

struct ui_connection {
	int fd; /* borrowed */
	uint64_t since_ns; /* when the wait for a request or the answer began */
	bool is_answering;
	bool is_shut;
};

struct ui_connections {
	struct ui_connection items[UI_MAX_CONNECTIONS];
	size_t nr;
};

/* Adds a connection; returns false if there is no room. */
bool ui_connections_add(struct ui_connections *connections, int fd, uint64_t now_ns);
void ui_connections_remove(struct ui_connections *connections, int fd);

/* A request has arrived, or its answer was read: the wait for the next one begins. */
void ui_connections_answering(struct ui_connections *connections, int fd, uint64_t now_ns);
void ui_connections_waiting(struct ui_connections *connections, int fd, uint64_t now_ns);

/* Returns a connection whose time is over, which is then marked as shut; NULL: there is none, and
 * *ret_next_ns is when the next one's is, or UINT64_MAX. */
struct ui_connection *ui_connections_take_late(struct ui_connections *connections, uint64_t now_ns,
					       uint64_t *ret_next_ns);

#endif
