package dashboard

import (
	"cmp"
	"errors"
	"net/url"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/adapters/web/layout"
	"sundry/core/fault"
	core "sundry/core/identity"
)

func (r *Routes) mountSignIn(at fiber.Router) {
	at.Get("/sign-in", r.guest(r.showSignIn))
	at.Post("/sign-in", r.guest(r.signIn))
	at.Post("/sign-in/passkey", r.guest(r.signInPasskey))
	at.Post("/sign-in/step", r.guest(r.finishSignIn))
	at.Get("/sign-up", r.guest(r.showSignUp))
	at.Post("/sign-up", r.guest(r.signUp))
	at.Get("/forgot", r.guest(r.showForgot))
	at.Post("/forgot", r.guest(r.forgot))
	at.Get("/reset/:link", r.guest(r.showReset))
	at.Post("/reset/:link", r.guest(r.reset))
	at.Get("/join/:link", r.guest(r.showJoin))
	at.Post("/join/:link", r.guest(r.join))
	at.Get("/confirm/:link", r.guest(r.showConfirm))
	at.Post("/confirm/:link", r.guest(r.confirm))
	r.post(at, "/confirmation", r.askConfirmation)
	r.post(at, "/sign-out", r.signOut)
	r.post(at, "/sign-out-everywhere", r.signOutEverywhere)
}

// guestView holds what the pages of signed-out visitors show.
type guestView struct {
	Form ui.Form
	// Path has the address that a choice of language leads back to; "" for the page itself.
	Path string
	Next string
	// Passkey is the form of a passkey; nil for none.
	Passkey *ui.Form
	// App is set for who has an authenticator app.
	App bool
	// Sent means that a mail was sent, if there is an account.
	Sent bool
	// Account and Role are the account and the role to which an invitation invites.
	Account string
	Role    ui.Words
}

type guestHandler func(c *fiber.Ctx, token string) error

// guest gives every visitor a text of their own in a cookie, which their forms belong to: nobody else can sign them in.
func (r *Routes) guest(handle guestHandler) fiber.Handler {
	return r.layout.Handle(func(c *fiber.Ctx) error {
		text := c.Cookies(r.cookieName(guestCookie))
		token := r.Identity.GuestFormToken(text)
		if c.Method() == fiber.MethodPost && (text == "" || !isOwnForm(c, token)) {
			return r.forged(c)
		}
		if text == "" {
			text = r.Identity.NewGuest()
			token = r.Identity.GuestFormToken(text)
			r.setCookie(c, guestCookie, text, 24*time.Hour)
		}
		return handle(c, token)
	})
}

// addressOf returns the address of a page with what its form carries on: names and values in turns. What is empty, and
// the first page, are left out.
func addressOf(path string, carried ...string) string {
	query := url.Values{}
	for i := 0; i+1 < len(carried); i += 2 {
		if value := carried[i+1]; value != "" && value != base {
			query.Set(carried[i], value)
		}
	}
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// signInForm returns the form with the values that were typed, except the password.
func signInForm(c *fiber.Ctx, token string) ui.Form {
	next := safeNext(c.FormValue("next", c.Query("next")))
	return ui.Form{
		ID: "sign-in", Action: base + "/sign-in", Token: token, Submit: "Sign in", Wide: true,
		Fields: []ui.Field{
			{
				Name: "email", Label: "Email", Type: "email", Value: c.FormValue("email"), Autocomplete: "username",
				Required: true,
			},
			{Name: "password", Label: "Password", Type: "password", Autocomplete: "current-password", Required: true},
			ui.Hidden("next", next),
		},
	}
}

func (r *Routes) showSignIn(c *fiber.Ctx, token string) error {
	if _, err := r.Identity.AuthenticateBrowser(c.UserContext(), c.Cookies(r.cookieName(sessionCookie))); err == nil {
		return layout.SeeOther(c, safeNext(c.Query("next")))
	}
	f := signInForm(c, token)
	if c.Query("reset") == "done" {
		f.Notice = "Your password is set. Sign in with it."
	}
	if c.Query("unsaved") != "" {
		f.Problem = "You were signed out, so nothing was saved. Sign in and try again."
	}
	return r.signInPage(c, token, f)
}

// signInPage shows the form, and offers a passkey where there may be one.
func (r *Routes) signInPage(c *fiber.Ctx, token string, f ui.Form) error {
	next := safeNext(c.FormValue("next", c.Query("next")))
	view := guestView{Form: f, Path: addressOf(base+"/sign-in", "next", next), Next: next}
	request, err := r.Identity.BeginPasskeySignIn(token)
	if err != nil {
		return err
	}
	view.Passkey = passkeyForm(ui.Form{
		ID: "sign-in-passkey", Action: base + "/sign-in/passkey", Token: token, Submit: "Sign in with a passkey", Wide: true,
		Fields: []ui.Field{ui.Hidden("next", view.Next)},
	}, request, "")
	return r.sendGuest(c, "signin.html", "Sign in", view)
}

func (r *Routes) signIn(c *fiber.Ctx, token string) error {
	in, err := r.Identity.SignInBrowser(c.UserContext(), c.FormValue("email"), c.FormValue("password"), r.client(c))
	if r.sentOn(c, err) {
		return nil
	}
	if err != nil {
		return r.refuseSignIn(c, token, err)
	}
	if in.Pending != "" {
		return r.secondStepPage(c, token, in.Pending, nil)
	}
	return r.enter(c, in.Cookie)
}

// refuseSignIn shows the form again with what is wrong. An error that is no refusal is returned.
func (r *Routes) refuseSignIn(c *fiber.Ctx, token string, err error) error {
	f := signInForm(c, token)
	if !f.Refuse(err) {
		return err
	}
	c.Status(r.layout.Config().StatusOf(err))
	return r.signInPage(c, token, f)
}

// sentOn sends a browser on whose account is in another cell: the router finds that by the cookie. Once there, it is
// not sent again.
func (r *Routes) sentOn(c *fiber.Ctx, err error) bool {
	refused, ok := errors.AsType[*fault.Error](err)
	if !ok || refused.Code != fault.Misdirected {
		return false
	}
	cell := strconv.Itoa(int(refused.Cell))
	if c.Cookies(r.cookieName(cellCookie)) == cell {
		return false
	}
	r.setCookie(c, cellCookie, cell, time.Hour)
	return c.Redirect(base+"/sign-in", fiber.StatusTemporaryRedirect) == nil
}

// enter keeps the new sign-in in the browser, in the place of whatever it held, and leads on.
func (r *Routes) enter(c *fiber.Ctx, cookie string) error {
	r.setCookie(c, sessionCookie, cookie, keptSignedIn)
	r.setCookie(c, guestCookie, "", 0)
	return layout.SeeOther(c, safeNext(c.FormValue("next")))
}

func (r *Routes) signUpForm(c *fiber.Ctx, token string) ui.Form {
	invitation := c.FormValue("invitation", c.Query("invitation"))
	return ui.Form{
		ID: "sign-up", Action: base + "/sign-up", Token: token, Submit: "Create account", Wide: true,
		Fields: []ui.Field{
			{
				Name: "displayName", Label: "Your name or your shop’s", Value: c.FormValue("displayName"),
				Autocomplete: "organization", Required: true, Hint: "Buyers see it on every page and receipt.",
			},
			{
				Name: "email", Label: "Email", Type: "email", Value: c.FormValue("email", r.Identity.Invited(invitation)),
				Autocomplete: "username", Required: true,
			},
			{
				Name: "password", Label: "Password", Type: "password", Autocomplete: "new-password", Required: true,
				Hint: "At least 10 characters.",
			},
			ui.Hidden("invitation", invitation),
			ui.Hidden("next", safeNext(c.FormValue("next", c.Query("next")))),
		},
	}
}

func (r *Routes) showSignUp(c *fiber.Ctx, token string) error {
	return r.signUpPage(c, r.signUpForm(c, token))
}

func (r *Routes) signUpPage(c *fiber.Ctx, f ui.Form) error {
	next := safeNext(c.FormValue("next", c.Query("next")))
	return r.sendGuest(c, "signup.html", "Create your account", guestView{
		Form: f, Next: next,
		Path: addressOf(base+"/sign-up", "next", next, "invitation", c.FormValue("invitation", c.Query("invitation"))),
	})
}

func (r *Routes) signUp(c *fiber.Ctx, token string) error {
	cookie, err := r.Identity.SignUpBrowser(c.UserContext(), core.Registration{
		Email: c.FormValue("email"), Password: c.FormValue("password"), DisplayName: c.FormValue("displayName"),
		Invitation: c.FormValue("invitation"),
	}, r.client(c))
	if err != nil {
		f := r.signUpForm(c, token)
		if !f.Refuse(err) {
			return err
		}
		c.Status(r.layout.Config().StatusOf(err))
		return r.signUpPage(c, f)
	}
	return r.enter(c, cookie)
}

func (r *Routes) signOut(c *fiber.Ctx, v *visit) error {
	if err := r.Identity.SignOutBrowser(c.UserContext(), v.SessionID); err != nil {
		return err
	}
	r.setCookie(c, sessionCookie, "", 0)
	return layout.SeeOther(c, base+"/sign-in")
}

func (r *Routes) signOutEverywhere(c *fiber.Ctx, v *visit) error {
	if err := r.Identity.SignOutEverywhere(c.UserContext(), v.User, r.client(c)); err != nil {
		return err
	}
	r.setCookie(c, sessionCookie, "", 0)
	return layout.SeeOther(c, base+"/sign-in")
}

func forgotForm(c *fiber.Ctx, token string) ui.Form {
	return ui.Form{
		ID: "forgot", Action: base + "/forgot", Token: token, Submit: "Send link", Wide: true,
		Fields: []ui.Field{
			{
				Name: "email", Label: "Email", Type: "email", Value: c.FormValue("email"), Autocomplete: "username",
				Required: true,
			},
		},
	}
}

func (r *Routes) showForgot(c *fiber.Ctx, token string) error {
	sent := c.Query("sent")
	return r.sendGuest(c, "forgot.html", "Set a new password", guestView{
		Form: forgotForm(c, token), Sent: sent != "", Path: addressOf(base+"/forgot", "sent", sent),
	})
}

func (r *Routes) forgot(c *fiber.Ctx, token string) error {
	err := r.Identity.AskPasswordReset(c.UserContext(), c.FormValue("email"), r.client(c))
	if err == nil {
		return layout.SeeOther(c, base+"/forgot?sent=yes")
	}
	f := forgotForm(c, token)
	if !f.Refuse(err) {
		return err
	}
	c.Status(r.layout.Config().StatusOf(err))
	return r.sendGuest(c, "forgot.html", "Set a new password", guestView{Form: f})
}

func resetForm(c *fiber.Ctx, token, address string) ui.Form {
	return ui.Form{
		ID: "reset", Action: base + "/reset/" + c.Params("link"), Token: token, Submit: "Set password", Wide: true,
		Fields: []ui.Field{
			{Name: "email", Label: "Email", Type: "email", Value: address, Autocomplete: "username", ReadOnly: true},
			{
				Name: "password", Label: "New password", Type: "password", Autocomplete: "new-password", Required: true,
				Hint: "At least 10 characters.",
			},
		},
	}
}

func (r *Routes) showReset(c *fiber.Ctx, token string) error {
	creator, err := r.Identity.CheckReset(c.UserContext(), c.Params("link"))
	if fault.Is(err, fault.NotFoundCode) {
		c.Status(fiber.StatusNotFound)
		return r.sendGuest(c, "resetover.html", "This link no longer works", guestView{})
	}
	if err != nil {
		return err
	}
	return r.sendGuest(c, "reset.html", "Set a new password", guestView{Form: resetForm(c, token, creator.Email)})
}

func (r *Routes) reset(c *fiber.Ctx, token string) error {
	creator, err := r.Identity.CheckReset(c.UserContext(), c.Params("link"))
	if err == nil {
		err = r.Identity.ResetPassword(c.UserContext(), c.Params("link"), c.FormValue("password"), r.client(c))
	}
	if fault.Is(err, fault.NotFoundCode) {
		return r.showReset(c, token)
	}
	if err != nil {
		f := resetForm(c, token, creator.Email)
		if !f.Refuse(err) {
			return err
		}
		c.Status(r.layout.Config().StatusOf(err))
		return r.sendGuest(c, "reset.html", "Set a new password", guestView{Form: f})
	}
	r.setCookie(c, sessionCookie, "", 0)
	return layout.SeeOther(c, base+"/sign-in?reset=done")
}

// sendGuest shows a page to a signed-out visitor.
func (r *Routes) sendGuest(c *fiber.Ctx, template string, title ui.Words, view guestView) error {
	reader := reader(c)
	view.Path = cmp.Or(view.Path, c.Path())
	html, err := r.pages.Render(reader, template, layout.View{
		Title: title.In(reader.Language) + " – Sundry", Classes: "dash dash-guest", Script: "dashboard.js", Page: view,
		Data: scriptTexts(reader),
	})
	if err != nil {
		return err
	}
	return layout.SendPrivate(c, html, policy)
}

// policy allows our own scripts and forms, and previews of our own pages in frames.
var policy = layout.Policy{Scripts: "'self'", Forms: true, Frames: true}
