// Command charts renders a Helm chart with the libraries of helm, many sets of values in one run, and validates the result
// or other manifests with those of kubeconform.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"strings"

	"github.com/yannh/kubeconform/pkg/validator"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
)

const release = "gantry"

// result is what became of one set of values. Refused is empty if the chart was rendered.
type result struct {
	Refused string `json:"refused,omitempty"`
	// Files has the rendered templates by their names.
	Files   map[string]string `json:"files"`
	Invalid []string          `json:"invalid"`
	// Unchecked has the kinds without a schema.
	Unchecked []string `json:"unchecked"`
}

// Usage: charts SCHEMAS CHART NAMESPACE. Reads sets of values by name as JSON from stdin, and prints their results as JSON.
// Without CHART and NAMESPACE it reads manifests by name, which are only validated. SCHEMAS is a folder with a JSON schema
// KIND-GROUP-VERSION.json, in lower case, for each kind.
func main() {
	results := map[string]result{}
	switch len(os.Args) {
	case 2:
		validate := validatorOf(os.Args[1])
		for name, text := range read[string]() {
			results[name] = validated(map[string]string{name: text}, validate)
		}
	case 4:
		validate := validatorOf(os.Args[1])
		for name, values := range read[map[string]any]() {
			files, err := render(os.Args[2], os.Args[3], values)
			if err != nil {
				results[name] = result{Refused: err.Error()}
			} else {
				results[name] = validated(files, validate)
			}
		}
	default:
		log.Fatal("usage: charts SCHEMAS [CHART NAMESPACE]")
	}
	if err := json.NewEncoder(os.Stdout).Encode(results); err != nil {
		log.Fatal(err)
	}
}

func read[Input any]() (inputs map[string]Input) {
	if err := json.NewDecoder(os.Stdin).Decode(&inputs); err != nil {
		log.Fatal(err)
	}
	return inputs
}

func validated(files map[string]string, validate func(*result, string, string)) result {
	of := result{Files: files, Invalid: []string{}, Unchecked: []string{}}
	for name, text := range files {
		validate(&of, name, text)
	}
	slices.Sort(of.Invalid)
	slices.Sort(of.Unchecked)
	of.Unchecked = slices.Compact(of.Unchecked)
	return of
}

// render does what "helm template" does, except that hooks stay in the files of their templates.
func render(path, namespace string, values map[string]any) (map[string]string, error) {
	chart, err := loader.LoadDir(path)
	if err != nil {
		return nil, err
	}
	options := common.ReleaseOptions{Name: release, Namespace: namespace, Revision: 1, IsInstall: true}
	given, err := util.ToRenderValues(chart, values, options, common.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	rendered, err := engine.Render(chart, given)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for name, text := range rendered {
		if strings.HasSuffix(name, ".yaml") && strings.TrimSpace(text) != "" {
			files[name] = text
		}
	}
	return files, nil
}

// validatorOf validates like "kubeconform -strict" with the schemas of a folder.
func validatorOf(schemas string) func(*result, string, string) {
	location := schemas + "/{{ .ResourceKind }}{{ .KindSuffix }}.json"
	options := validator.Opts{Strict: true, IgnoreMissingSchemas: true}
	conform, err := validator.New([]string{location}, options)
	if err != nil {
		log.Fatal(err)
	}
	return func(of *result, name, text string) {
		for _, one := range conform.Validate(name, io.NopCloser(bytes.NewBufferString(text))) {
			signature, _ := one.Resource.Signature()
			switch one.Status {
			case validator.Invalid, validator.Error:
				of.Invalid = append(of.Invalid, fmt.Sprintf("%s %s: %v", signature.Kind, signature.Name, one.Err))
			case validator.Skipped:
				of.Unchecked = append(of.Unchecked, signature.Kind)
			}
		}
	}
}
