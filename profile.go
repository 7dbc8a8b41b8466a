//go:build profile

package main

import (
	"bufio"
	"os"
	"runtime/pprof"
)

// Built with the tag "profile", as tests/bench -profile does, the program writes a CPU profile to the file CPU_PROFILE:
// from a line on its standard input to that input's end.
func init() { //nolint:gochecknoinits // main knows nothing of it
	go func() {
		input := bufio.NewScanner(os.Stdin)
		if !input.Scan() {
			return
		}
		file, err := os.Create(os.Getenv("CPU_PROFILE"))
		if err == nil {
			err = pprof.StartCPUProfile(file)
		}
		if err != nil {
			panic(err)
		}
		for input.Scan() {
		}
		pprof.StopCPUProfile()
		_ = file.Close()
	}()
}
