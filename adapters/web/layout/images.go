package layout

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	core "sundry/core/image"
	"sundry/core/secret"
)

const (
	maxImage      = 2 << 20  // bytes of one image
	maxImages     = 16 << 20 // bytes of all that are kept
	imageLifetime = time.Hour
	imageFailure  = time.Minute // how long an address that gave no image is not asked again
	imageFetches  = 32          // at a time
	siteFetches   = 2           // at a time, from the hosts of one owner
	slotWait      = time.Second
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
	keys    secret.Keys
	fetcher ImageFetcher
	slots   chan struct{}

	mu      sync.Mutex
	kept    map[string]*image
	size    int
	flights map[string]*flight
	sites   map[string]*site
}

// flight is a fetch that all who ask for its address meanwhile wait for.
type flight struct {
	done  chan struct{}
	image *image
}

// site holds the slots of the hosts of one owner, as long as someone uses or awaits one.
type site struct {
	slots chan struct{}
	users int
}

type image struct {
	contentType string // "" when there was no image
	body        []byte
	until       time.Time
}

func newImages(keys secret.Keys, fetcher ImageFetcher) *images {
	return &images{
		keys: keys, fetcher: fetcher, slots: make(chan struct{}, imageFetches),
		kept: map[string]*image{}, flights: map[string]*flight{}, sites: map[string]*site{},
	}
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
	return proxied(i.keys.Current(), url)
}

// proxied returns the proxy's address of a picture on another host.
func proxied(key []byte, url string) string {
	return "/images/" + sign(key, url) + "/" + base64.RawURLEncoding.EncodeToString([]byte(url))
}

func sign(key []byte, url string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(url))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])
}

// ImageLinks makes the addresses of pictures for readers elsewhere, such as mails. Keys are those of the pages.
type ImageLinks struct {
	BaseURL string
	Keys    secret.Keys
}

// ImageURL implements ports.ImageLinks.
func (l ImageLinks) ImageURL(address string) string {
	switch {
	case core.IDOf(address) != "":
		return l.BaseURL + address
	case OriginOf(address) == "":
		return ""
	}
	return l.BaseURL + proxied(l.Keys.Current(), address)
}

func (i *images) serve(c *fiber.Ctx) error {
	url, err := base64.RawURLEncoding.DecodeString(c.Params("address"))
	if err != nil || !i.keys.Proves(c.Params("signature"), func(key []byte) string { return sign(key, string(url)) }) {
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

// get is the image at an address, kept or fetched. Who asks for an address that is being fetched waits for that fetch.
func (i *images) get(ctx context.Context, url string) *image {
	i.mu.Lock()
	found, running := i.kept[url], i.flights[url]
	if found != nil && time.Now().Before(found.until) {
		i.mu.Unlock()
		return found
	}
	if running == nil {
		running = &flight{done: make(chan struct{}), image: &image{}}
		i.flights[url] = running
		i.mu.Unlock()
		i.fly(context.WithoutCancel(ctx), url, running)
		return running.image
	}
	i.mu.Unlock()
	select {
	case <-running.done:
		return running.image
	case <-ctx.Done():
		return &image{}
	}
}

// fly fetches the image of a flight and keeps it. Without a slot in time there is no image, and the next may try.
func (i *images) fly(ctx context.Context, url string, f *flight) {
	defer func() {
		i.mu.Lock()
		delete(i.flights, url)
		i.mu.Unlock()
		close(f.done)
	}()
	release, ok := i.acquire(siteOf(url))
	if !ok {
		return
	}
	defer release()
	f.image = &image{until: time.Now().Add(imageFailure)}
	if body, err := i.fetcher.Fetch(ctx, url); err == nil && len(body) <= maxImage {
		if kind := http.DetectContentType(body); slices.Contains(imageTypes, kind) {
			f.image = &image{contentType: kind, body: body, until: time.Now().Add(imageLifetime)}
		}
	}
	i.keep(url, f.image)
}

// acquire takes one of the site's slots and one of all, within slotWait: hosts that never respond delay their own
// pictures and no others.
func (i *images) acquire(name string) (release func(), ok bool) {
	own := i.enter(name)
	var taken []chan struct{}
	release = func() {
		for _, slots := range taken {
			<-slots
		}
		i.leave(name)
	}
	wait := time.NewTimer(slotWait)
	defer wait.Stop()
	for _, slots := range []chan struct{}{own.slots, i.slots} {
		select {
		case slots <- struct{}{}:
			taken = append(taken, slots)
		case <-wait.C:
			release()
			return nil, false
		}
	}
	return release, true
}

func (i *images) enter(name string) *site {
	i.mu.Lock()
	defer i.mu.Unlock()
	s := i.sites[name]
	if s == nil {
		s = &site{slots: make(chan struct{}, siteFetches)}
		i.sites[name] = s
	}
	s.users++
	return s
}

func (i *images) leave(name string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.sites[name].users--; i.sites[name].users == 0 {
		delete(i.sites, name)
	}
}

// siteOf is the part of an address's host that names its owner: the last two labels, or three below a suffix such as
// co.uk. The owner of a name has any number of hosts below it.
func siteOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	host := strings.ToLower(u.Hostname())
	if net.ParseIP(host) != nil {
		return host
	}
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	count := 2
	if n := len(labels); n > 2 && len(labels[n-1]) == 2 && len(labels[n-2]) <= 3 {
		count = 3
	}
	return strings.Join(labels[max(0, len(labels)-count):], ".")
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
