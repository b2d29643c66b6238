// Command otel-collector is an OpenTelemetry Collector with the parts that tests need: it receives spans as OTLP over HTTP
// and writes them to a file.
package main

import (
	"context"
	"log"
	"os"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/yamlprovider"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
)

// Usage: otel-collector LISTEN_ADDRESS FILE. Appends a line of OTLP JSON to the file per request, and ends on SIGTERM.
func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: otel-collector LISTEN_ADDRESS FILE")
	}
	address, file := os.Args[1], os.Args[2]
	collector, err := otelcol.NewCollector(otelcol.CollectorSettings{
		BuildInfo: component.BuildInfo{Command: "otel-collector", Version: "test"},
		Factories: factories,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{ResolverSettings: confmap.ResolverSettings{
			URIs: []string{
				"yaml:receivers::otlp::protocols::http::endpoint: " + address,
				"yaml:exporters::lines::file: " + file,
				"yaml:service::pipelines::traces::receivers: [otlp]",
				"yaml:service::pipelines::traces::exporters: [lines]",
				"yaml:service::telemetry::metrics::level: none",
			},
			ProviderFactories: []confmap.ProviderFactory{yamlprovider.NewFactory()},
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := collector.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func factories() (otelcol.Factories, error) {
	receivers, err := otelcol.MakeFactoryMap[receiver.Factory](otlpreceiver.NewFactory())
	if err != nil {
		return otelcol.Factories{}, err
	}
	exporters, err := otelcol.MakeFactoryMap[exporter.Factory](lines())
	return otelcol.Factories{Receivers: receivers, Exporters: exporters}, err
}

type config struct {
	File string `mapstructure:"file"`
}

// lines is an exporter of spans to a file.
func lines() exporter.Factory {
	create := func(_ context.Context, _ exporter.Settings, given component.Config) (exporter.Traces, error) {
		file, err := os.OpenFile(given.(*config).File, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, err
		}
		var writing sync.Mutex
		marshaler := ptrace.JSONMarshaler{}
		received, err := consumer.NewTraces(func(_ context.Context, traces ptrace.Traces) error {
			line, err := marshaler.MarshalTraces(traces)
			if err != nil {
				return err
			}
			writing.Lock()
			defer writing.Unlock()
			_, err = file.Write(append(line, '\n'))
			return err
		})
		return exported{Traces: received}, err
	}
	return exporter.NewFactory(
		component.MustNewType("lines"),
		func() component.Config { return &config{} },
		exporter.WithTraces(create, component.StabilityLevelStable),
	)
}

type exported struct {
	component.StartFunc
	component.ShutdownFunc
	consumer.Traces
}
