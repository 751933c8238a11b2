/* SPDX-License-Identifier: Apache-2.0 */
/* The same as layers.cpp, for a C library that is linked into the program. */
static volatile unsigned long sink;

__attribute__((always_inline)) static inline unsigned long mix(unsigned long x) /* begin mix */
{
	for (int i = 0; i < 256; i++) /* @mix */
		x = (x ^ x >> 7) * 0x9e3779b97f4a7c15; /* @mix */
	return x; /* @mix */
}

__attribute__((always_inline)) static inline unsigned long twist(unsigned long x) /* begin twist */
{
	return mix(x + 1) ^ x; /* @twist */
}

__attribute__((noipa)) static unsigned long step(unsigned long x) /* begin step @step */
{ /* @step */
	for (int i = 0; i < 64; i++) /* @step */
		x += twist(x); /* @step */
	return x; /* @step */
} /* @step */

__attribute__((noipa)) static void drive(void) /* begin drive @drive */
{ /* @drive */
	for (int i = 0; i < 64; i++) /* @drive */
		sink = step(sink); /* @drive */
} /* @drive */

int main(void)
{
	for (;;)
		drive();
}
