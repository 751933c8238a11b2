/* SPDX-License-Identifier: Apache-2.0 */
/* The options' words for how to send, as the transports know them. */
#ifndef AGENT_EXPORT_PROTOCOL_H
#define AGENT_EXPORT_PROTOCOL_H

#include "config/destination.h"
#include "otlp/transport/transport_url.h"

/* OTLP's protocol counts for OTLP only. */
static inline enum transport_protocol export_protocol(const struct destination *export)
{
	if (export->exporter == OPTION_EXPORTER_PYROSCOPE)
		return TRANSPORT_PYROSCOPE;
	return export->protocol == OPTION_PROTOCOL_GRPC ? TRANSPORT_OTLP_GRPC : TRANSPORT_OTLP_HTTP;
}

#endif
