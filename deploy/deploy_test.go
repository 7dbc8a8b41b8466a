// Package deploy holds how the program is run on machines and clusters.
package deploy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"sundry/config"
)

const unit = "systemd/sundry@.service"

func TestUnitIsHardened(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(unit)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(content), "\n")
	for _, want := range []string{
		"LoadCredential=APP_SECRET:/etc/sundry/credentials/APP_SECRET", "DynamicUser=yes", "ProtectSystem=strict",
		"NoNewPrivileges=yes", "CapabilityBoundingSet=", "SystemCallFilter=@system-service", "MemoryDenyWriteExecute=yes",
		"RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX", "UMask=0077", "KillSignal=SIGTERM", "TimeoutStopSec=30",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("the unit has no line %s", want)
		}
	}
	for _, line := range lines {
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "Environment="), "=")
		if strings.HasPrefix(line, "Environment=") && slices.Contains(config.SecretVariables(), name) {
			t.Errorf("a secret is in the environment: %s", line)
		}
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		return // the lines above are what it would judge
	}
	// It looks for the program of the unit.
	file := filepath.Join(t.TempDir(), "sundry@serve.service")
	content = bytes.ReplaceAll(content, []byte("/usr/local/bin/sundry %i"), []byte("/bin/true"))
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"verify", "--man=no", file}, {"security", "--offline=yes", "--threshold=20", file}, // 2.0 of 10
	} {
		if out, err := exec.CommandContext(t.Context(), analyze, args...).CombinedOutput(); err != nil {
			t.Errorf("systemd-analyze %s: %v\n%s", args[0], err, out)
		}
	}
}

// object holds the fields of a Kubernetes object that the checks below read. The task kube:validate decodes all of it.
type object struct {
	Kind     string
	Metadata struct{ Name string }
	Data     map[string]string
	Spec     struct {
		Replicas int
		Template struct{ Spec pod }
	}
	Resources []string
}

type pod struct {
	TerminationGracePeriodSeconds int  `yaml:"terminationGracePeriodSeconds"`
	AutomountServiceAccountToken  bool `yaml:"automountServiceAccountToken"`
	SecurityContext               struct {
		RunAsNonRoot bool `yaml:"runAsNonRoot"`
	} `yaml:"securityContext"`
	Containers []container
}

type container struct {
	Args  []string
	Env   []struct{ Name, Value string }
	Ports []struct {
		Name          string
		ContainerPort int `yaml:"containerPort"`
	}
	StartupProbe   probe `yaml:"startupProbe"`
	ReadinessProbe probe `yaml:"readinessProbe"`
	LivenessProbe  probe `yaml:"livenessProbe"`
	Lifecycle      struct {
		PreStop struct{ Sleep struct{ Seconds int } } `yaml:"preStop"`
	}
	Resources       struct{ Requests, Limits map[string]string }
	SecurityContext struct {
		AllowPrivilegeEscalation *bool `yaml:"allowPrivilegeEscalation"`
		ReadOnlyRootFilesystem   bool  `yaml:"readOnlyRootFilesystem"`
		Capabilities             struct{ Drop []string }
	} `yaml:"securityContext"`
}

type probe struct {
	HTTPGet struct{ Path, Port string } `yaml:"httpGet"`
}

// objectsIn reads a file of Kubernetes.
func objectsIn(t *testing.T, file string) []object {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []object
	for decoder := yaml.NewDecoder(bytes.NewReader(content)); ; {
		var one object
		err := decoder.Decode(&one)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, one)
	}
}

func TestKubernetesRunsTheProgram(t *testing.T) {
	t.Parallel()
	files := objectsIn(t, "kubernetes/kustomization.yaml")[0].Resources
	there, err := filepath.Glob("kubernetes/*.yaml")
	if err != nil || len(there) != len(files)+1 {
		t.Errorf("the kustomization names %v, the folder has %v", files, there)
	}
	settings := map[string]string{}
	commands := map[string]bool{}
	for _, file := range files {
		for _, o := range objectsIn(t, filepath.Join("kubernetes", file)) {
			if o.Kind == "ConfigMap" {
				settings = o.Data
			}
			if o.Kind == "Deployment" {
				commands[strings.Join(o.Spec.Template.Spec.Containers[0].Args, " ")] = true
				for _, fault := range podFaults(o.Spec.Template.Spec) {
					t.Errorf("%s: %s", o.Metadata.Name, fault)
				}
			}
		}
	}
	if !commands["serve"] || !commands["worker"] {
		t.Errorf("the deployments run %v, want serve and worker", commands)
	}
	for name := range settings {
		if !slices.Contains(config.Variables(), name) || slices.Contains(config.SecretVariables(), name) {
			t.Errorf("the ConfigMap has %s, which is no setting or a secret", name)
		}
	}
	settings["APP_SECRET"] = strings.Repeat("ab", 20)
	settings["S3_SECRET_ACCESS_KEY"] = "of the Secret"
	cfg, err := config.FromMap(settings)
	if err != nil {
		t.Fatalf("the settings are refused: %v", err)
	}
	if cfg.S3Endpoint == "" {
		t.Error("creators' files are in a folder that each pod has for itself and loses with its end")
	}
	if cfg.ShutdownTimeout != 20*time.Second {
		t.Errorf("a process has %s to stop, which terminationGracePeriodSeconds should cover", cfg.ShutdownTimeout)
	}
}

// podFaults returns what would break a restart without a failed request, or is left open to who breaks in.
func podFaults(p pod) []string {
	var faults []string
	add := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Sprintf(format, args...))
		}
	}
	c := p.Containers[0]
	pause := c.Lifecycle.PreStop.Sleep.Seconds
	add(pause < 5, "SIGTERM arrives %d s after the pod leaves the proxies, want 5 or more", pause)
	add(p.TerminationGracePeriodSeconds < pause+25, "it is killed after %d s", p.TerminationGracePeriodSeconds)
	add(p.AutomountServiceAccountToken || !p.SecurityContext.RunAsNonRoot, "it runs as root or with a token of the cluster")
	s := c.SecurityContext
	add(s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation || !s.ReadOnlyRootFilesystem ||
		!slices.Equal(s.Capabilities.Drop, []string{"ALL"}), "it has rights that it does not need")
	add(c.Resources.Limits["memory"] == "" || c.Resources.Requests["cpu"] == "", "its resources are not bounded")
	ports := map[string]bool{}
	for _, port := range c.Ports {
		ports[port.Name] = true
	}
	for path, probes := range map[string][]probe{
		"/readyz": {c.StartupProbe, c.ReadinessProbe}, "/healthz": {c.LivenessProbe},
	} {
		for _, one := range probes {
			add(one.HTTPGet.Path != path || !ports[one.HTTPGet.Port], "a probe asks %s at %s, want %s at a port of the pod",
				one.HTTPGet.Path, one.HTTPGet.Port, path)
		}
	}
	return faults
}
