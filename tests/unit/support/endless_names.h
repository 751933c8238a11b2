/* SPDX-License-Identifier: Apache-2.0 */
/* Names that libiberty does not come to an end with. */
#ifndef TESTS_UNIT_ENDLESS_NAMES_H
#define TESTS_UNIT_ENDLESS_NAMES_H

/* ThreadSanitizer holds signals back until the next system call, of which there is none: then
 * nothing gives up such a name. */
#if defined(__SANITIZE_THREAD__)
#define SKIP_WITHOUT_SIGNALS() skip()
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SKIP_WITHOUT_SIGNALS() skip()
#endif
#endif
#ifndef SKIP_WITHOUT_SIGNALS
#define SKIP_WITHOUT_SIGNALS() ((void)0)
#endif

/* A function pointer type with 62^10 lifetimes, in the arguments of something that is left out. */
#define HOSTILE_RUST_NAME "_RC1aIC1aFGzzzzzzzzzz_EuE"

/* A parameter pack in a type of sixty levels, each of which has the level below twice. */
#define HOSTILE_CPLUS_NAME                                                                         \
	"_Z1fIDp1bIS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0"         \
	"_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0"         \
	"_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0"         \
	"_IS0_I1aS1_ES2_ES3_ES4_ES5_ES6_ES7_ES8_ES9_ESA_ESB_ESC_ESD_ESE_ESF_ESG_ESH_ESI_E"         \
	"SJ_ESK_ESL_ESM_ESN_ESO_ESP_ESQ_ESR_ESS_EST_ESU_ESV_ESW_ESX_ESY_ESZ_ES10_ES11_ES1"         \
	"2_ES13_ES14_ES15_ES16_ES17_ES18_ES19_ES1A_ES1B_ES1C_ES1D_ES1E_ES1F_ES1G_ES1H_ES1"         \
	"I_ES1J_ES1K_ES1L_ES1M_ES1N_ES1O_EEv"

/* Forty function types within each other, of which each can be read in two ways. */
#define HOSTILE_D_NAME                                                                             \
	"_D1aFS1aFS1aFS1aFS1aFS1aFS1aFS1aFS1aFS1aFS1aFS1aFS1aFS1aFS1aFS1aFS1aFS1aFS1aFS1aFS"       \
	"1aFS1aFS1aFS1aFS1aFS1aFS1aFS1aFS1aFS1aFS1aFS1aFS1aFS1aFS1aFS1aFS1aFS1aFS1aFS1aFS"

/* Each type is a map from the one before to the one before: its text has gigabytes. */
#define LARGE_D_NAME                                                                               \
	"_D1aFAiHQdQfHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQi"       \
	"HQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiZv"

#endif
