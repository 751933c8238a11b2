#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the OpenTelemetry Collector of this directory: two minutes and 450 MB of modules the first time.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
exec "$here/../build-go.sh" "$here" .
