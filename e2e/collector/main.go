// SPDX-License-Identifier: Apache-2.0

// The OpenTelemetry Collector with just what a test of our export needs: the OTLP receiver, the file
// exporter, and the OTLP exporter, for it to fail when nobody listens. Profiles are switched on, which in
// this release takes a feature gate. Of itself it tells warnings only, on stderr.
package main

import (
	"context"
	"os"

	"github.com/open-telemetry/opentelemetry-collector-contrib/exporter/fileexporter"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/envprovider"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/otlpexporter"
	"go.opentelemetry.io/collector/featuregate"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry"
	"go.uber.org/zap"
)

func warnings(context.Context, telemetry.LoggerSettings, component.Config) (
	*zap.Logger, component.ShutdownFunc, error) {
	config := zap.NewProductionConfig()
	config.Level.SetLevel(zap.WarnLevel)
	logger, err := config.Build()
	return logger, nil, err
}

func noConfig() component.Config {
	return &struct{}{}
}

func factories() (otelcol.Factories, error) {
	var f otelcol.Factories
	var err error

	f.Receivers, err = otelcol.MakeFactoryMap[receiver.Factory](otlpreceiver.NewFactory())
	if err != nil {
		return f, err
	}
	f.Telemetry = telemetry.NewFactory(noConfig, telemetry.WithCreateLogger(warnings))
	f.Exporters, err = otelcol.MakeFactoryMap[exporter.Factory](
		fileexporter.NewFactory(), otlpexporter.NewFactory())
	return f, err
}

func main() {
	if err := featuregate.GlobalRegistry().Set("service.profilesSupport", true); err != nil {
		panic(err)
	}
	settings := otelcol.CollectorSettings{
		BuildInfo: component.BuildInfo{Command: "collector", Version: "0.161.0"},
		Factories: factories,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{
			ResolverSettings: confmap.ResolverSettings{
				ProviderFactories: []confmap.ProviderFactory{
					envprovider.NewFactory(), fileprovider.NewFactory(),
				},
				DefaultScheme: "env",
			},
		},
	}
	if err := otelcol.NewCommand(settings).Execute(); err != nil {
		os.Exit(1) // the command has said why
	}
}
