/* SPDX-License-Identifier: Apache-2.0 */
/* New options for an agent that runs: the configuration file is read again when it changed or
 * SIGHUP came. A file with a mistake is refused, and the old options stay. An option that cannot
 * change while the agent runs keeps its value, and the log says so. */
#ifndef AGENT_RELOAD_H
#define AGENT_RELOAD_H

#include "base/cleanup.h"
#include "base/err.h"
#include "config/options.h"

#include <stdint.h>

#define RELOAD_LOOK_NS (UINT64_C(1000000000)) /* between two looks at the file */

struct reload;

struct reload_stats {
	uint64_t nr_reloads; /* that were valid, whether or not they changed anything */
	uint64_t nr_refused;
};

/* Watches the file of options->config_file; without one nothing is ever new. `options` are those
 * the agent started with. Both are borrowed and outlive the object. Errors: -ENOMEM. */
int reload_new(const struct options_input *input, const struct options *options,
	       struct reload **ret_reload) must_check;
void reload_free(struct reload *reload);
DEFINE_FREEP(struct reload, reload_free)

/* The new options when something changed that can change now, else NULL. They are valid until there
 * are newer ones, and only those that can change count: the others may differ from what is in
 * force. Costs a stat(2) a second. */
const struct options *reload_poll(struct reload *reload, uint64_t now_ns);

struct reload_stats reload_get_stats(const struct reload *reload);

#endif
