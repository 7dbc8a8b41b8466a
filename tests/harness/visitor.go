package harness

import (
	"bytes"
	"html"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Visitor is a person with a browser that has no script: they open pages and send the forms on them.
type Visitor struct {
	app    *App
	client *http.Client
	// Page is the last page.
	Page *Page
}

// Page is a response to a visitor.
type Page struct {
	Status int
	Header http.Header
	Body   string
	// Path is the page's address after every redirect, with its query.
	Path string
}

// NewVisitor is a browser that has been nowhere.
func (a *App) NewVisitor(t testing.TB) *Visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &Visitor{app: a, client: &http.Client{Jar: jar, Timeout: time.Minute}}
}

// Visit is an account's owner, signed in to the dashboard.
func (a *Account) Visit(t testing.TB) *Visitor {
	t.Helper()
	v := a.NewVisitor(t)
	v.Open(t, "/dashboard/sign-in")
	for range 100 {
		if v.Send(
			t, "/dashboard/sign-in", "email", a.Email, "password", Password,
		); v.Page.Status != http.StatusTooManyRequests {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if v.Page.Status != http.StatusOK || v.Page.Path != "/dashboard" {
		t.Fatalf("signing in led to %d %s", v.Page.Status, v.Page.Path)
	}
	return v
}

// Open opens a page.
func (v *Visitor) Open(t testing.TB, path string) *Page {
	t.Helper()
	return v.do(t, http.MethodGet, path, nil)
}

var (
	formStart  = regexp.MustCompile(`<form[^>]* action="([^"]*)"`)
	tokenInput = regexp.MustCompile(`name="token" value="([0-9a-f]+)"`)
)

// Token returns the form token of the last page.
func (v *Visitor) Token(t testing.TB) string {
	t.Helper()
	found := tokenInput.FindStringSubmatch(v.Page.Body)
	if found == nil {
		t.Fatalf("no form on %s: %s", v.Page.Path, v.Page.Body)
	}
	return found[1]
}

// Send sends a form that the last page has, with fields in turns.
func (v *Visitor) Send(t testing.TB, action string, fields ...string) *Page {
	t.Helper()
	has := false
	for _, form := range formStart.FindAllStringSubmatch(v.Page.Body, -1) {
		has = has || strings.ReplaceAll(form[1], "&amp;", "&") == action
	}
	if !has {
		t.Fatalf("%s has no form that goes to %s: %s", v.Page.Path, action, v.Page.Body)
	}
	return v.Post(t, action, append(fields, "token", v.Token(t))...)
}

// Post sends a form that no page has.
func (v *Visitor) Post(t testing.TB, action string, fields ...string) *Page {
	t.Helper()
	values := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		values.Add(fields[i], fields[i+1])
	}
	return v.do(t, http.MethodPost, action, values)
}

// Upload sends a form that the last page has with a file in it, and further fields in turns.
func (v *Visitor) Upload(t testing.TB, action, name string, file []byte, fields ...string) *Page {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for i := 0; i+1 < len(fields); i += 2 {
		_ = form.WriteField(fields[i], fields[i+1]) // into memory, as the next three
	}
	_ = form.WriteField("token", v.Token(t))
	part, _ := form.CreateFormFile(name, "file")
	_, _ = part.Write(file)
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	return v.send(t, http.MethodPost, action, form.FormDataContentType(), &body)
}

// SetCookie plants a cookie, as an attacker beside the person would.
func (v *Visitor) SetCookie(t testing.TB, name, value string) {
	t.Helper()
	cookie := &http.Cookie{Name: name, Value: value, Path: "/dashboard"} //nolint:gosec // an attacker sets no flags
	v.client.Jar.SetCookies(v.dashboard(t), []*http.Cookie{cookie})
}

// Cookie is the value of a cookie; "" when there is none.
func (v *Visitor) Cookie(t testing.TB, name string) string {
	t.Helper()
	for _, c := range v.client.Jar.Cookies(v.dashboard(t)) {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

func (v *Visitor) dashboard(t testing.TB) *url.URL {
	t.Helper()
	u, err := url.Parse(v.app.URL + "/dashboard")
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func (v *Visitor) do(t testing.TB, method, path string, form url.Values) *Page {
	t.Helper()
	contentType := ""
	if form != nil {
		contentType = "application/x-www-form-urlencoded"
	}
	return v.send(t, method, path, contentType, strings.NewReader(form.Encode()))
}

func (v *Visitor) send(t testing.TB, method, path, contentType string, sent io.Reader) *Page {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, v.app.URL+path, sent)
	if err != nil {
		t.Fatal(err)
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := v.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	v.Page = &Page{
		Status: response.StatusCode, Header: response.Header, Body: string(body),
		Path: response.Request.URL.RequestURI(),
	}
	return v.Page
}

var (
	formField = regexp.MustCompile(`(?s)<input ([^>]*)>|<textarea ([^>]*)>(.*?)</textarea>|<select ([^>]*)>(.*?)</select>`)
	attribute = regexp.MustCompile(`([a-z-]+)(?:="([^"]*)")?`)
	option    = regexp.MustCompile(`<option ([^>]*)>`)
)

// attributes returns the attributes of a start tag by name.
func attributes(tag string) map[string]string {
	all := map[string]string{}
	for _, m := range attribute.FindAllStringSubmatch(tag, -1) {
		all[m[1]] = html.UnescapeString(m[2])
	}
	return all
}

// Fields returns the fields of a form of the page as a browser sends them untouched, in turns; none where the page has no
// such form. The token is left out: Send adds it.
func (p *Page) Fields(action string) (fields []string) {
	_, form, _ := strings.Cut(p.Body, ` action="`+html.EscapeString(action)+`"`)
	form, _, _ = strings.Cut(form, "</form>")
	for _, m := range formField.FindAllStringSubmatch(form, -1) {
		tag := attributes(m[1] + m[2] + m[4])
		value := tag["value"]
		switch _, checked := tag["checked"]; {
		case tag["name"] == "" || tag["name"] == "token" || tag["type"] == "file" || tag["type"] == "checkbox" && !checked:
			continue
		case m[2] != "":
			value = html.UnescapeString(m[3])
		case m[4] != "":
			value = chosenOption(m[5])
		}
		fields = append(fields, tag["name"], value)
	}
	return fields
}

// chosenOption is the value of the option that a list sends: the first one unless another is selected.
func chosenOption(list string) (value string) {
	for i, m := range option.FindAllStringSubmatch(list, -1) {
		tag := attributes(m[1])
		if _, selected := tag["selected"]; selected || i == 0 {
			value = tag["value"]
		}
	}
	return value
}
