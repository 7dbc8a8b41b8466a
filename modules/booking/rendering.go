package booking

import (
	"container/list"
	"context"
	"sync"
	"time"

	"sundry/ports"
)

// maxRendered bounds the bytes of the renderings that one process keeps. A month of an hour's steps has 80 kB.
const maxRendered = 8 << 20

// Rendering is a calendar as a response shows it. Nobody may change its body.
type Rendering struct {
	Body []byte
	ETag string
}

// Renderer turns calendars into the bodies of one kind of response.
type Renderer struct {
	// Name tells it from the others.
	Name   string
	Render func(c Calendar) (Rendering, error)
}

// Rendered is Open rendered by one of the renderers. It keeps renderings and computes one again when the version of
// its calendar has changed, which each call reads, or when the passing of time changes its open times.
func (s *Service) Rendered(ctx context.Context, query CalendarQuery, by Renderer) (Rendering, error) {
	if err := query.check(); err != nil {
		return Rendering{}, err
	}
	r := s.deps.Store.Read(ctx)
	// The version is read before what it stands for: a change in between makes the next call compute again.
	version, err := r.Booking.Scheduling.GetVersion(ctx, query.ListingID)
	if err != nil {
		return Rendering{}, ports.Missing(err, "listing")
	}
	now := s.deps.Clock.Real().Add(version.Offset).UTC().Truncate(time.Millisecond)
	key := renderingKey{by.Name, query}
	if kept, ok := s.renderings.get(key, version, now); ok {
		return kept, nil
	}
	calendar, until, err := s.openAt(ctx, r, query, now)
	if err != nil {
		return Rendering{}, err
	}
	rendering, err := by.Render(calendar)
	if err == nil {
		s.renderings.put(&keptRendering{Rendering: rendering, key: key, version: version, from: now, until: until})
	}
	return rendering, err
}

type renderingKey struct {
	renderer string
	query    CalendarQuery
}

// keptRendering is true to its version of the calendar from one account time until another.
type keptRendering struct {
	Rendering
	key         renderingKey
	version     ports.CalendarVersion
	from, until time.Time
}

// renderings keeps those that were used last.
type renderings struct {
	mu    sync.Mutex
	byKey map[renderingKey]*list.Element // of *keptRendering
	used  list.List                      // the last used first
	bytes int
}

// get returns the rendering that is kept under a key if it is still true.
func (c *renderings) get(key renderingKey, version ports.CalendarVersion, now time.Time) (Rendering, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	element, ok := c.byKey[key]
	if !ok {
		return Rendering{}, false
	}
	kept := element.Value.(*keptRendering) //nolint:forcetypeassert,errcheck // it is only written below
	if kept.version.Listing != version.Listing || kept.version.Creator != version.Creator || now.Before(kept.from) ||
		!now.Before(kept.until) {
		return Rendering{}, false
	}
	c.used.MoveToFront(element)
	return kept.Rendering, true
}

// put keeps a rendering in the place of the one under its key, and drops those that were used longest ago.
func (c *renderings) put(kept *keptRendering) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey == nil {
		c.byKey = map[renderingKey]*list.Element{}
	}
	if old, ok := c.byKey[kept.key]; ok {
		c.drop(old)
	}
	c.byKey[kept.key] = c.used.PushFront(kept)
	for c.bytes += kept.size(); c.bytes > maxRendered; {
		c.drop(c.used.Back())
	}
}

func (c *renderings) drop(element *list.Element) {
	kept := c.used.Remove(element).(*keptRendering) //nolint:forcetypeassert,errcheck // it is only written by put
	delete(c.byKey, kept.key)
	c.bytes -= kept.size()
}

// size estimates the memory of a rendering with what finds it.
func (k *keptRendering) size() int {
	const rest = 512
	return cap(k.Body) + len(k.ETag) + rest
}
