/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/dwarf/lines_pace.h"

#define MAX_STEP_NS UINT64_C(1000000000000000) /* so that no product is too large: 11 days */

void lines_pace_init(struct lines_pace *pace, unsigned int permille, uint64_t now_ns)
{
	*pace = (struct lines_pace){
		.permille = permille,
		.last_ns = now_ns,
		.left_ns = LINES_PACE_BURST_NS,
	};
}

bool lines_pace_allows(struct lines_pace *pace, uint64_t now_ns)
{
	uint64_t passed_ns = now_ns > pace->last_ns ? now_ns - pace->last_ns : 0;

	if (passed_ns > MAX_STEP_NS)
		passed_ns = MAX_STEP_NS;
	pace->left_ns += (int64_t)(passed_ns * pace->permille / 1000);
	if (pace->left_ns > LINES_PACE_BURST_NS)
		pace->left_ns = LINES_PACE_BURST_NS;
	pace->last_ns = now_ns;
	return pace->permille == 0 || pace->left_ns > 0;
}

void lines_pace_charge(struct lines_pace *pace, uint64_t cpu_ns)
{
	uint64_t taken_ns = cpu_ns < MAX_STEP_NS ? cpu_ns : MAX_STEP_NS;

	if (pace->left_ns > -(int64_t)MAX_STEP_NS)
		pace->left_ns -= (int64_t)taken_ns;
}
