// Command charts renders and validates a Helm chart with the libraries of helm and kubeconform, many sets of values
// in one run.
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

const (
	release   = "gantry"
	namespace = "gantry"
)

// result is what became of one set of values. Refused is empty if the chart was rendered.
type result struct {
	Refused string `json:"refused,omitempty"`
	// Files has the rendered templates by their names.
	Files   map[string]string `json:"files"`
	Invalid []string          `json:"invalid"`
	// Unchecked has the kinds without a schema.
	Unchecked []string `json:"unchecked"`
}

// Usage: charts CHART SCHEMAS. Reads sets of values by name as JSON from stdin, and prints their results as JSON. SCHEMAS is a
// folder with a JSON schema KIND-GROUP-VERSION.json, in lower case, for each kind; without it nothing is validated.
func main() {
	if len(os.Args) < 2 || len(os.Args) > 3 {
		log.Fatal("usage: charts CHART [SCHEMAS]")
	}
	var sets map[string]map[string]any
	if err := json.NewDecoder(os.Stdin).Decode(&sets); err != nil {
		log.Fatal(err)
	}
	validate := func(*result, string, string) {}
	if len(os.Args) == 3 {
		validate = validatorOf(os.Args[2])
	}
	results := map[string]result{}
	for name, values := range sets {
		results[name] = resultOf(os.Args[1], values, validate)
	}
	if err := json.NewEncoder(os.Stdout).Encode(results); err != nil {
		log.Fatal(err)
	}
}

func resultOf(path string, values map[string]any, validate func(*result, string, string)) result {
	files, err := render(path, values)
	if err != nil {
		return result{Refused: err.Error()}
	}
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
func render(path string, values map[string]any) (map[string]string, error) {
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
