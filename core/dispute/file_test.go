package dispute_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sundry/core/dispute"
	"sundry/core/fault"
	"sundry/core/fault/faulttest"
)

const pdf = "%PDF-1.4"

func TestCheckFile_TakesWhatBanksTake(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ name, content, want, faults string }{
		"a PDF":                  {"a.pdf", pdf, "application/pdf", ""},
		"a PNG":                  {"a.png", "\x89PNG\r\n\x1a\n…", "image/png", ""},
		"a JPEG":                 {"a.jpg", "\xff\xd8\xff\xe0", "image/jpeg", ""},
		"a PNG under false name": {"a.pdf", "\x89PNG\r\n\x1a\n…", "image/png", ""},
		"the largest":            {"a.pdf", pdf + strings.Repeat("x", dispute.MaxFileSize-len(pdf)), "application/pdf", ""},
		"a byte more":            {"a.pdf", pdf + strings.Repeat("x", dispute.MaxFileSize-len(pdf)+1), "", "file TOO_LONG"},
		"nothing":                {"a.pdf", "", "", "file REQUIRED"},
		"a single byte":          {"a.pdf", "%", "", "file INVALID"},
		"a page":                 {"a.pdf", "<html>", "", "file INVALID"},
		"a PDF further on":       {"a.pdf", " " + pdf, "", "file INVALID"},
		"no name":                {"", pdf, "", "name REQUIRED"},
		"a path":                 {"../a.pdf", pdf, "", "name INVALID"},
		"everything wrong":       {"", "?", "", "name REQUIRED, file INVALID"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := dispute.CheckFile(c.name, []byte(c.content))
			if faults := strings.Join(faulttest.Lines(t, err), ", "); faults != c.faults || err == nil && got != c.want {
				t.Errorf("%q with faults %q, want %q and %q", got, faults, c.want, c.faults)
			}
		})
	}
}

func file(n int) dispute.File { return dispute.File{ID: fmt.Sprintf("file_%d", n), Name: "a.pdf"} }

func idsOf(s dispute.State) (ids []string) {
	for _, f := range s.Files {
		ids = append(ids, f.ID)
	}
	return ids
}

func TestFiles_ChangeUntilTheResponse(t *testing.T) {
	t.Parallel()
	d := in(dispute.NeedsResponse)
	for n := range dispute.MaxFiles {
		before := d.State()
		if err := d.AddFile(file(n)); err != nil || d.State().Revision != before.Revision+1 || len(before.Files) != n {
			t.Fatalf("file %d: %v, %+v", n, err, d.State())
		}
	}
	full := d.State()
	if err := d.AddFile(file(9)); !fault.Is(err, fault.LimitReached) || d.State().Revision != full.Revision {
		t.Errorf("one more: %v", err)
	}
	if err := d.RemoveFile("file_9"); !fault.Is(err, fault.NotFoundCode) || d.State().Revision != full.Revision {
		t.Errorf("one that is not there: %v", err)
	}
	if err := d.RemoveFile("file_1"); err != nil || !slices.Equal(idsOf(d.State()), []string{"file_0", "file_2", "file_3"}) ||
		len(full.Files) != dispute.MaxFiles || d.State().Revision != full.Revision+1 {
		t.Errorf("removed: %v, %v, %v before", err, idsOf(d.State()), idsOf(full))
	}
	if err := d.Respond(dispute.Evidence{Text: "t", FileIDs: []string{"file_0"}}, false); err != nil {
		t.Fatal(err)
	}
	after := d.State()
	for name, err := range map[string]error{"another": d.AddFile(file(5)), "the sent": d.RemoveFile("file_0"),
		"the rest": d.RemoveFile("file_2")} {
		if !fault.Is(err, fault.StateConflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := d.State(); got.Revision != after.Revision || !slices.Equal(idsOf(got), idsOf(after)) {
		t.Errorf("changed to %v", idsOf(got))
	}
}

func TestFiles_TakeNoPartOnceUnderReview(t *testing.T) {
	t.Parallel()
	for _, status := range []dispute.Status{dispute.UnderReview, dispute.Won, dispute.Lost} {
		if err := in(status).AddFile(file(1)); !fault.Is(err, fault.StateConflict) {
			t.Errorf("%s: %v", status, err)
		}
	}
}

func TestRespond_NamesItsOwnFilesOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ids   []string
		field string
	}{
		"both": {[]string{"file_2", "file_1"}, ""}, "none": {nil, ""},
		"another's": {[]string{"file_1", "file_3"}, "fileIds[1]"}, "one twice": {[]string{"file_1", "file_1"}, "fileIds[1]"},
	} {
		d := in(dispute.NeedsResponse)
		for n := range 2 {
			if err := d.AddFile(file(n + 1)); err != nil {
				t.Fatal(err)
			}
		}
		before := d.State()
		err := d.Respond(dispute.Evidence{Text: "t", FileIDs: c.ids}, false)
		if c.field == "" {
			if err != nil || !slices.Equal(d.State().View().Evidence.FileIDs, c.ids) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		refusal, ok := err.(*fault.Error) //nolint:errorlint // it is returned unwrapped
		if !ok || len(refusal.Details) != 1 || refusal.Details[0].Field != c.field || d.State().Revision != before.Revision {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestView_ShowsTheFiles(t *testing.T) {
	t.Parallel()
	s := dispute.State{Files: []dispute.File{
		{ID: "file_1", Name: "a.pdf", ContentType: "application/pdf", Size: 7, CreatedAt: now}, file(2),
	}}
	for want, shown := range map[string]any{
		`[{"id":"file_1","name":"a.pdf","contentType":"application/pdf","sizeInBytes":7,` +
			`"createdAt":"2026-11-22T12:00:00.000Z"},{"id":"file_2","name":"a.pdf","contentType":"","sizeInBytes":0,` +
			`"createdAt":null}]`: s.View().Files,
		`[]`: dispute.State{}.View().Files,
	} {
		if got, err := json.Marshal(shown); err != nil || string(got) != want {
			t.Errorf("%v\n%s\nwant\n%s", err, got, want)
		}
	}
}
