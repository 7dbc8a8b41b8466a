package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestDocumentsNameTheSameCommands keeps every place that tells how to test and build from drifting.
func TestDocumentsNameTheSameCommands(t *testing.T) {
	t.Parallel()
	const linter = "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0"
	cases := map[string][]string{ // the commands that the lines of a file begin with
		"README.md":       {"go run .", "go run ./tests/run"},
		"CONTRIBUTING.md": {"go test ./...", "go run ./tests/run", "bash .ci/run"},
		".ci/run":         {"go run ./tests/run", "found=$(go run " + linter + " run"},
		"Taskfile.yml": {
			"- go run ./tests/run", "- go test ./...", "GOLANGCI_LINT: " + linter,
			`CGO_ENABLED: "0"`, "- go build -trimpath -ldflags='-s -w'",
		},
		"Dockerfile": {"CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -ldflags='-s -w'"},

		".github/workflows/ci.yml": {"- run: bash .ci/run"},
	}
	for file, commands := range cases {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile("../../" + file)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(string(raw), "\n")
			for _, command := range commands {
				if !slices.ContainsFunc(lines, func(line string) bool {
					line = strings.TrimSpace(line)
					return line == command || strings.HasPrefix(line, command+" ")
				}) {
					t.Errorf("no line begins with %q", command)
				}
			}
		})
	}
}
