package pdf

import (
	"crypto/sha256"
	"fmt"
	"sync"

	"sundry/ports"
)

// maxKept bounds the PDFs that are kept, in bytes.
const maxKept = 8 << 20

// cache keeps PDFs by everything that is in their documents.
type cache struct {
	mu   sync.Mutex
	kept map[[sha256.Size]byte][]byte
	size int
}

func keyOf(d ports.Document) [sha256.Size]byte { return sha256.Sum256(fmt.Appendf(nil, "%#v", d)) }

func (c *cache) get(key [sha256.Size]byte) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kept[key]
}

// keep frees space by forgetting whichever PDFs come first: any of them can be rendered again.
func (c *cache) keep(key [sha256.Size]byte, content []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(content) > maxKept || c.kept[key] != nil {
		return
	}
	for other, old := range c.kept {
		if c.size+len(content) <= maxKept {
			break
		}
		c.size -= len(old)
		delete(c.kept, other)
	}
	c.kept[key] = content
	c.size += len(content)
}
