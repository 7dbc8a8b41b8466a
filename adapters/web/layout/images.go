package layout

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	core "sundry/core/image"
)

const (
	maxImage      = 2 << 20  // bytes of one image
	maxImages     = 16 << 20 // bytes of all that are kept
	imageLifetime = time.Hour
	imageFailure  = time.Minute // how long an address that gave no image is not asked again
	imageFetches  = 8           // at a time
)

// imageTypes are the types that browsers show without running anything.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// ImageFetcher reads from an address that untrusted parties chose, within bounds; see ports.Fetcher.
type ImageFetcher interface {
	Fetch(ctx context.Context, url string) ([]byte, error)
}

// images proxies pictures from other hosts, so that those do not learn who looks at a page. Only addresses that one
// of our pages named are fetched: their path carries a signature.
type images struct {
	key     []byte
	fetcher ImageFetcher
	slots   chan struct{}

	mu   sync.Mutex
	kept map[string]*image
	size int
}

type image struct {
	contentType string // "" when there was no image
	body        []byte
	until       time.Time
}

func newImages(key []byte, fetcher ImageFetcher) *images {
	return &images{key: key, fetcher: fetcher, slots: make(chan struct{}, imageFetches), kept: map[string]*image{}}
}

// path returns the address at which an image is shown: an upload at its own path, one from another host through our
// proxy; "" for none.
func (i *images) path(url string) string {
	if core.IDOf(url) != "" {
		return url
	}
	if url == "" || i.fetcher == nil {
		return ""
	}
	return proxied(i.key, url)
}

// proxied returns the proxy's address of a picture on another host.
func proxied(key []byte, url string) string {
	return "/images/" + sign(key, url) + "/" + base64.RawURLEncoding.EncodeToString([]byte(url))
}

func (i *images) sign(url string) string { return sign(i.key, url) }

func sign(key []byte, url string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(url))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])
}

// ImageLinks makes the addresses of pictures for readers elsewhere, such as mails. Key is that of the pages.
type ImageLinks struct {
	BaseURL string
	Key     []byte
}

// ImageURL implements ports.ImageLinks.
func (l ImageLinks) ImageURL(address string) string {
	switch {
	case core.IDOf(address) != "":
		return l.BaseURL + address
	case OriginOf(address) == "":
		return ""
	}
	return l.BaseURL + proxied(l.Key, address)
}

func (i *images) serve(c *fiber.Ctx) error {
	url, err := base64.RawURLEncoding.DecodeString(c.Params("address"))
	if err != nil || !hmac.Equal([]byte(i.sign(string(url))), []byte(c.Params("signature"))) {
		return fiber.ErrNotFound
	}
	found := i.get(c.UserContext(), string(url))
	if found.contentType == "" {
		return fiber.ErrNotFound
	}
	return sendImage(c, found.contentType, found.body, "public, max-age=3600")
}

// sendImage responds with a picture that an untrusted party chose: browsers show it, and run nothing of it.
func sendImage(c *fiber.Ctx, contentType string, body []byte, cache string) error {
	c.Set(fiber.HeaderContentType, contentType)
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	c.Set(fiber.HeaderContentSecurityPolicy, "default-src 'none'; sandbox")
	c.Set(fiber.HeaderCacheControl, cache)
	return c.Send(body)
}

// Uploads are the pictures that creators uploaded.
type Uploads interface {
	// Get is a picture of any account. NOT_FOUND.
	Get(ctx context.Context, imageID string) (core.Stored, error)
}

// upload serves an uploaded picture, which never changes. Other sites may show it: the API names its address.
func (l *Layout) upload(c *fiber.Ctx) error {
	stored, err := l.config.Uploads.Get(c.UserContext(), c.Params("id"))
	if err != nil {
		return err
	}
	c.Set("Cross-Origin-Resource-Policy", "cross-origin")
	return sendImage(c, stored.ContentType, stored.Body, "public, max-age=31536000, immutable")
}

// get is the image at an address, kept or fetched.
func (i *images) get(ctx context.Context, url string) *image {
	if found := i.find(url, time.Now()); found != nil {
		return found
	}
	select {
	case i.slots <- struct{}{}:
		defer func() { <-i.slots }()
	case <-ctx.Done():
		return &image{}
	}
	if found := i.find(url, time.Now()); found != nil { // somebody else has fetched it meanwhile
		return found
	}
	found := &image{until: time.Now().Add(imageFailure)}
	if body, err := i.fetcher.Fetch(ctx, url); err == nil && len(body) <= maxImage {
		if kind := http.DetectContentType(body); slices.Contains(imageTypes, kind) {
			found = &image{contentType: kind, body: body, until: time.Now().Add(imageLifetime)}
		}
	}
	i.keep(url, found)
	return found
}

func (i *images) find(url string, now time.Time) *image {
	i.mu.Lock()
	defer i.mu.Unlock()
	if found := i.kept[url]; found != nil && now.Before(found.until) {
		return found
	}
	return nil
}

// keep frees space by forgetting whichever images come first: any of them can be fetched again.
func (i *images) keep(url string, found *image) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.forget(url)
	for other := range i.kept {
		if i.size+len(found.body) <= maxImages && len(i.kept) < 1000 {
			break
		}
		i.forget(other)
	}
	i.kept[url] = found
	i.size += len(found.body)
}

func (i *images) forget(url string) {
	if old := i.kept[url]; old != nil {
		i.size -= len(old.body)
		delete(i.kept, url)
	}
}
