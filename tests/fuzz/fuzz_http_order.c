/* SPDX-License-Identifier: Apache-2.0 */
/* A request to a network worker: it is refused, or its texts end and its parts lie within it. */
#include "worker/http_order.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(bool is_right)
{
	if (!is_right)
		abort();
}

static void check_part(const uint8_t *data, size_t len, const void *part, size_t part_len)
{
	check((const uint8_t *)part >= data && (const uint8_t *)part + part_len <= data + len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct http_order order;

	if (http_order_read(data, len, &order) < 0)
		return 0;
	check_part(data, len, order.body, order.body_len);
	check_part(data, len, order.extra, order.extra_len);
	check_part(data, len, order.url, strlen(order.url) + 1);
	check(order.nr_headers <= HTTP_ORDER_MAX_HEADERS);
	for (size_t i = 0; i < order.nr_headers; i++)
		check_part(data, len, order.headers[i], strlen(order.headers[i]) + 1);
	if (order.tls.key.text)
		check_part(data, len, order.tls.key.text, order.tls.key.len);
	for (const char *entry = order.environment; *entry; entry += strlen(entry) + 1)
		check_part(data, len, entry, strlen(entry) + 2);
	return 0;
}
