package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// explainedFile lists the survivors that are no hole in the tests: changes that no caller could notice.
const explainedFile = "tests/mutate/explained.txt"

// Explained are the survivors with the reason why no test can kill them, by the mutation's ID.
type Explained map[string]string

// readExplained reads a file of lines "ID | reason"; empty lines and lines that begin with # are comments.
func readExplained(path string) (Explained, error) {
	file, err := os.Open(path) //nolint:gosec // the path is this tool's own
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	explained := Explained{}
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		at := strings.LastIndex(line, " | ")
		if at < 0 || strings.TrimSpace(line[at+3:]) == "" {
			return nil, fmt.Errorf("%s:%d: expected \"mutation | reason\"", path, n)
		}
		explained[strings.TrimSpace(line[:at])] = strings.TrimSpace(line[at+3:])
	}
	return explained, lines.Err()
}

// stale lists the explanations of the packages' files that no survivor needs any more.
func (e Explained) stale(ran []Package, survivors map[string]bool) []string {
	var unneeded []string
	for id := range e {
		file, _, _ := strings.Cut(id, " ")
		for _, p := range ran {
			for _, own := range p.Files {
				if own == file && !survivors[id] {
					unneeded = append(unneeded, id)
				}
			}
		}
	}
	return unneeded
}
