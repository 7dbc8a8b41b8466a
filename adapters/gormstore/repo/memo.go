package repo

import (
	"maps"
	"sync"
	"sync/atomic"
)

// Memo remembers what is derived from each of a few keys, such as the texts of statements. The zero value is empty.
type Memo[K comparable, V any] struct {
	known   atomic.Pointer[map[K]V]
	writing sync.Mutex
}

// Get returns what is remembered of a key, or else what derive returns and remembers that unless it fails.
func (m *Memo[K, V]) Get(key K, derive func() (V, error)) (V, error) {
	if known := m.known.Load(); known != nil {
		if value, ok := (*known)[key]; ok {
			return value, nil
		}
	}
	value, err := derive()
	if err != nil {
		return value, err
	}
	m.writing.Lock()
	defer m.writing.Unlock()
	grown := map[K]V{key: value}
	if known := m.known.Load(); known != nil {
		maps.Copy(grown, *known)
	}
	m.known.Store(&grown)
	return value, nil
}
