//go:build unix

package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// clockSkew names the variable by which the clock of a process of skewedBinary is ahead, or behind.
const clockSkew = "CLOCK_SKEW"

// readsTheClock lists the files that read the time for what the program decides by, in a folder each.
var readsTheClock = map[string][]string{
	"adapters/system": {"system.go"}, "adapters/gormstore": {"clockoffsets.go", "tasks.go"},
}

// skewedClock is added to such a folder.
const skewedClock = `
import (
	"os"
	"time"
)

var skew, _ = time.ParseDuration(os.Getenv("` + clockSkew + `"))

func skewedNow() time.Time { return time.Now().Add(skew) }
`

// skewedBinary is the program built from sources whose clock can be wrong: go build reads other files in the place of
// readsTheClock. It is built once per test process.
var skewedBinary = sync.OnceValues(func() (string, error) {
	if _, err := binary(); err != nil { // makes programFolder
		return "", err
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		return "", err
	}
	folder := filepath.Join(programFolder, "skewed")
	replace := map[string]string{}
	put := func(original, text string) error {
		copied := filepath.Join(folder, original)
		replace[filepath.Join(root, original)] = copied
		if err := os.MkdirAll(filepath.Dir(copied), 0o700); err != nil {
			return err
		}
		return os.WriteFile(copied, []byte(text), 0o600)
	}
	for dir, files := range readsTheClock {
		if err := put(filepath.Join(dir, "skewedclock.go"), "package "+filepath.Base(dir)+skewedClock); err != nil {
			return "", err
		}
		for _, name := range files {
			text, err := os.ReadFile(filepath.Join(root, dir, name))
			if err != nil {
				return "", err
			}
			skewed := strings.ReplaceAll(string(text), "time.Now()", "skewedNow()")
			if skewed == string(text) {
				return "", fmt.Errorf("%s/%s does not read the clock", dir, name)
			}
			if err := put(filepath.Join(dir, name), skewed); err != nil {
				return "", err
			}
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	list, program := filepath.Join(folder, "overlay.json"), filepath.Join(folder, "sundry")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		return "", err
	}
	return program, build(context.Background(), program, list)
})
