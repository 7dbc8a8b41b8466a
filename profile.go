//go:build profile

package main

import (
	"bufio"
	"os"
	"runtime/pprof"
)

// Built with the tag "profile", as tests/bench -profile does, the program writes a CPU profile to the file CPU_PROFILE,
// from a line on its standard input to that input's end, and then the profile of its allocations beside it.
func init() { //nolint:gochecknoinits // main knows nothing of it
	go func() {
		input := bufio.NewScanner(os.Stdin)
		if !input.Scan() {
			return
		}
		path := os.Getenv("CPU_PROFILE")
		profile, err := os.Create(path)
		if err == nil {
			err = pprof.StartCPUProfile(profile)
		}
		if err != nil {
			panic(err)
		}
		for input.Scan() {
		}
		pprof.StopCPUProfile()
		_ = profile.Close()
		if allocations, err := os.Create(path + ".allocations"); err == nil {
			_ = pprof.Lookup("allocs").WriteTo(allocations, 0)
			_ = allocations.Close()
		}
	}()
}
