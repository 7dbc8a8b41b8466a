package config

import (
	"fmt"
	"maps"
	"os"
	"strings"
	"sync"

	"github.com/caarlos0/env/v11"
)

// inherited are the variables that this process was started with: reading the settings takes the secrets out of its
// environment, and several files may need them.
var inherited = sync.OnceValue(func() map[string]string { return env.ToMap(os.Environ()) })

// FromFile is FromEnvironment with the settings of a file in the place of those of the environment with the same name.
func FromFile(path string, own ...Brought) (Config, error) {
	raw, err := os.ReadFile(path) //nolint:gosec // the operator's own file
	if err != nil {
		return Config{}, err
	}
	settings, err := parseSettings(string(raw))
	if err != nil {
		return Config{}, err
	}
	variables := maps.Clone(inherited())
	maps.Copy(variables, settings)
	return parse(env.Options{Environment: variables}, own...)
}

// parseSettings reads lines NAME=value. Empty ones and those that begin with # or ; count for nothing, and quotes
// around a value do not belong to it. Errors repeat no value.
func parseSettings(text string) (map[string]string, error) {
	settings := map[string]string{}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if name = strings.TrimSpace(name); !ok || name == "" || strings.ContainsAny(name, " \t") {
			return nil, fmt.Errorf("line %d is not NAME=value", i+1)
		}
		value = strings.TrimSpace(value)
		for _, quote := range []string{`"`, "'"} {
			if inner, begins := strings.CutPrefix(value, quote); begins && strings.HasSuffix(inner, quote) {
				value = strings.TrimSuffix(inner, quote)
				break
			}
		}
		settings[name] = value
	}
	return settings, nil
}
