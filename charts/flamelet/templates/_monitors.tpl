{{/* SPDX-License-Identifier: Apache-2.0 */}}
{{/* What a PodMonitor and a ServiceMonitor have in common. */}}

{{- define "flamelet.scrape" -}}
- port: metrics
  path: /metrics
  {{- with .interval }}
  interval: {{ . }}
  {{- end }}
  {{- with .scrapeTimeout }}
  scrapeTimeout: {{ . }}
  {{- end }}
  {{- with .relabelings }}
  relabelings: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .metricRelabelings }}
  metricRelabelings: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
