package e2e_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"sundry/core/file"
	"sundry/tests/harness"
)

// partContent is the file of the valid requests, in its one part. Banks take it.
const partContent = "%PDF-1.4 content"

func init() {
	begun := func(t *testing.T, w *fixture) (fileID string) {
		return beginUpload(t, w.Account, w.NewListing(t, nil), fileBody())
	}
	ready := func(t *testing.T, w *fixture) (string, harness.JSON) {
		return uploaded(t, w.Account, w.NewListing(t, nil), "a.pdf", []byte(partContent), nil), nil
	}
	maps.Copy(validRequests, map[string]valid{
		"POST /v1/listings/{id}/files": func(t *testing.T, w *fixture) (string, harness.JSON) {
			return w.NewListing(t, nil).ID, fileBody()
		},
		"GET /v1/listings/{id}/files":       func(_ *testing.T, w *fixture) (string, harness.JSON) { return w.listing.ID, nil },
		"GET /v1/files/{id}":                ready,
		"DELETE /v1/files/{id}":             ready,
		"PUT /v1/files/{id}/parts/{number}": func(t *testing.T, w *fixture) (string, harness.JSON) { return begun(t, w) + " 1", nil },
		"POST /v1/files/{id}/complete": func(t *testing.T, w *fixture) (string, harness.JSON) {
			fileID := begun(t, w)
			putPart(t, w.Account, fileID, 1, []byte(partContent)).Want(t, 204)
			return fileID, nil
		},
	})
}

func fileBody() harness.JSON {
	return harness.JSON{
		"name": "specimens.pdf", "contentType": "application/pdf", "sizeInBytes": len(partContent), "downloadLimit": 5,
	}
}

// beginUpload begins the upload of a file and returns its id.
func beginUpload(t *testing.T, a *harness.Account, listing harness.Listing, body JSON) string {
	t.Helper()
	begun := a.AsCreator(t, post, "/v1/listings/"+listing.ID+"/files", body).Want(t, 201).Map(t)
	return fmt.Sprint(begun["id"])
}

func putPart(t *testing.T, a *harness.Account, fileID string, number int, part []byte) *harness.Response {
	t.Helper()
	return a.Ask(t, harness.Request{
		Method: http.MethodPut, Path: fmt.Sprintf("/v1/files/%s/parts/%d", fileID, number), Body: part, Bearer: a.Token,
		Headers: map[string]string{"Content-Type": "application/octet-stream"},
	})
}

// uploaded gives a listing a file with the content.
func uploaded(t *testing.T, a *harness.Account, listing harness.Listing, name string, content []byte, over JSON) string {
	t.Helper()
	body := JSON{"name": name, "sizeInBytes": len(content)}
	maps.Copy(body, over)
	fileID := beginUpload(t, a, listing, body)
	for number := 1; len(content) > 0; number++ {
		n := min(len(content), file.PartSize)
		putPart(t, a, fileID, number, content[:n]).Want(t, 204)
		content = content[n:]
	}
	a.AsCreator(t, post, "/v1/files/"+fileID+"/complete", nil).Want(t, 200)
	return fileID
}

// paidReceipt buys a listing and returns the path of its receipt's page.
func paidReceipt(t *testing.T, a *harness.Account, listing harness.Listing, customer string) (path, checkoutID string) {
	t.Helper()
	session := a.NewSession(t, listing, "default", customer, nil)
	a.Pay(t, session, harness.CardSucceeds).Want(t, 200)
	address := fmt.Sprint(a.Receipt(t, session)["receiptUrl"])
	return address[strings.Index(address, "/r/"):], session.ID
}

func chance(n int) []byte {
	content := make([]byte, n)
	_, _ = rand.Read(content) // it never fails
	return content
}

func TestBuyersDownloadWhatWasUploaded(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		listing := a.Published(t, nil)
		content := chance(2*file.PartSize + 12_345)
		fileID := uploaded(t, a, listing, "Übung 1.zip", content, JSON{"contentType": "application/zip"})
		receipt, _ := paidReceipt(t, a, listing, "ada")
		buyer := app.NewVisitor(t)
		if page := buyer.Open(t, receipt); !strings.Contains(page.Body, "Übung 1.zip") ||
			!strings.Contains(page.Body, "2.0\u00a0MB") || !strings.Contains(page.Body, receipt+"/files/"+fileID) {
			t.Errorf("the receipt shows no download: %s", page.Body)
		}
		got := buyer.Open(t, receipt+"/files/"+fileID)
		if got.Body != string(content) {
			t.Errorf("downloaded %d bytes with %d, want %d", len(got.Body), got.Status, len(content))
		}
		for name, want := range map[string]string{
			"Content-Type": "application/zip", "Content-Disposition": "attachment; filename*=UTF-8''%C3%9Cbung%201.zip",
			"Accept-Ranges": "bytes", "Cache-Control": "private, no-store", "X-Content-Type-Options": "nosniff",
			"Content-Security-Policy": "default-src 'none'; sandbox",
		} {
			if header := got.Header.Get(name); header != want {
				t.Errorf("%s: %q, want %q", name, header, want)
			}
		}
		wantRanges(t, app, got.Path, content)
		wantRefused(t, app, receipt, got.Path, fileID)
		listed := a.AsCreator(t, get, "/v1/listings/"+listing.ID+"/files", nil).Want(t, 200).Map(t)
		if one := listed["data"].([]any)[0].(map[string]any); fmt.Sprint(one["downloads"]) != "1" ||
			fmt.Sprint(one["version"]) != "1" || one["status"] != "ready" {
			t.Errorf("listed as %v", one)
		}
	})
}

// wantRanges asks for parts of a file behind its own address.
func wantRanges(t *testing.T, app *harness.App, path string, content []byte) {
	t.Helper()
	size := len(content)
	for asked, want := range map[string]struct {
		status      int
		first, last int
	}{
		"bytes=0-9":                     {206, 0, 9},
		"bytes=999990-1000010":          {206, 999_990, 1_000_010}, // over the end of a part
		"bytes=-5":                      {206, size - 5, size - 1},
		"bytes=1999999-":                {206, 1_999_999, size - 1},
		"bytes=0-1,4-5":                 {200, 0, size - 1},
		fmt.Sprint("bytes=", size, "-"): {416, 0, 0},
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			r := app.AskUnjudged(t, harness.Request{Method: method, Path: path, Headers: map[string]string{"Range": asked}})
			part := content[want.first : want.last+1]
			if r.Status != want.status || method == http.MethodGet && want.status != 416 && !bytes.Equal(r.Body, part) ||
				method == http.MethodHead && len(r.Body) > 0 {
				t.Errorf("%s %s is %d with %d bytes, want %d with %d", method, asked, r.Status, len(r.Body), want.status, len(part))
			}
			if want.status == 206 && r.Header.Get("Content-Range") != fmt.Sprintf("bytes %d-%d/%d", want.first, want.last, size) {
				t.Errorf("%s: Content-Range %q", asked, r.Header.Get("Content-Range"))
			}
		}
	}
	resumed := app.AskUnjudged(t, harness.Request{Method: get, Path: path, Headers: map[string]string{
		"Range": "bytes=5-9", "If-Range": `"another"`,
	}})
	if resumed.Status != 200 || len(resumed.Body) != size {
		t.Errorf("a range of another file is %d with %d bytes", resumed.Status, len(resumed.Body))
	}
}

// wantRefused changes each part of the addresses of a download.
func wantRefused(t *testing.T, app *harness.App, receipt, direct, fileID string) {
	t.Helper()
	swapped := direct[:len(direct)-1] + map[bool]string{true: "0", false: "1"}[strings.HasSuffix(direct, "1")]
	part := strings.Split(direct, "/")
	later := "/f/9999999999/" + part[3] + "/" + part[4]
	for _, path := range []string{swapped, later, "/f/1/a/b", receipt + "/files/file_00000000000000000000000000",
		receipt[:len(receipt)-1] + "~/files/" + fileID} {
		if r := app.AskUnjudged(t, harness.Request{Method: get, Path: path}); r.Status != 404 {
			t.Errorf("%s is %d, want 404", path, r.Status)
		}
	}
}

func TestDownloadsEndWithTheAccess(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		listing := a.Published(t, nil)
		fileID := uploaded(t, a, listing, "a.pdf", []byte("content"), nil)
		receipt, checkoutID := paidReceipt(t, a, listing, "ada")
		buyer := app.NewVisitor(t)
		direct := buyer.Open(t, receipt+"/files/"+fileID).Path
		a.AsBackend(t, post, "/v1/refunds", JSON{"checkoutId": checkoutID, "reason": "requested_by_customer"}).Want(t, 201)
		for _, path := range []string{direct, receipt + "/files/" + fileID} {
			if page := buyer.Open(t, path); page.Status != 404 {
				t.Errorf("after the refund %s is %d", path, page.Status)
			}
		}
		if page := buyer.Open(t, receipt); page.Status != 200 || strings.Contains(page.Body, "a.pdf") {
			t.Errorf("the receipt still offers the file: %d", page.Status)
		}
	})
}

// TestDownloadAddress_EndsWithTheAccess pays for an address that the creator gave instead of a file.
func TestDownloadAddress_EndsWithTheAccess(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		listing := a.Published(t, JSON{"metadata": JSON{"downloadUrl": "https://files.example/notes.pdf"}})
		for name, refund := range map[string]struct {
			body JSON
			want bool
		}{
			"all of it":                   {JSON{}, false},
			"all, and the buyer keeps it": {JSON{"keepAccess": true}, true},
			"a part":                      {JSON{"amountInCents": 1}, true},
		} {
			session := a.NewSession(t, listing, "default", name, nil)
			a.Pay(t, session, harness.CardSucceeds).Want(t, 200)
			offers := func() bool {
				page := app.NewVisitor(t).Open(t, "/c/"+session.Secret())
				return strings.Contains(page.Body, "files.example/notes.pdf")
			}
			if !offers() {
				t.Errorf("%s: the page offers no download", name)
			}
			refund.body["checkoutId"], refund.body["reason"] = session.ID, "requested_by_customer"
			a.AsBackend(t, post, "/v1/refunds", refund.body).Want(t, 201)
			if got := offers(); got != refund.want {
				t.Errorf("%s: after the refund the page offers the download: %v, want %v", name, got, refund.want)
			}
		}
	})
}

func TestADownloadLimitIsPerPurchase(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		listing := a.Published(t, nil)
		fileID := uploaded(t, a, listing, "a.pdf", []byte("content"), JSON{"downloadLimit": 2})
		ada, _ := paidReceipt(t, a, listing, "ada")
		grace, _ := paidReceipt(t, a, listing, "grace")
		buyer := app.NewVisitor(t)
		for range 3 { // which counts nothing
			head := app.AskUnjudged(t, harness.Request{Method: http.MethodHead, Path: ada + "/files/" + fileID})
			if head.Status != 200 || head.Header.Get("Content-Length") != "7" || len(head.Body) > 0 {
				t.Errorf("HEAD is %d with %v", head.Status, head.Header)
			}
		}
		for n, want := range []int{200, 200, 409, 409} {
			if page := buyer.Open(t, ada+"/files/"+fileID); page.Status != want {
				t.Errorf("download %d is %d, want %d", n+1, page.Status, want)
			} else if want == 409 && !strings.Contains(page.Body, "You’ve used all your downloads") {
				t.Errorf("the page of a used-up download does not say why: %s", page.Body)
			}
		}
		if page := buyer.Open(t, grace+"/files/"+fileID); page.Status != 200 {
			t.Errorf("another buyer's is %d", page.Status)
		}
	})
}

func TestANewVersionTakesThePlace(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		listing := a.Published(t, nil)
		first := uploaded(t, a, listing, "a.pdf", []byte("one"), nil)
		receipt, _ := paidReceipt(t, a, listing, "ada")
		buyer := app.NewVisitor(t)
		underway := buyer.Open(t, receipt+"/files/"+first).Path
		second := uploaded(t, a, listing, "a.pdf", []byte("two"), nil)
		if page := buyer.Open(t, receipt+"/files/"+second); page.Body != "two" {
			t.Errorf("the new version is %q", page.Body)
		}
		if page := buyer.Open(t, receipt+"/files/"+first); page.Status != 404 {
			t.Errorf("the former version is %d", page.Status)
		}
		if page := buyer.Open(t, underway); page.Body != "one" {
			t.Errorf("a download under way reads %q", page.Body)
		}
		deleted := a.AsCreator(t, http.MethodDelete, "/v1/files/"+second, nil).Want(t, 200).Map(t)
		if deleted["status"] != "deleted" {
			t.Errorf("deleted as %v", deleted)
		}
		if page := buyer.Open(t, receipt+"/files/"+first); page.Body != "one" {
			t.Errorf("after the deletion the version before is %q", page.Body)
		}
		a.AsCreator(t, get, "/v1/files/"+second, nil).Refuses(t, 404, "NOT_FOUND")
	})
}

func TestUploadsAreChecked(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a, other := app.NewAccount(t), app.NewAccount(t)
		listing := a.Published(t, nil)
		at := "/v1/listings/" + listing.ID + "/files"
		a.AsCreator(t, post, at, JSON{"name": "../a", "sizeInBytes": 0, "downloadLimit": 0}).Refuses(t, 400,
			"VALIDATION_FAILED", "name", "sizeInBytes", "downloadLimit")
		other.AsCreator(t, post, at, JSON{"name": "a", "sizeInBytes": 1}).Refuses(t, 404, "NOT_FOUND")
		fileID := beginUpload(t, a, listing, JSON{"name": "a", "sizeInBytes": file.PartSize + 1})
		putPart(t, a, fileID, 1, chance(file.PartSize-1)).Refuses(t, 400, "VALIDATION_FAILED")
		putPart(t, a, fileID, 3, chance(1)).Refuses(t, 400, "VALIDATION_FAILED", "number")
		putPart(t, other, fileID, 2, chance(1)).Refuses(t, 404, "NOT_FOUND")
		a.AsCreator(t, post, "/v1/files/"+fileID+"/complete", nil).Refuses(t, 400, "VALIDATION_FAILED", "parts")
		putPart(t, a, fileID, 2, chance(1)).Want(t, 204)
		putPart(t, a, fileID, 2, chance(1)).Want(t, 204)
		now := a.AsCreator(t, get, "/v1/files/"+fileID, nil).Want(t, 200).Map(t)
		if got := fmt.Sprint(now["storedParts"]); got != "[2]" || now["version"] != nil {
			t.Errorf("stored parts %s, version %v", got, now["version"])
		}
		putPart(t, a, fileID, 1, chance(file.PartSize)).Want(t, 204)
		for range 2 {
			a.AsCreator(t, post, "/v1/files/"+fileID+"/complete", nil).Want(t, 200)
		}
		putPart(t, a, fileID, 2, chance(1)).Refuses(t, 409, "STATE_CONFLICT")
		a.AsCreator(t, http.MethodDelete, "/v1/listings/"+listing.ID, nil).Want(t, 200)
		a.AsCreator(t, post, at, JSON{"name": "b", "sizeInBytes": 1}).Refuses(t, 409, "STATE_CONFLICT")
	})
}

func TestFilesInTheDashboard(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		listing := a.Published(t, nil)
		v, at := a.Visit(t), "/dashboard/listings/"+listing.ID
		v.Open(t, at)
		page := v.Upload(t, at+"/files", "file", []byte("without a script"))
		if page.Path != at || !strings.Contains(page.Body, "The file is ready for buyers.") {
			t.Fatalf("the upload led to %d %s", page.Status, page.Path)
		}
		v.Open(t, at)
		if page := v.Upload(t, at+"/files", "file", chance(file.PartSize+1)); page.Status != 400 ||
			!strings.Contains(page.Body, "at most 1 MB") {
			t.Errorf("a large file without a script is %d", page.Status)
		}
		receipt, _ := paidReceipt(t, a, listing, "ada")
		link := shownFile.FindString(app.NewVisitor(t).Open(t, receipt).Body)
		if body := app.NewVisitor(t).Open(t, receipt+"/files/"+link).Body; body != "without a script" {
			t.Errorf("the buyer got %q", body)
		}
		if body := v.Open(t, at+"/files/"+link).Body; body != "without a script" {
			t.Errorf("the creator got %q", body)
		}
		v.Open(t, at)
		if page := v.Post(t, at+"/files/"+link+"/parts/one", "token", v.Token(t)); page.Status != 404 {
			t.Errorf("a part without a number is %d", page.Status)
		}
		v.Open(t, at)
		if page := v.Send(t, at+"/files/"+link+"/delete"); !strings.Contains(page.Body, "The file is deleted.") {
			t.Errorf("deleting led to %d %s", page.Status, page.Path)
		}
	})
}

// shownFile is the id of a file on a page.
var shownFile = regexp.MustCompile(`file_[0-9a-z]{26}`)
