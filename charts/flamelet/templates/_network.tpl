{{/* SPDX-License-Identifier: Apache-2.0 */}}

{{/* The port of a URL. */}}
{{- define "flamelet.portOf" -}}
{{- $url := urlParse . }}
{{- $port := regexFind ":[0-9]+$" $url.host | trimPrefix ":" }}
{{- default (ternary "80" "443" (eq $url.scheme "http")) $port }}
{{- end }}

{{/* The ports of all destinations and debuginfod servers, as {ports: [...]}. */}}
{{- define "flamelet.endpointPorts" -}}
{{- $ports := list }}
{{- range .Values.networkPolicy.endpointPorts }}
{{- $ports = append $ports (int .) }}
{{- end }}
{{- if not $ports }}
{{- range (include "flamelet.destinations" . | fromYaml).items }}
{{- $ports = append $ports (include "flamelet.portOf" .endpoint | int) }}
{{- end }}
{{- range .Values.symbols.debuginfod.urls }}
{{- $ports = append $ports (include "flamelet.portOf" . | int) }}
{{- end }}
{{- end }}
{{- dict "ports" ($ports | uniq) | toYaml }}
{{- end }}
