/* SPDX-License-Identifier: Apache-2.0 */
/* Source files embedded in the program: texts without a NUL at the end. */
#ifndef PROFILE_EMBEDDED_H
#define PROFILE_EMBEDDED_H

extern const char embedded_flamegraph_css[], embedded_flamegraph_css_end[];
extern const char embedded_flamegraph_js[], embedded_flamegraph_js_end[];

#endif
