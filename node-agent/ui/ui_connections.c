/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/ui_connections.h"

#include "base/minmax.h"

#include <string.h>

bool ui_connections_add(struct ui_connections *connections, int fd, uint64_t now_ns)
{
	if (connections->nr == UI_MAX_CONNECTIONS)
		return false;
	connections->items[connections->nr++] = (struct ui_connection){ fd, now_ns, false, false };
	return true;
}

static struct ui_connection *find(struct ui_connections *connections, int fd)
{
	for (size_t i = 0; i < connections->nr; i++)
		if (connections->items[i].fd == fd)
			return &connections->items[i];
	return NULL;
}

void ui_connections_remove(struct ui_connections *connections, int fd)
{
	struct ui_connection *connection = find(connections, fd);

	if (connection)
		*connection = connections->items[--connections->nr];
}

static void begin(struct ui_connections *connections, int fd, bool is_answering, uint64_t now_ns)
{
	struct ui_connection *connection = find(connections, fd);

	if (!connection)
		return;
	connection->is_answering = is_answering;
	connection->since_ns = now_ns;
}

void ui_connections_answering(struct ui_connections *connections, int fd, uint64_t now_ns)
{
	begin(connections, fd, true, now_ns);
}

void ui_connections_waiting(struct ui_connections *connections, int fd, uint64_t now_ns)
{
	begin(connections, fd, false, now_ns);
}

static uint64_t end_ns_of(const struct ui_connection *connection, bool is_crowded)
{
	static const uint64_t limits[2][2] = {
		{ UI_REQUEST_NS, UI_ANSWER_NS },
		{ UI_CROWDED_REQUEST_NS, UI_CROWDED_ANSWER_NS },
	};

	return connection->since_ns + limits[is_crowded][connection->is_answering];
}

struct ui_connection *ui_connections_take_late(struct ui_connections *connections, uint64_t now_ns,
					       uint64_t *ret_next_ns)
{
	bool is_crowded = connections->nr == UI_MAX_CONNECTIONS;
	uint64_t next_ns = UINT64_MAX;

	for (size_t i = 0; i < connections->nr; i++) {
		struct ui_connection *connection = &connections->items[i];

		if (connection->is_shut)
			continue;
		if (end_ns_of(connection, is_crowded) <= now_ns) {
			connection->is_shut = true;
			return connection;
		}
		next_ns = min_u64(next_ns, end_ns_of(connection, is_crowded));
	}
	*ret_next_ns = next_ns;
	return NULL;
}
