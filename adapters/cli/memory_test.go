package cli

import (
	"math"
	"os"
	"runtime/debug"
	"testing"
)

// TestMemoryIsSpentUnlessTheEnvironmentSaysHow runs alone: both settings are the process's.
func TestMemoryIsSpentUnlessTheEnvironmentSaysHow(t *testing.T) {
	percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetGCPercent(percent); debug.SetMemoryLimit(limit) })
	read := func() (percent int, limited bool) {
		percent = debug.SetGCPercent(100)
		return percent, debug.SetMemoryLimit(math.MaxInt64) != math.MaxInt64
	}
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		t.Setenv(name, "") // restored at the end
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
	debug.SetMemoryLimit(math.MaxInt64)
	spendMemory()
	if percent, limited := read(); percent != heapGrowth || !limited {
		t.Errorf("garbage may be %d %% of what is used, limited: %t; want %d %% and a limit", percent, limited, heapGrowth)
	}
	t.Setenv("GOGC", "150")
	t.Setenv("GOMEMLIMIT", "1GiB")
	spendMemory()
	if percent, limited := read(); percent != 100 || limited {
		t.Errorf("with settings of the environment: %d %% of what is used, limited: %t; want both untouched",
			percent, limited)
	}
}
