/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of values that are stored as text. They return 0 or -EINVAL; the value_type that uses a
 * check has the words for the message. */
#ifndef CONFIG_OPTION_CHECK_H
#define CONFIG_OPTION_CHECK_H

#include "base/err.h"

int check_any(const char *text) must_check; /* never fails */
int check_name(const char *text) must_check;
int check_namespace(const char *text) must_check;
int check_pod(const char *text) must_check;
int check_container(const char *text) must_check;
int check_selector(const char *text) must_check;
int check_label_key(const char *text) must_check;
int check_group(const char *text) must_check;
int check_listen(const char *text) must_check;
int check_ui_listen(const char *text) must_check;
int check_metrics_listen(const char *text) must_check;
int check_comm(const char *text) must_check;
int check_url(const char *text) must_check;
int check_urls(const char *text) must_check;
int check_header(const char *text) must_check;
int check_directory(const char *text) must_check;
int check_endpoint(const char *text) must_check;
int check_tenant(const char *text) must_check;
int check_attribute(const char *text) must_check; /* "key=value" */

/* Checks that a file can be read. Errors: -EINVAL for "", and those of access(2). */
int check_file(const char *text) must_check;

#endif
