package e2e_test

import (
	"bytes"
	"html"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"sundry/tests/harness"
)

// drawing is a PNG file of one color.
func drawing(t *testing.T, w, h int) []byte {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.Set(x, y, color.NRGBA{R: 11, G: 93, B: 74, A: 255})
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

var shownImage = regexp.MustCompile(`src="(/media/img_[0-9a-z]{26})"`)

// shownOn are the uploaded images of a page, in their order.
func shownOn(page *harness.Page) (paths []string) {
	for _, m := range shownImage.FindAllStringSubmatch(page.Body, -1) {
		paths = append(paths, m[1])
	}
	return paths
}

func TestALogoIsUploadedShownAndRemoved(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		v := a.Visit(t)
		v.Open(t, "/dashboard/settings")
		if page := v.Upload(t, "/dashboard/settings/logo", "file",
			[]byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`)); page.Status != 400 ||
			!strings.Contains(page.Body, "Expected a PNG") {
			t.Errorf("an SVG is %d: %s", page.Status, page.Body)
		}
		v.Open(t, "/dashboard/settings")
		paths := shownOn(v.Upload(t, "/dashboard/settings/logo", "file", drawing(t, 900, 300)))
		if len(paths) != 1 {
			t.Fatalf("the settings show %v: %s", paths, v.Page.Body)
		}
		served := app.NewVisitor(t).Open(t, paths[0])
		for name, want := range map[string]string{
			"Content-Type": "image/png", "X-Content-Type-Options": "nosniff",
			"Content-Security-Policy": "default-src 'none'; sandbox",
			"Cache-Control":           "public, max-age=31536000, immutable",
		} {
			if got := served.Header.Get(name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		if size, err := png.DecodeConfig(
			strings.NewReader(served.Body),
		); err != nil || size.Width != 512 || size.Height != 170 {
			t.Errorf("served %d × %d, %v", size.Width, size.Height, err)
		}
		creator := a.AsCreator(t, get, "/v1/creator", nil).Want(t, 200).Map(t)
		if creator["logoUrl"] != app.URL+paths[0] {
			t.Errorf("the API names %v", creator["logoUrl"])
		}
		a.AsCreator(t, patch, "/v1/creator", JSON{"logoUrl": creator["logoUrl"]}).Want(t, 200) // as it was read
		app.NewAccount(t).AsCreator(t, patch, "/v1/creator", JSON{"logoUrl": creator["logoUrl"]}).Want(t, 400)
		session := a.NewSession(t, a.Published(t, nil), "default", "ada", nil)
		if page := app.NewVisitor(t).Open(t, strings.TrimPrefix(session.CheckoutURL, app.URL)); !strings.Contains(page.Body,
			`class="logo" src="`+paths[0]) {
			t.Errorf("the checkout lacks the logo: %s", page.Body)
		}
		v.Open(t, "/dashboard/settings")
		if page := v.Send(t, "/dashboard/settings/logo/remove"); len(shownOn(page)) != 0 {
			t.Error("the logo is still there")
		}
		if page := app.NewVisitor(t).Open(t, paths[0]); page.Status != 200 {
			t.Errorf("mails of before lost their picture: %d", page.Status)
		}
	})
}

func TestImagesOfAListingAreOrderedDescribedAndRemoved(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a, eve := app.NewAccount(t), app.NewAccount(t)
		listing := a.Published(t, nil)
		v, at := a.Visit(t), "/dashboard/listings/"+listing.ID
		for _, alt := range []string{"A fox", hostileText} {
			v.Open(t, at)
			v.Upload(t, at+"/images", "file", drawing(t, 40, 40), "alt", alt)
		}
		first := shownOn(v.Page)
		if len(first) != 2 {
			t.Fatalf("the listing shows %v: %d %s", first, v.Page.Status, v.Page.Body)
		}
		second := strings.TrimPrefix(first[1], "/media/")
		if page := v.Send(t, at+"/images/"+second+"/move"); len(shownOn(page)) != 2 || shownOn(page)[0] != first[1] {
			t.Errorf("moved: %v", shownOn(page))
		}
		session := a.NewSession(t, listing, "default", "ada", nil)
		checkout := app.NewVisitor(t).Open(t, strings.TrimPrefix(session.CheckoutURL, app.URL)).Body
		if !strings.Contains(checkout, `src="`+first[1]+`" alt="`+html.EscapeString(hostileText)) ||
			!strings.Contains(checkout, `alt="A fox"`) {
			t.Errorf("the checkout lacks the pictures: %s", checkout)
		}
		v.Open(t, at)
		v.Send(t, at+"/images/"+second+"/describe", "alt", "A hen")
		images := app.Ask(t, harness.Request{Method: get, Path: "/v1/listings/" + listing.Slug}).
			Want(t, 200).Map(t)["images"].([]any)
		if got := images[0].(map[string]any); got["alt"] != "A hen" || got["url"] != app.URL+first[1] {
			t.Errorf("the API has %v", images)
		}
		other := eve.Visit(t)
		other.Open(t, "/dashboard")
		if page := other.Post(t, at+"/images/"+second+"/remove", "token", other.Token(t)); page.Status == http.StatusOK &&
			strings.Contains(page.Body, "removed") {
			t.Errorf("another account removed it: %d", page.Status)
		}
		v.Open(t, at)
		if page := v.Send(t, at+"/images/"+second+"/remove"); len(shownOn(page)) != 1 || shownOn(page)[0] != first[0] {
			t.Errorf("removed: %v", shownOn(page))
		}
	})
}
