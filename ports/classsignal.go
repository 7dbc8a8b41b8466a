package ports

import (
	"slices"
	"sync"
)

// ClassSignal collects classes of tasks that may have something due, until somebody takes them. No method blocks.
type ClassSignal struct {
	mu      sync.Mutex
	classes []TaskClass
	raised  chan struct{}
}

// NewClassSignal returns a signal without classes.
func NewClassSignal() *ClassSignal { return &ClassSignal{raised: make(chan struct{}, 1)} }

// Raise adds classes, every one when none is named.
func (s *ClassSignal) Raise(classes ...TaskClass) {
	if len(classes) == 0 {
		classes = TaskClasses()
	}
	s.mu.Lock()
	for _, class := range classes {
		if !slices.Contains(s.classes, class) {
			s.classes = append(s.classes, class)
		}
	}
	s.mu.Unlock()
	select {
	case s.raised <- struct{}{}:
	default: // who takes the classes takes these too
	}
}

// Raised receives once there are classes to take. They may have been taken meanwhile.
func (s *ClassSignal) Raised() <-chan struct{} { return s.raised }

// Take empties the signal and returns its classes.
func (s *ClassSignal) Take() []TaskClass {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.classes
	s.classes = nil
	return taken
}
