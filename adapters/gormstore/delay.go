package gormstore

import (
	"sync"
	"time"
)

// sampleEvery bounds how often the connections are counted, and so how far back a delay looks.
const sampleEvery = 100 * time.Millisecond

// turns counts those who took a connection.
type turns struct {
	inUse, max int
	taken      int64
	waits      int64         // of those taken, how many were waited for
	waited     time.Duration // in all
	longest    time.Duration // of those since the last time
}

// delayGauge estimates how long a request that begins now will wait for its connections, by those that have just got
// theirs.
type delayGauge struct {
	mu    sync.Mutex
	at    time.Time
	last  turns
	delay time.Duration
}

// sample returns the estimate as of now. Between two samples it stays.
func (g *delayGauge) sample(now time.Time, read func() turns) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	since := now.Sub(g.at)
	if since < sampleEvery {
		return g.delay
	}
	seen := read()
	switch waits := seen.waits - g.last.waits; {
	case g.at.IsZero():
	case waits > 0 || seen.longest > 0:
		g.delay = max(seen.longest, (seen.waited-g.last.waited)/time.Duration(max(waits, 1)))
	case seen.inUse >= seen.max && seen.taken == g.last.taken:
		g.delay += since // nobody has got one meanwhile
	default:
		g.delay = 0
	}
	g.at, g.last = now, seen
	return g.delay
}

// Delay estimates how long a request waits for a connection at present. It is 0 when nobody waits, and on SQLite, whose
// readers wait for nobody and whose writers for the one before them.
func (s *Store) Delay() time.Duration {
	if s.engine.Pool == nil {
		return 0
	}
	return s.delay.sample(time.Now(), func() turns {
		stat := s.engine.Pool.Stat()
		return turns{
			inUse: int(stat.AcquiredConns()), max: int(stat.MaxConns()), taken: stat.AcquireCount(),
			waits: stat.EmptyAcquireCount(), waited: stat.EmptyAcquireWaitTime(), longest: s.queue.longestWait(),
		}
	})
}
