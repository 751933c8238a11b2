/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the files that have the credentials for a destination. */
#ifndef DOCTOR_CHECK_CREDENTIALS_H
#define DOCTOR_CHECK_CREDENTIALS_H

#include "config/destination.h"
#include "doctor/doctor_report.h"
#include "otlp/transport/header_list.h"

/* Adds the headers from a destination's files to those of its request, and findings about the
 * files. Findings never show what is in the files. */
void check_credentials(const struct destination *destination, struct header_list *headers,
		       struct doctor_report *report);

#endif
