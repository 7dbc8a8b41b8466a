package dashboard

import (
	"crypto/subtle"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/adapters/web/layout"
	"sundry/core/fault"
	core "sundry/core/identity"
	"sundry/core/locale"
	"sundry/modules/identity"
	"sundry/ports"
)

const (
	sessionCookie = "sundry_session"
	guestCookie   = "sundry_guest"
	// cellCookie has the number of the cell that the sign-in was sent on to.
	cellCookie   = "sundry_cell"
	flashCookie  = "sundry_flash"
	revealCookie = "sundry_reveal"
	// tokenField is the member of every form that proves where it was shown.
	tokenField = "token"
	// keptSignedIn is the lifetime of the cookie. The server ends an unused sign-in earlier.
	keptSignedIn = 90 * 24 * time.Hour
)

// visit is a request of a signed-in user.
type visit struct {
	identity.Browser
	c      *fiber.Ctx
	reader locale.Locale
}

// account returns the account that the request is about.
func (v *visit) account() string { return v.Creator.ID }

type handler func(c *fiber.Ctx, v *visit) error

// signedIn runs the handler for signed-in users, and redirects everybody else to the sign-in, which returns them
// to the page.
func (r *Routes) signedIn(handle handler) fiber.Handler {
	return r.layout.Handle(func(c *fiber.Ctx) error {
		browser, err := r.Identity.AuthenticateBrowser(c.UserContext(), c.Cookies(r.cookieName(sessionCookie)))
		if fault.Is(err, fault.Unauthenticated) {
			return r.askSignIn(c)
		}
		if err != nil {
			return err
		}
		if browser.LacksSecondStep && !isOpenWithoutStep(c.Path()) {
			return layout.SeeOther(c, base+"/security/steps")
		}
		c.SetUserContext(ports.WithActor(c.UserContext(), core.Actor{
			ID: browser.User.ID(), Name: browser.User.Label(), Client: r.client(c),
		}))
		v := &visit{Browser: browser, c: c, reader: reader(c)}
		if err := handle(c, v); err != nil {
			return r.fail(c, v, err)
		}
		return nil
	})
}

// askSignIn redirects to the sign-in, which leads back to the page. A form that was sent meanwhile is not saved: its
// page, or the nearest above it, is where it can be filled in again.
func (r *Routes) askSignIn(c *fiber.Ctx) error {
	if c.Method() == fiber.MethodGet {
		return layout.SeeOther(c, base+"/sign-in?next="+url.QueryEscape(safeNext(c.OriginalURL())))
	}
	back := c.Path()
	for len(back) > len(base) && !r.hasPage(back) {
		back = back[:strings.LastIndexByte(back, '/')]
	}
	return layout.SeeOther(c, base+"/sign-in?unsaved=1&next="+url.QueryEscape(safeNext(back)))
}

// fail shows why something was refused in the dashboard's own frame, whose navigation leads on. What is our own fault
// is the page of all sites.
func (r *Routes) fail(c *fiber.Ctx, v *visit, err error) error {
	refusal, ok := errors.AsType[*fault.Error](err)
	status := r.layout.Config().StatusOf(err)
	if !ok || status >= fiber.StatusInternalServerError || refusal.RetrySeconds() > 0 {
		return r.layout.Fail(c, err)
	}
	p := ui.Page{Title: "This can’t be done", Lead: reasonOf(refusal)}
	if status == fiber.StatusNotFound {
		p.Title, p.Lead = "Page not found", "It may have been deleted, or the address is incomplete."
	}
	c.Status(status)
	return r.send(c, v, p)
}

// isOpenWithoutStep reports whether an address is open to who has still to set up the second step that the account
// requires.
func isOpenWithoutStep(path string) bool {
	return strings.HasPrefix(path, base+"/security/steps") || strings.HasPrefix(path, base+"/sign-out")
}

// fromForm lets only requests through that come from a form of this sign-in.
func (r *Routes) fromForm(handle handler) handler {
	return func(c *fiber.Ctx, v *visit) error {
		if !isOwnForm(c, v.FormToken) {
			return r.forged(c)
		}
		return handle(c, v)
	}
}

// isOwnForm reports whether a form carries the token, and whether the browser, if it reports that, sent it from our own
// pages.
func isOwnForm(c *fiber.Ctx, token string) bool {
	return !isFromElsewhere(c) && token != "" &&
		subtle.ConstantTimeCompare([]byte(c.FormValue(tokenField)), []byte(token)) == 1
}

// isFromElsewhere reports whether the browser says that another site sent a request.
func isFromElsewhere(c *fiber.Ctx) bool {
	site := c.Get("Sec-Fetch-Site")
	return site != "" && site != "same-origin" && site != "none"
}

// forged refuses a form that is not ours, or whose sign-in has ended.
func (r *Routes) forged(c *fiber.Ctx) error {
	c.Status(fiber.StatusForbidden)
	return r.sendGuest(c, "outdated.html", "This page is out of date", guestView{Path: base})
}

// cookieName is a cookie's name; over https browsers refuse to take one of this name over anything else.
func (r *Routes) cookieName(name string) string {
	if r.secure {
		return "__Secure-" + name
	}
	return name
}

// setCookie keeps a value in the browser, out of reach of scripts and sent to the dashboard only. An empty one is
// removed.
func (r *Routes) setCookie(c *fiber.Ctx, name, value string, lifetime time.Duration) {
	cookie := &fiber.Cookie{
		Name: r.cookieName(name), Value: value, Path: base, HTTPOnly: true, Secure: r.secure,
		SameSite: fiber.CookieSameSiteLaxMode,
		MaxAge:   int(lifetime.Seconds()),
	}
	if value == "" {
		cookie.MaxAge, cookie.Expires = -1, time.Unix(1, 0)
	}
	c.Cookie(cookie)
}

// client identifies the browser that sent a request.
func (r *Routes) client(c *fiber.Ctx) core.Client {
	return core.NewClient(r.layout.ClientAddress(c), c.Get(fiber.HeaderUserAgent))
}

// safeNext returns the address of the dashboard to open after a sign-in, or the first page for anything else.
func safeNext(next string) string {
	if at := ownAddress(next); !strings.HasPrefix(at, base+"/sign-") {
		return at
	}
	return base
}

// ownAddress returns an address of the dashboard, or that of the first page for anything else. The address has to be
// ours in every reading of a browser: no host, no backslash, no control character.
func ownAddress(next string) string {
	u, err := url.Parse(next)
	outside := err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != ""
	if outside || strings.ContainsAny(next, "\\\r\n\t") || strings.Contains(u.Path, "//") ||
		strings.Contains(u.Path, "..") {
		return base
	}
	if u.Path != base && !strings.HasPrefix(u.Path, base+"/") {
		return base
	}
	return u.RequestURI()
}

func isHTTPS(address string) bool { return strings.HasPrefix(address, "https://") }
