/* SPDX-License-Identifier: Apache-2.0 */
#include "store/retention.h"

#include "base/log.h"
#include "base/strbuf.h"
#include "store/pin_dir.h"
#include "store/store_dir.h"

#include <string.h>

#define MIN_FREE_PERCENT 5
#define MESSAGE_BYTES 8192

void retention_init(struct retention *retention, const char *dir, uint64_t max_bytes,
		    uint64_t max_age_s)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
	int r = pin_dir_prepare(dir, max_bytes, &message);

	*retention =
		(struct retention){ .dir = dir, .max_bytes = max_bytes, .max_age_s = max_age_s };
	if (r < 0)
		log_warn("nothing can be pinned: %s",
			 message.len > 0 ? strbuf_str(&message) : strerror(-r));
}

/* If the copy fails, the ranges are lost with the file: the limits come first. */
static bool keep_pins(const char *name, void *data)
{
	struct retention *retention = data;
	int r = pin_dir_keep(retention->dir, name, retention->max_bytes);

	if (r == -EBUSY)
		return false;
	if (r < 0)
		log_warn("cannot copy the pinned ranges of %s/%s, removing it: %s", retention->dir,
			 name, strerror(-r));
	retention->nr_pins_refused += r < 0 ? 1 : (uint64_t)r;
	return true;
}

int retention_apply(struct retention *retention, const char *current, uint64_t now_s)
{
	const struct store_dir_limits limits = {
		.max_bytes = retention->max_bytes,
		.max_age_s = retention->max_age_s,
		.min_free_percent = MIN_FREE_PERCENT,
		.other_bytes = pin_dir_bytes(retention->dir),
		.may_remove = keep_pins,
		.data = retention,
	};
	int r = store_dir_prune(retention->dir, current, &limits, now_s, &retention->bytes);

	if (r > 0)
		retention->nr_removed += (uint64_t)r;
	retention->pin_bytes = pin_dir_bytes(retention->dir);
	return r;
}
