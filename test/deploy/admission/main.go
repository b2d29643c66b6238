// Command admission does what the API server does with resources before it stores them: it decodes them strictly, sets the
// defaults, validates them by the rules of their kind, and evaluates pods by the Pod Security Standard "restricted".
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"
	podsecurity "k8s.io/pod-security-admission/admission"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/autoscaling/horizontalpodautoscaler"
	"k8s.io/kubernetes/pkg/registry/batch/cronjob"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/core/configmap"
	"k8s.io/kubernetes/pkg/registry/core/namespace"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim"
	"k8s.io/kubernetes/pkg/registry/core/service"
	"k8s.io/kubernetes/pkg/registry/networking/ingress"
	"k8s.io/kubernetes/pkg/registry/networking/networkpolicy"
	"k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget"
)

// strategies has the rules of each kind.
var strategies = map[schema.GroupKind]rest.RESTCreateStrategy{
	{Group: "apps", Kind: "Deployment"}:                     deployment.Strategy,
	{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}: horizontalpodautoscaler.Strategy,
	{Group: "batch", Kind: "CronJob"}:                       cronjob.Strategy,
	{Group: "batch", Kind: "Job"}:                           job.Strategy,
	{Group: "networking.k8s.io", Kind: "Ingress"}:           ingress.Strategy,
	{Group: "networking.k8s.io", Kind: "NetworkPolicy"}:     networkpolicy.Strategy,
	{Group: "policy", Kind: "PodDisruptionBudget"}:          poddisruptionbudget.Strategy,
	{Kind: "ConfigMap"}:                                     configmap.Strategy,
	{Kind: "Namespace"}:                                     namespace.Strategy,
	{Kind: "PersistentVolumeClaim"}:                         persistentvolumeclaim.Strategy,
	{Kind: "Service"}:                                       service.Strategy,
}

// result is what became of a list of resources.
type result struct {
	// Accepted has the kinds of the resources that passed, one for each resource.
	Accepted []string `json:"accepted"`
	// Refused has a line for each reason.
	Refused []string `json:"refused"`
	// Warnings has what the API server would tell kubectl.
	Warnings []string `json:"warnings"`
	// Unknown has the kinds that are defined by CustomResourceDefinitions.
	Unknown []string `json:"unknown"`
}

var (
	decoder = serializer.NewCodecFactory(legacyscheme.Scheme, serializer.EnableStrict).UniversalDecoder()
	checks  = policy.DefaultChecks()
)

// Usage: admission. Reads lists of resources by name as JSON from stdin, and prints their results as JSON.
func main() {
	var lists map[string][]json.RawMessage
	if err := json.NewDecoder(os.Stdin).Decode(&lists); err != nil {
		log.Fatal(err)
	}
	evaluator, err := policy.NewEvaluator(checks, nil)
	if err != nil {
		log.Fatal(err)
	}
	results := map[string]result{}
	for name, resources := range lists {
		of := result{Accepted: []string{}, Refused: []string{}, Warnings: []string{}, Unknown: []string{}}
		for _, resource := range resources {
			of.admit(resource, evaluator)
		}
		results[name] = of
	}
	if err := json.NewEncoder(os.Stdout).Encode(results); err != nil {
		log.Fatal(err)
	}
}

func (of *result) admit(resource []byte, evaluator policy.Evaluator) {
	var partial metav1.PartialObjectMetadata
	if err := json.Unmarshal(resource, &partial); err != nil {
		log.Fatal(err)
	}
	kind := partial.GroupVersionKind()
	name := fmt.Sprintf("%s %s", kind.Kind, partial.Name)
	strategy, isKnown := strategies[kind.GroupKind()]
	if !isKnown {
		of.Unknown = append(of.Unknown, kind.Kind)
		return
	}
	refuse := func(reason string) { of.Refused = append(of.Refused, fmt.Sprintf("%s: %s", name, reason)) }
	warn := func(text string) { of.Warnings = append(of.Warnings, fmt.Sprintf("%s: %s", name, text)) }
	object, _, err := decoder.Decode(resource, nil, nil)
	if err != nil {
		refuse(err.Error())
		return
	}
	if err := create(strategy, object, kind.GroupVersion(), warn); err != nil {
		refuse(err.Error())
		return
	}
	if reason := insecure(object, kind.GroupVersion(), evaluator); reason != "" {
		refuse(reason)
		return
	}
	of.Accepted = append(of.Accepted, kind.Kind)
}

// create does what the API server does for POST before it stores the object.
func create(strategy rest.RESTCreateStrategy, object runtime.Object, version schema.GroupVersion, warn recorder) error {
	if service, isService := object.(*core.Service); isService && service.Spec.ClusterIP == core.ClusterIPNone {
		// The storage of Services does this beside the allocation of addresses.
		service.Spec.ClusterIPs = []string{core.ClusterIPNone}
	}
	accessor, err := meta.Accessor(object)
	if err != nil {
		return err
	}
	rest.FillObjectMetaSystemFields(accessor)
	ctx := genericapirequest.WithNamespace(context.Background(), accessor.GetNamespace())
	ctx = genericapirequest.WithRequestInfo(ctx, &genericapirequest.RequestInfo{
		IsResourceRequest: true,
		Verb:              "create",
		APIGroup:          version.Group,
		APIVersion:        version.Version,
	})
	return rest.BeforeCreate(strategy, warning.WithWarningRecorder(ctx, warn), object)
}

type recorder func(text string)

func (warn recorder) AddWarning(_, text string) { warn(text) }

// insecure tells why pods of the object violate the Pod Security Standard "restricted" of the latest version.
func insecure(object runtime.Object, version schema.GroupVersion, evaluator policy.Evaluator) string {
	external, err := legacyscheme.Scheme.ConvertToVersion(object, version)
	if err != nil {
		return err.Error()
	}
	metadata, spec, err := podsecurity.DefaultPodSpecExtractor{}.ExtractPodSpec(external)
	if err != nil || spec == nil {
		return ""
	}
	level := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	found := policy.AggregateCheckResults(evaluator.EvaluatePod(level, metadata, spec))
	if found.Allowed {
		return ""
	}
	return strings.TrimSpace(fmt.Sprintf("violates PodSecurity %q: %s", level.String(), found.ForbiddenDetail()))
}
