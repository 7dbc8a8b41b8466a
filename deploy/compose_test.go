package deploy

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// compose reads a file as Docker Compose does, with variables beside those of the test but for some that the file
// names, and returns what it prints.
func compose(t *testing.T, file string, variables ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "run", "-C", "compose/validate", ".", file)
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if !slices.Contains([]string{"APP_SECRET", "POSTGRES_PASSWORD", "GOGC", "GOMEMLIMIT"}, name) {
			command.Env = append(command.Env, variable)
		}
	}
	command.Env = append(command.Env, variables...)
	out, err := command.CombinedOutput()
	return string(out), err
}

// Compose takes the file with the two secrets that it asks for, and not without one of them.
func TestComposeTakesTheFile(t *testing.T) {
	t.Parallel()
	file, err := filepath.Abs("../compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	out, err := compose(t, file, "APP_SECRET=x", "POSTGRES_PASSWORD=y")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, line := range []string{
		"migrate DATABASE_URL", "serve APP_SECRET", "serve REDIS_URL", "worker DATABASE_URL", "worker REDIS_URL",
		"postgres POSTGRES_PASSWORD",
	} {
		if !strings.Contains("\n"+out, "\n"+line+" ") {
			t.Errorf("a service has no %s", line)
		}
	}
	// Links lead to the port that is published.
	elsewhere, err := compose(t, file, "APP_SECRET=x", "POSTGRES_PASSWORD=y", "PORT=9000")
	if err != nil || !strings.Contains(elsewhere, "\nserve BASE_URL http://127.0.0.1:9000\n") {
		t.Errorf("at another port: %v\n%s", err, elsewhere)
	}
	// What others read by themselves is there where it is set, and nowhere else: to Go, an empty GOGC is its own 100.
	sampled, err := compose(t, file, "APP_SECRET=x", "POSTGRES_PASSWORD=y", "OTEL_TRACES_SAMPLER=always_off")
	if err != nil || !strings.Contains(sampled, "\nserve OTEL_TRACES_SAMPLER always_off\n") || strings.Contains(sampled, "GOGC") {
		t.Errorf("with a sampler: %v\n%s", err, sampled)
	}
	for missing, given := range map[string]string{"APP_SECRET": "POSTGRES_PASSWORD=y", "POSTGRES_PASSWORD": "APP_SECRET=x"} {
		if out, err := compose(t, file, given); err == nil || !strings.Contains(out, "set "+missing+" in .env") {
			t.Errorf("without %s: %v, %s", missing, err, out)
		}
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	spoilt := filepath.Join(t.TempDir(), "compose.yaml")
	content = bytes.Replace(content, []byte("    depends_on:"), []byte("    depends_upon:"), 1)
	if err := os.WriteFile(spoilt, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := compose(t, spoilt, "APP_SECRET=x", "POSTGRES_PASSWORD=y"); err == nil ||
		!strings.Contains(out, "depends_upon") {
		t.Errorf("an unknown member is taken: %v, %s", err, out)
	}
}
