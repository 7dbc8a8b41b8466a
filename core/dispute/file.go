package dispute

import (
	"bytes"
	"slices"
	"time"

	"sundry/core/fault"
	"sundry/core/file"
)

// Limits of the files of a dispute. Banks get them as they are.
const (
	MaxFiles    = 4
	MaxFileSize = file.PartSize // bytes
)

// File is a file that the creator has uploaded for the bank.
type File struct {
	ID          string    `json:"id"` // file_…
	Name        string    `json:"name"`
	ContentType string    `json:"contentType"`
	Size        int64     `json:"size"` // bytes
	CreatedAt   time.Time `json:"createdAt"`
}

// CheckFile returns the content type of a file for the bank, as its first bytes show. VALIDATION_FAILED at name and
// file for a name that is none, for nothing, for more than MaxFileSize, and for anything but PDF, PNG and JPEG.
func CheckFile(name string, content []byte) (contentType string, err error) {
	var f fault.Violations
	file.CheckName(&f, name)
	contentType = sniff(content)
	switch {
	case len(content) == 0:
		f.Add("file", fault.DetailRequired, "Choose a file.")
	case len(content) > MaxFileSize:
		f.Add("file", fault.DetailTooLong, "A file may have at most 1 MB.")
	case contentType == "":
		f.Add("file", fault.DetailInvalid, "Banks take PDF, PNG and JPEG files, and this is none of them.")
	}
	return contentType, f.Err()
}

// signatures are the first bytes of what banks take.
var signatures = []struct{ first, contentType string }{
	{"%PDF-", "application/pdf"}, {"\x89PNG\r\n\x1a\n", "image/png"}, {"\xff\xd8\xff", "image/jpeg"},
}

// sniff is the content type of a file; "" for one that banks do not take.
func sniff(content []byte) string {
	for _, s := range signatures {
		if bytes.HasPrefix(content, []byte(s.first)) {
			return s.contentType
		}
	}
	return ""
}

// CheckMoreFiles refuses another file: STATE_CONFLICT once a response was given, LIMIT_REACHED at MaxFiles.
func (d *Dispute) CheckMoreFiles() error {
	if err := d.checkOpen("file"); err != nil {
		return err
	}
	if len(d.s.Files) >= MaxFiles {
		return fault.Newf(fault.LimitReached, "A dispute has at most %d files. Delete one first.", MaxFiles)
	}
	return nil
}

// AddFile adds a file that may be sent with the response. See CheckMoreFiles.
func (d *Dispute) AddFile(f File) error {
	if err := d.CheckMoreFiles(); err != nil {
		return err
	}
	d.s.Files = append(slices.Clone(d.s.Files), f)
	d.s.Revision++
	return nil
}

// RemoveFile takes a file out. NOT_FOUND, and STATE_CONFLICT once a response was given.
func (d *Dispute) RemoveFile(fileID string) error {
	if _, ok := d.s.File(fileID); !ok {
		return fault.NotFound("file")
	}
	if err := d.checkOpen("change"); err != nil {
		return err
	}
	d.s.Files = slices.DeleteFunc(slices.Clone(d.s.Files), func(f File) bool { return f.ID == fileID })
	d.s.Revision++
	return nil
}

// File returns one of the dispute's files.
func (s State) File(fileID string) (f File, ok bool) {
	at := slices.IndexFunc(s.Files, func(f File) bool { return f.ID == fileID })
	if at < 0 {
		return File{}, false
	}
	return s.Files[at], true
}

// checkFiles refuses a response with files that the dispute does not have, or with one of them twice.
func (s State) checkFiles(fileIDs []string) error {
	var f fault.Violations
	for i, fileID := range fileIDs {
		_, known := s.File(fileID)
		item := f.Item("fileIds", i)
		item.Check(known, "", fault.DetailInvalid, "The dispute has no such file.")
		item.Check(!slices.Contains(fileIDs[:i], fileID), "", fault.DetailDuplicate, "Name each file once.")
	}
	return f.Err()
}
