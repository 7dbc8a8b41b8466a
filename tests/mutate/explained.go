package main

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
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

// has reports whether a survivor is explained, by its own ID or by a pattern: "folder/* rest" explains every mutation
// of the folder's files whose ID ends with the rest.
func (e Explained) has(id string) bool {
	if e[id] != "" {
		return true
	}
	for pattern := range e {
		if matches(pattern, id) {
			return true
		}
	}
	return false
}

func matches(pattern, id string) bool {
	folder, rest, ok := strings.Cut(pattern, "* ")
	return ok && strings.HasPrefix(id, folder) && strings.HasSuffix(ordinal.ReplaceAllString(id, ""), " "+rest)
}

// ordinal ends the IDs of the same changes of a function but for the first.
var ordinal = regexp.MustCompile(` \(\d+\)$`)

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
			if folder, _, pattern := strings.Cut(id, "* "); pattern && folder == p.Dir+"/" && !explainsAny(id, survivors) {
				unneeded = append(unneeded, id)
			}
		}
	}
	return unneeded
}

// explainsAny reports whether a pattern explains one of the survivors.
func explainsAny(pattern string, survivors map[string]bool) bool {
	for id := range survivors {
		if matches(pattern, id) {
			return true
		}
	}
	return false
}
