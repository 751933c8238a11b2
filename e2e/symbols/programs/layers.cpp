/* SPDX-License-Identifier: Apache-2.0 */
/* Is busy for ever in a function that the compiler inlines into another one, and that into a third:
 *
 *	main > drive > step > [twist > mix]
 *
 * A comment on a function's first line says "begin NAME"; "@NAME" stands on each line in which the CPU may be
 * then. Compiled with -DTWEAK=n it is another program each time, with a build id of its own. */
namespace layers
{

static volatile unsigned long sink;

__attribute__((always_inline)) inline unsigned long mix(unsigned long x) /* begin mix */
{
	for (int i = 0; i < 256; i++) /* @mix */
		x = (x ^ x >> 7) * (0x9e3779b97f4a7c15 + 2 * TWEAK); /* @mix */
	return x; /* @mix */
}

template <class T> __attribute__((always_inline)) inline T twist(T x) /* begin twist */
{
	return mix(x + 1) ^ x; /* @twist */
}

__attribute__((noipa)) unsigned long step(unsigned long x) /* begin step @step */
{ /* @step */
	for (int i = 0; i < 64; i++) /* @step */
		x += twist(x); /* @step */
	return x; /* @step */
} /* @step */

__attribute__((noipa)) void drive() /* begin drive @drive */
{ /* @drive */
	for (int i = 0; i < 64; i++) /* @drive */
		sink = step(sink); /* @drive */
} /* @drive */

} /* namespace layers */

int main()
{
	for (;;)
		layers::drive();
}
