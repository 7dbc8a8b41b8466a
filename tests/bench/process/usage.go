package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit in which Linux counts processor time.
const tick = 10 * time.Millisecond

// Resident is the memory that the process and its children hold now, in MB.
func (p *Process) Resident() (mb int, err error) {
	for _, pid := range tree(p.cmd.Process.Pid) {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			return 0, err
		}
		for line := range strings.Lines(string(status)) {
			if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
				kb, _ := strconv.Atoi(strings.Fields(rest)[0])
				mb += kb / 1024
			}
		}
	}
	return mb, nil
}

// Processor is the processor time that the process and its children have used.
func (p *Process) Processor() (time.Duration, error) { return Processor(p.cmd.Process.Pid) }

// Processor is the processor time that a process and its children have used, those included that have ended.
func Processor(pid int) (total time.Duration, err error) {
	for i, pid := range tree(pid) {
		used, ofEnded, err := usedBy(pid)
		if i > 0 && errors.Is(err, os.ErrNotExist) { // a child that has just ended
			continue
		}
		if err != nil {
			return 0, err
		}
		total += used + ofEnded
	}
	return total, nil
}

// usedBy is the processor time of one process, and that of its children that have ended.
func usedBy(pid int) (used, ofEnded time.Duration, err error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, err
	}
	const user, system, endedUser, endedSystem = 11, 12, 13, 14 // fields behind the name
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) <= endedSystem {
		return 0, 0, errors.New("/proc shows no processor time")
	}
	sum := func(a, b int) time.Duration {
		first, _ := strconv.Atoi(fields[a])
		second, _ := strconv.Atoi(fields[b])
		return time.Duration(first+second) * tick
	}
	return sum(user, system), sum(endedUser, endedSystem), nil
}

// tree lists a process and its descendants.
func tree(pid int) []int {
	pids := []int{pid}
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, thread := range threads {
		children, _ := os.ReadFile(thread) //nolint:gosec // of /proc
		for child := range strings.FieldsSeq(string(children)) {
			if child, err := strconv.Atoi(child); err == nil {
				pids = append(pids, tree(child)...)
			}
		}
	}
	return pids
}
