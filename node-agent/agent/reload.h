/* SPDX-License-Identifier: Apache-2.0 */
/* Reloads the options of a running agent when the configuration file has changed or SIGHUP arrives.
 * A file with a mistake is refused, and the old options stay. An option that cannot change while
 * the agent runs keeps its value, and the log says so. */
#ifndef AGENT_RELOAD_H
#define AGENT_RELOAD_H

#include "base/cleanup.h"
#include "base/err.h"
#include "config/options.h"

#include <stdint.h>

#define RELOAD_LOOK_NS (UINT64_C(1000000000)) /* between two looks at the file */

struct reload;

struct reload_stats {
	uint64_t nr_reloads; /* valid ones, whether or not they changed anything */
	uint64_t nr_refused;
};

/* Watches options->config_file; if it is NULL, the options never change. `options` are those with
 * which the agent started. Both arguments are borrowed and outlive the object. Errors: -ENOMEM. */
int reload_new(const struct options_input *input, const struct options *options,
	       struct reload **ret_reload) must_check;
void reload_free(struct reload *reload);
DEFINE_FREEP(struct reload, reload_free)

/* Returns new options if one has changed that can change while the agent runs, else NULL. They are
 * valid until the next ones. Use only those that can change; others may differ from the values in
 * force. Costs one stat(2) per second. */
const struct options *reload_poll(struct reload *reload, uint64_t now_ns);

struct reload_stats reload_get_stats(const struct reload *reload);

#endif
