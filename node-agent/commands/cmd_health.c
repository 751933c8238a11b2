/* SPDX-License-Identifier: Apache-2.0 */
/* flamelet health: asks the agent of this machine whether it is healthy. It serves probes that run
 * a program, in an image without a shell. */
#include "base/clock.h"
#include "commands/commands.h"
#include "selfmon/health_client.h"

#include <stdio.h>
#include <string.h>

static int complain_of_address(void)
{
	fputs("flamelet: no address: pass the agent's --listen ADDRESS, or its configuration file "
	      "with -c\n",
	      stderr);
	return STATUS_USAGE;
}

int cmd_health(const struct options *options)
{
	const char *page = options->asks_ready ? "/readyz" : "/healthz";
	struct listen_address address;
	struct health_answer answer;

	if (!options->listen || listen_address_parse(options->listen, &address) < 0)
		return complain_of_address();
	int r = health_ask(&address, page, clock_mono_ns() + options->health_timeout_ns, &answer);
	if (r < 0) {
		fprintf(stderr, "flamelet: no answer from %s: %s\n", options->listen,
			r == -EBADMSG ? "it does not speak HTTP" : strerror(-r));
		return STATUS_FAILED;
	}
	printf("%s\n", answer.text);
	return answer.status == 200 ? STATUS_OK : STATUS_FAILED;
}
