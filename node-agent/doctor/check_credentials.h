/* SPDX-License-Identifier: Apache-2.0 */
/* The doctor's look at the files that a receiver's credentials are in. */
#ifndef DOCTOR_CHECK_CREDENTIALS_H
#define DOCTOR_CHECK_CREDENTIALS_H

#include "doctor/doctor_report.h"
#include "config/destination.h"
#include "otlp/transport/header_list.h"

/* Adds the headers that a destination's files have to those of its request, and findings about the
 * files, which never tell what is in them. */
void check_credentials(const struct destination *destination, struct header_list *headers,
		       struct doctor_report *report);

#endif
