/* SPDX-License-Identifier: Apache-2.0 */
/* The probes of OpenTelemetry's contract for profiles of allocations: USDT probes of the provider
 * otel_memory, as `readelf -n` shows them. A reader attaches uprobes to them. The kernel counts
 * readers of each probe in its semaphore, so that a process knows whether anybody reads.
 *
 * A probe is an instruction that does nothing, and a note about it (.note.stapsdt): its address,
 * the address of its semaphore, and where its arguments are. `nop` of one byte is the one that all
 * kernels emulate; others they would have to step over, at ten times the cost.
 *
 * Both functions are inlined, so that the function of the allocator is the first of a stack. */
#ifndef HEAP_PROBES_H
#define HEAP_PROBES_H

#include <stdint.h>

/* Numbers of readers. Written by the kernel. */
extern volatile uint16_t probes_alloc_readers __attribute__((visibility("hidden")));
extern volatile uint16_t probes_free_readers __attribute__((visibility("hidden")));

#if defined(__x86_64__)
#define PROBES_FIRST "rdi"
#define PROBES_SECOND "rsi"
#define PROBES_THIRD "rdx"
#define PROBES_AT(reg) "8@%%" reg
#elif defined(__aarch64__)
#define PROBES_FIRST "x0"
#define PROBES_SECOND "x1"
#define PROBES_THIRD "x2"
#define PROBES_AT(reg) "8@" reg
#else
#error "no probes for this architecture"
#endif

/* The linker may move sections: addresses in the note are relative to that of .stapsdt.base as the
 * note has it. */
#define PROBES_NOTE(name, semaphore, arguments)                                                    \
	"990:	nop\n"                                                                               \
	".pushsection .note.stapsdt, \"\", %%note\n"                                               \
	"	.balign 4\n"                                                                             \
	"	.4byte 992f-991f, 994f-993f, 3\n"                                                        \
	"991:	.asciz \"stapsdt\"\n"                                                                \
	"992:	.balign 4\n"                                                                         \
	"993:	.8byte 990b, _.stapsdt.base, " semaphore "\n"                                      \
	"	.asciz \"otel_memory\", \"" name "\", \"" arguments "\"\n"                         \
	"994:	.balign 4\n"                                                                         \
	".popsection\n"                                                                            \
	".ifndef _.stapsdt.base\n"                                                                 \
	".pushsection .stapsdt.base, \"aG\", %%progbits, .stapsdt.base, comdat\n"                  \
	".weak _.stapsdt.base\n"                                                                   \
	".hidden _.stapsdt.base\n"                                                                 \
	"_.stapsdt.base: .space 1\n"                                                               \
	".size _.stapsdt.base, 1\n"                                                                \
	".popsection\n"                                                                            \
	".endif\n"

/* Tells readers of a sampled allocation. It stands for `weighted_bytes` of all allocations. */
__attribute__((always_inline)) static inline void probes_tell_alloc(const void *ptr, uint64_t size,
								    uint64_t weighted_bytes)
{
	register const void *first __asm__(PROBES_FIRST) = ptr;
	register uint64_t second __asm__(PROBES_SECOND) = size;
	register uint64_t third __asm__(PROBES_THIRD) = weighted_bytes;

	__asm__ volatile(PROBES_NOTE("alloc", "probes_alloc_readers",
				     PROBES_AT(PROBES_FIRST) " " PROBES_AT(
					     PROBES_SECOND) " " PROBES_AT(PROBES_THIRD))
			 :
			 : "r"(first), "r"(second), "r"(third));
}

/* Tells readers that a sampled allocation is no more. */
__attribute__((always_inline)) static inline void probes_tell_free(const void *ptr)
{
	register const void *first __asm__(PROBES_FIRST) = ptr;

	__asm__ volatile(PROBES_NOTE("free", "probes_free_readers", PROBES_AT(PROBES_FIRST))
			 :
			 : "r"(first));
}

#endif
