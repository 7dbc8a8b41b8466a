package layout

import (
	"cmp"
	"crypto/rand"
	"encoding/base64"
	"strings"

	"sundry/ports"
)

// NewNonce names the scripts of one response; it never repeats.
func NewNonce() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: the runtime aborts instead
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Policy lists what a page may do. The zero value may show our style sheets and nothing else.
type Policy struct {
	// Scripts are the sources of scripts: "" for none, "'self'", or Nonce(…).
	Scripts string
	// Forms allows the page's own forms to be sent to us. Where a card number is typed they never are: only our script
	// sends it.
	Forms bool
	// FormsLeadTo is the origin that the response to a form of the page may redirect to, beside our own; "" for none.
	FormsLeadTo string
	// Frames allows pages of ours in frames.
	Frames bool
	// Form is the script that draws a payment provider's form; nil for none.
	Form *ports.FormScript
	// Parents are the origins that may frame the page.
	Parents []string
}

// Nonce allows the script with a nonce and the modules that it imports.
func Nonce(nonce string) string { return "'nonce-" + nonce + "'" }

// sources joins the sources of a directive.
func sources(all ...string) string { return strings.TrimSpace(strings.Join(all, " ")) }

// header is the Content-Security-Policy.
func (p Policy) header() string {
	ancestors, forms := "'none'", "'none'"
	if len(p.Parents) > 0 {
		ancestors = strings.Join(p.Parents, " ")
	}
	if p.Forms {
		forms = strings.TrimSpace("'self' " + p.FormsLeadTo)
	}
	scripts, images, calls, frames := cmp.Or(p.Scripts, "'none'"), "'self' data:", "'self'", "'none'"
	if p.Frames {
		frames = "'self'"
	}
	if p.Form != nil {
		origin := OriginOf(p.Form.URL)
		scripts = sources(append([]string{scripts, origin}, p.Form.Scripts...)...)
		frames = sources(append([]string{origin}, p.Form.Frames...)...)
		calls = sources(append([]string{calls}, p.Form.Calls...)...)
		images = sources(append([]string{images}, p.Form.Images...)...)
	}
	return strings.Join([]string{
		"default-src 'none'",
		"script-src " + scripts,
		"style-src 'self'",
		"img-src " + images,
		"connect-src " + calls,
		"frame-src " + frames,
		"base-uri 'none'",
		"object-src 'none'",
		"form-action " + forms,
		"frame-ancestors " + ancestors,
	}, "; ")
}
