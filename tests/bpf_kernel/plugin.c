/* SPDX-License-Identifier: Apache-2.0 */
/* A library that a program loads while it runs. */
void plugin_run(void);

static volatile unsigned long sink;

__attribute__((noinline)) static void spin_in_plugin(void)
{
	for (;;)
		sink++;
}

void plugin_run(void)
{
	spin_in_plugin();
	sink++;
}
