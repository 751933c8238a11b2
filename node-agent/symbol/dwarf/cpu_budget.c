/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/dwarf/cpu_budget.h"

#define MAX_STEP_NS UINT64_C(1000000000000000) /* 11 days; keeps the product below 2^64 */

void cpu_budget_init(struct cpu_budget *budget, unsigned int permille, uint64_t now_ns)
{
	*budget = (struct cpu_budget){
		.permille = permille,
		.last_ns = now_ns,
		.left_ns = CPU_BUDGET_BURST_NS,
	};
}

bool cpu_budget_allows(struct cpu_budget *budget, uint64_t now_ns)
{
	uint64_t passed_ns = now_ns > budget->last_ns ? now_ns - budget->last_ns : 0;

	if (passed_ns > MAX_STEP_NS)
		passed_ns = MAX_STEP_NS;
	budget->left_ns += (int64_t)(passed_ns * budget->permille / 1000);
	if (budget->left_ns > CPU_BUDGET_BURST_NS)
		budget->left_ns = CPU_BUDGET_BURST_NS;
	budget->last_ns = now_ns;
	return budget->permille == 0 || budget->left_ns > 0;
}

void cpu_budget_charge(struct cpu_budget *budget, uint64_t cpu_ns)
{
	uint64_t taken_ns = cpu_ns < MAX_STEP_NS ? cpu_ns : MAX_STEP_NS;

	if (budget->left_ns > -(int64_t)MAX_STEP_NS)
		budget->left_ns -= (int64_t)taken_ns;
}
