// Command validate decodes the files of a folder as Kubernetes itself does, strictly: an unknown field, kind or version,
// a wrong type or a doubled member fails.
//
//	go run -C deploy/kubernetes/validate . ..
package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: validate FOLDER")
		os.Exit(2)
	}
	count, err := validate(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "validate:", err)
		os.Exit(1)
	}
	fmt.Printf("%d objects are valid\n", count)
}

func validate(folder string) (count int, err error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, networkingv1.AddToScheme, policyv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return 0, err
		}
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return 0, err
	}
	var faults []error
	for _, file := range files {
		if filepath.Base(file) == "kustomization.yaml" {
			continue // of another program
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return 0, err
		}
		reader := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
		for {
			document, err := reader.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return 0, err
			}
			if _, _, err := decoder.Decode(document, nil, nil); err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", filepath.Base(file), err))
			}
			count++
		}
	}
	if count == 0 {
		faults = append(faults, errors.New("no objects"))
	}
	return count, errors.Join(faults...)
}
