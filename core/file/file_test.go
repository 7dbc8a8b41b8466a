package file_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sundry/core/fault"
	"sundry/core/file"
	"sundry/core/id"
	"sundry/core/secret"
)

var noon = time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)

func origin() file.Origin {
	return file.Origin{ID: id.New(id.File, [16]byte{1}), CreatorID: "crt_1", ListingID: "lst_1", MaxSize: 10 * file.PartSize}
}

func begin(t testing.TB, name string, size int64) *file.File {
	t.Helper()
	f, err := file.Begin(file.Proposal{Name: name, Size: size}, origin(), noon)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestBegin_EveryFault(t *testing.T) {
	t.Parallel()
	limit := func(n int64) *int64 { return &n }
	for name, c := range map[string]struct {
		proposal file.Proposal
		fields   []string
	}{
		"nothing":               {file.Proposal{}, []string{"name", "sizeInBytes"}},
		"a path":                {file.Proposal{Name: "../secret", Size: 1}, []string{"name"}},
		"the folder itself":     {file.Proposal{Name: "..", Size: 1}, []string{"name"}},
		"a quote":               {file.Proposal{Name: `a".pdf`, Size: 1}, []string{"name"}},
		"two lines":             {file.Proposal{Name: "a\r\nb", Size: 1}, []string{"name"}},
		"a long name":           {file.Proposal{Name: strings.Repeat("x", 201), Size: 1}, []string{"name"}},
		"one byte too many":     {file.Proposal{Name: "a", Size: 10*file.PartSize + 1}, []string{"sizeInBytes"}},
		"no media type":         {file.Proposal{Name: "a", Size: 1, ContentType: "pdf"}, []string{"contentType"}},
		"a header in a type":    {file.Proposal{Name: "a", Size: 1, ContentType: "a/b\r\nX: y"}, []string{"contentType"}},
		"no downloads":          {file.Proposal{Name: "a", Size: 1, DownloadLimit: limit(0)}, []string{"downloadLimit"}},
		"too many downloads":    {file.Proposal{Name: "a", Size: 1, DownloadLimit: limit(1001)}, []string{"downloadLimit"}},
		"the longest of all":    {file.Proposal{Name: strings.Repeat("x", 200), Size: 10 * file.PartSize}, nil},
		"the highest limit":     {file.Proposal{Name: "a", Size: 1, DownloadLimit: limit(1000)}, nil},
		"a type in upper case":  {file.Proposal{Name: "a", Size: 1, ContentType: "Application/PDF"}, nil},
		"letters of everywhere": {file.Proposal{Name: "Übung 1 – 写真.zip", Size: 1}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := file.Begin(c.proposal, origin(), noon)
			if c.fields == nil {
				if err != nil {
					t.Fatal(err)
				}
				if s := f.State(); s.Status != file.Uploading || s.Version != 0 || s.ContentType != strings.ToLower(s.ContentType) {
					t.Errorf("begun as %+v", s)
				}
				return
			}
			var got []string
			for _, d := range detailsOf(err) {
				got = append(got, d.Field)
			}
			if !slices.Equal(got, c.fields) {
				t.Errorf("faults at %v, want %v: %v", got, c.fields, err)
			}
		})
	}
}

func detailsOf(err error) []fault.Detail {
	if refusal, ok := err.(*fault.Error); ok { //nolint:errorlint // it is made right there
		return refusal.Details
	}
	return nil
}

func TestPartsCoverTheFileOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := file.State{Size: rapid.Int64Range(1, 5*file.PartSize).Draw(t, "size")}
		sum := int64(0)
		for number := 1; number <= s.Parts(); number++ {
			n := s.PartLen(number)
			if n < 1 || n > file.PartSize {
				t.Fatalf("part %d of %d has %d bytes", number, s.Parts(), n)
			}
			sum += int64(n)
		}
		if sum != s.Size || s.PartLen(0) != 0 || s.PartLen(s.Parts()+1) != 0 {
			t.Errorf("%d parts have %d bytes of %d", s.Parts(), sum, s.Size)
		}
	})
}

func TestOnlyItsPartsAreTaken(t *testing.T) {
	t.Parallel()
	f := begin(t, "a", 2*file.PartSize+5)
	for name, c := range map[string]struct {
		number, length int
		taken          bool
	}{
		"the first": {1, file.PartSize, true}, "the last": {3, 5, true}, "too short": {1, 5, false},
		"too long": {3, 6, false}, "none": {0, 5, false}, "beyond": {4, 5, false},
	} {
		if err := f.CheckPart(c.number, c.length); (err == nil) != c.taken {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := f.Complete([]int{1, 2, 3}, 1); err != nil {
		t.Fatal(err)
	}
	if err := f.CheckPart(1, file.PartSize); !fault.Is(err, fault.StateConflict) {
		t.Errorf("a part of a complete file: %v", err)
	}
}

func TestTransitions(t *testing.T) {
	t.Parallel()
	f := begin(t, "a", 2*file.PartSize)
	_, err := f.Complete([]int{2, 2}, 1)
	if s := f.State(); !fault.Is(err, fault.ValidationFailed) || s.Status != file.Uploading || s.Revision != 1 ||
		!strings.Contains(detailsOf(err)[0].Message, "1 parts are missing: 1.") {
		t.Errorf("without its first part: %v, %+v", err, s)
	}
	if changed, err := f.Complete([]int{1, 2}, 4); err != nil || !changed {
		t.Fatal(changed, err)
	}
	if s := f.State(); s.Status != file.Ready || s.Version != 4 || s.Revision != 2 {
		t.Errorf("complete as %+v", s)
	}
	if changed, err := f.Complete(nil, 9); err != nil || changed || f.State().Version != 4 {
		t.Errorf("again: %v, %v, %+v", changed, err, f.State())
	}
	if !f.Delete() || f.Delete() || f.State().Status != file.Deleted || f.State().Revision != 3 {
		t.Errorf("deleted as %+v", f.State())
	}
	if _, err := f.Complete([]int{1, 2}, 5); !fault.Is(err, fault.StateConflict) {
		t.Errorf("a deleted file: %v", err)
	}
}

func TestBuyersGetTheNewest(t *testing.T) {
	t.Parallel()
	all := []file.State{
		{ID: "3", Name: "b", Version: 2, Status: file.Ready}, {ID: "1", Name: "b", Version: 1, Status: file.Ready},
		{ID: "4", Name: "b", Status: file.Uploading}, {ID: "2", Name: "a", Version: 1, Status: file.Ready},
	}
	var got []string
	for _, f := range file.Newest(all) {
		got = append(got, f.ID)
	}
	if want := []string{"2", "3"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if a, b, c := file.NextVersion(all, "a"), file.NextVersion(all, "b"), file.NextVersion(all, "c"); a != 2 || b != 3 ||
		c != 1 {
		t.Errorf("the next versions are %d, %d, %d", a, b, c)
	}
}

func TestALinkOpensWhatItNames(t *testing.T) {
	t.Parallel()
	keys := secret.Fixed([]byte("0123456789abcdef0123456789abcdef"))
	d := file.Download{
		FileID: id.New(id.File, [16]byte{7}), CheckoutID: id.New(id.CheckoutSession, [16]byte{8}),
		Until: noon.Add(file.LinkLifetime),
	}
	part := strings.Split(d.Path(keys), "/") // "", f, until, checkout, token
	until, checkout, token := part[2], part[3], part[4]
	if got, ok := file.ParseDownload(keys, until, checkout, token, noon); !ok || got.FileID != d.FileID ||
		got.CheckoutID != checkout {
		t.Errorf("its own path: %+v, %v", got, ok)
	}
	later := fmt.Sprint(d.Until.Add(time.Hour).Unix())
	other := id.New(id.CheckoutSession, [16]byte{9})
	for name, ok := range map[string]bool{
		"at its end":       opens(keys, until, checkout, token, d.Until),
		"past its end":     !opens(keys, until, checkout, token, d.Until.Add(time.Second)),
		"a later end":      !opens(keys, later, checkout, token, noon),
		"another purchase": !opens(keys, until, other, token, noon),
		"no number":        !opens(keys, "x", checkout, token, noon),
		"another key":      !opens(secret.Fixed([]byte("x")), until, checkout, token, noon),
	} {
		if !ok {
			t.Error(name)
		}
	}
}

func opens(keys secret.Keys, until, checkout, token string, now time.Time) bool {
	_, ok := file.ParseDownload(keys, until, checkout, token, now)
	return ok
}

func TestRanges(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]struct {
		file.Range
		partial, ok bool
	}{
		"":                               {file.Range{Last: 99}, false, true},
		"bytes=0-":                       {file.Range{Last: 99}, true, true},
		"bytes=0-0":                      {file.Range{}, true, true},
		"bytes=10-19":                    {file.Range{First: 10, Last: 19}, true, true},
		"bytes=90-1000":                  {file.Range{First: 90, Last: 99}, true, true},
		"bytes=-5":                       {file.Range{First: 95, Last: 99}, true, true},
		"bytes=-500":                     {file.Range{Last: 99}, true, true},
		"bytes=-0":                       {file.Range{First: 100, Last: 99}, true, false},
		"bytes=100-":                     {file.Range{First: 100, Last: 99}, true, false},
		"bytes=0-1,5-6":                  {file.Range{Last: 99}, false, true},
		"bytes=5-1":                      {file.Range{Last: 99}, false, true},
		"bytes=a-":                       {file.Range{Last: 99}, false, true},
		"lines=1-2":                      {file.Range{Last: 99}, false, true},
		"bytes=99999999999999999999999-": {file.Range{Last: 99}, false, true},
	} {
		got, partial, ok := file.ParseRange(header, 100)
		if got != want.Range || partial != want.partial || ok != want.ok {
			t.Errorf("%q is %+v, %v, %v, want %+v", header, got, partial, ok, want)
		}
	}
}

func FuzzParseRange(f *testing.F) {
	for _, seed := range []string{"", "bytes=0-", "bytes=-1", "bytes=5-9", "bytes=--1"} {
		f.Add(seed, int64(10))
	}
	f.Fuzz(func(t *testing.T, header string, size int64) {
		if size < 1 {
			return
		}
		r, _, ok := file.ParseRange(header, size)
		if ok && (r.First < 0 || r.Last >= size || r.Len() < 1) {
			t.Errorf("%q of %d is %+v", header, size, r)
		}
	})
}
