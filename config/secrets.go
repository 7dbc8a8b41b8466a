package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
)

// fileSuffix ends the variable that names the file with a secret, as APP_SECRET_FILE.
const fileSuffix = "_FILE"

// credentials is the variable in which systemd names the folder of a service's credentials.
const credentials = "CREDENTIALS_DIRECTORY"

// maxSecretFile bounds the bytes of a file with a secret.
const maxSecretFile = 64 << 10

// Variables lists the variables that a deployment is configured by, and those that lead to files with secrets.
func Variables() []string {
	all := []string{credentials}
	for name, secret := range variables {
		all = append(all, name)
		if secret {
			all = append(all, name+fileSuffix)
		}
	}
	return all
}

// SecretVariables lists the variables that hold secrets. Each may come from a file instead.
func SecretVariables() []string {
	var all []string
	for name, secret := range variables {
		if secret {
			all = append(all, name)
		}
	}
	return all
}

// variables iterates over the variables of Config, with whether each holds a secret.
func variables(yield func(name string, secret bool) bool) {
	for field := range reflect.TypeFor[Config]().Fields() {
		name, option, _ := strings.Cut(field.Tag.Get("env"), ",")
		if name != "" && name != "-" && !yield(name, option == "unset") {
			return
		}
	}
}

// withFiles adds to the given variables what the files with secrets hold: the one that NAME_FILE names, or else the one
// called NAME in the folder of systemd's credentials. A line break at the end does not belong to the secret.
func withFiles(given map[string]string) (map[string]string, []error) {
	all, faults := maps.Clone(given), []error(nil)
	for _, name := range SecretVariables() {
		path := given[name+fileSuffix]
		switch {
		case path != "" && given[name] != "":
			faults = append(faults, fmt.Errorf("%s and %s%s are both set; set one", name, name, fileSuffix))
			continue
		case path == "" && given[name] == "" && given[credentials] != "":
			path = filepath.Join(given[credentials], name)
			if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
				continue
			}
		case path == "":
			continue
		}
		raw, err := os.ReadFile(path) //nolint:gosec // the operator's own file
		if err != nil || len(raw) > maxSecretFile {
			faults = append(faults, fmt.Errorf("%s cannot be read from its file %s (%w)", name, path, reasonOf(err)))
			continue
		}
		all[name] = strings.TrimSuffix(strings.TrimSuffix(string(raw), "\n"), "\r")
	}
	return all, faults
}

// reasonOf is an error without the path, which its message would have twice.
func reasonOf(err error) error {
	if known, ok := errors.AsType[*os.PathError](err); ok {
		return known.Err
	}
	if err == nil {
		return errors.New("too large")
	}
	return err
}

// secretFaults checks that the app secrets can't be guessed and differ.
func (c Config) secretFaults() (all faultList) {
	for _, s := range []struct{ name, value string }{
		{"APP_SECRET", c.AppSecret}, {"APP_SECRET_PREVIOUS", c.AppSecretPrevious},
	} {
		if s.value == "" {
			continue
		}
		long := len(s.value) >= 32
		all.require(long, "%s must have at least 32 bytes; it has %d", s.name, len(s.value))
		all.require(!long || strings.Count(s.value, s.value[:1]) < len(s.value),
			"%s must be random; it is one character repeated", s.name)
	}
	all.require(c.AppSecretPrevious == "" || c.AppSecret != "" && c.AppSecret != c.AppSecretPrevious,
		"APP_SECRET_PREVIOUS must be beside an APP_SECRET that differs from it")
	return all
}
