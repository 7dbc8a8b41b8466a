package main

import (
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"sundry/tests/bench/process"
)

// cost sums up the processor time and the allocations of a process for its requests.
type cost struct {
	processor   time.Duration
	allocations float64
	requests    int64
}

// add adds what was spent between two readings on a number of requests.
func (c *cost) add(before, after cost, requests int64) {
	c.processor += after.processor - before.processor
	c.allocations += after.allocations - before.allocations
	c.requests += requests
}

// String prints what one request costs.
func (c cost) String() string {
	return fmt.Sprintf("%v and %.0f allocations", (c.processor / time.Duration(c.requests)).Round(time.Microsecond),
		c.allocations/float64(c.requests))
}

// measured is a process that counts its allocations.
type measured struct {
	metrics string
	process *process.Process
}

// allocations finds how many there have been in the metrics.
var allocations = regexp.MustCompile(`(?m)^go_memstats_mallocs_total (\S+)$`)

// cost reads what the process has used so far.
func (m *measured) cost() (c cost, err error) {
	if c.processor, err = m.process.Processor(); err != nil {
		return c, err
	}
	_, metrics, err := fasthttp.Get(nil, m.metrics)
	if err != nil {
		return c, err
	}
	found := allocations.FindSubmatch(metrics)
	if found == nil {
		return c, fmt.Errorf("%s does not count allocations", m.metrics)
	}
	c.allocations, err = strconv.ParseFloat(string(found[1]), 64)
	return c, err
}
