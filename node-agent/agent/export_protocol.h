/* SPDX-License-Identifier: Apache-2.0 */
/* Translates the options of a destination to the protocols of otlp/transport. */
#ifndef AGENT_EXPORT_PROTOCOL_H
#define AGENT_EXPORT_PROTOCOL_H

#include "config/destination.h"
#include "otlp/transport/protocol.h"

/* The protocol of a destination. Its option otlp-protocol counts for OTLP only. */
static inline enum transport_protocol export_protocol(const struct destination *destination)
{
	if (destination->exporter == OPTION_EXPORTER_PYROSCOPE)
		return TRANSPORT_PYROSCOPE;
	return destination->protocol == OPTION_PROTOCOL_GRPC ? TRANSPORT_OTLP_GRPC
							     : TRANSPORT_OTLP_HTTP;
}

#endif
