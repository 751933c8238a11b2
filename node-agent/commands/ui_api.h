/* SPDX-License-Identifier: Apache-2.0 */
/* Answers the requests of the page of `flamelet ui` (docs/ui.md): by the commands' own options and
 * encoders, so that the page and the commands show the same. */
#ifndef COMMANDS_UI_API_H
#define COMMANDS_UI_API_H

#include "base/strbuf.h"
#include "config/options.h"
#include "store/store_reader.h"
#include "ui/ui_request.h"
#include "ui/ui_server.h"

#define UI_API_PATH "api/v1/"

struct ui_api {
	const struct options *options; /* borrowed; those of the command */
	/* Stays open, with what it keeps of the files, and is refreshed by each request. */
	struct store_reader *reader; /* borrowed */
};

/* Answers a request; `data` is a struct ui_api. */
void ui_api_answer(const struct ui_request *request, struct ui_reply *reply, void *data);

#endif
