{{/* SPDX-License-Identifier: Apache-2.0 */}}
{{/* What values.schema.json cannot say: values that contradict each other. Each message says what, where and what to do. */}}
{{- define "flamelet.check" -}}
{{- if not (or .Values.otlp.endpoint .Values.destinations) }}
{{- fail "otlp.endpoint: profiles have nowhere to go. Set it to the URL of a receiver, for instance --set otlp.endpoint=http://otel-collector.observability:4318" }}
{{- end }}
{{- end }}
