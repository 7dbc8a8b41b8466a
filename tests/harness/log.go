package harness

import (
	"strings"
	"sync"
)

// Log keeps what the program logs, so that a test that meets a 5xx can show why.
type Log struct {
	mu    sync.Mutex
	lines []string
}

// keptLines bounds the memory of a long run.
const keptLines = 2000

// Write implements io.Writer: slog writes one line at a time.
func (l *Log) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lines) == keptLines {
		l.lines = append([]string(nil), l.lines[keptLines/2:]...)
	}
	l.lines = append(l.lines, string(line))
	return len(line), nil
}

// About returns the lines that hold the given text, such as a request id.
func (l *Log) About(text string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found strings.Builder
	for _, line := range l.lines {
		if strings.Contains(line, text) {
			found.WriteString(line)
		}
	}
	return found.String()
}
