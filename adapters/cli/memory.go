package cli

import (
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

const (
	// heapGrowth bounds the garbage that is left uncollected, in percent of what is in use. Go's own 100 costs a sixth
	// more processor time per checkout session; 800 costs no less than this.
	heapGrowth = 400
	// memoryShare is the part of the container's or machine's memory from which on garbage is collected as needed.
	memoryShare = 0.7
)

// spendMemory has garbage collected less often than Go does, as long as there is memory: that of the container, or else
// of the machine. GOGC and GOMEMLIMIT of the environment go first, and where no limit can be read all stays as it is.
func spendMemory() {
	available := memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)
	if _, err := memlimit.Set(memlimit.WithProvider(available), memlimit.WithRatio(memoryShare)); err != nil {
		return
	}
	if _, chosen := os.LookupEnv("GOGC"); !chosen {
		debug.SetGCPercent(heapGrowth)
	}
}
