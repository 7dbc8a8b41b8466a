// Package file has the rules of files for buyers: a creator uploads them for a listing in parts, and of the versions of
// a file buyers get the newest. A file that belongs to a dispute is for the buyer's bank instead.
package file

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/text"
)

const (
	// PartSize is the number of bytes of every part but the last. No request and no response holds more in memory.
	PartSize = 1_000_000
	// MaxPerListing bounds the files of a listing, former versions included.
	MaxPerListing = 100
	// UploadLifetime bounds an upload. Afterwards its parts are deleted.
	UploadLifetime = 24 * time.Hour
	// maxName bounds a file's name, in characters.
	maxName = 200
	// maxDownloads bounds the limit that a creator may set.
	maxDownloads = 1000
	// octets is the content type of a file that names none.
	octets = "application/octet-stream"
)

// Status is the state of a file: uploading → ready → deleted, and uploading → deleted.
type Status string

// The statuses of a file.
const (
	Uploading Status = "uploading"
	Ready     Status = "ready"
	Deleted   Status = "deleted"
)

// State is a file's data, as stores and views see it.
type State struct {
	ID        string // file_…
	CreatorID string
	ListingID string // "" for a file of a dispute
	DisputeID string // "" for a file of a listing
	// Name becomes the name of the buyer's file. Files of one name are versions of it.
	Name        string
	ContentType string
	Size        int64 // bytes
	// Version counts the files of the name in the listing, from 1; 0 while uploading.
	Version int
	// DownloadLimit bounds the downloads of one purchase; 0 = no limit.
	DownloadLimit int
	Status        Status
	CreatedAt     time.Time
	Revision      int64
}

// File is the aggregate.
type File struct{ s State }

// Restore rebuilds a file from its stored state.
func Restore(s State) *File { return &File{s} }

// State returns a copy of the data.
func (f *File) State() State { return f.s }

// Proposal is a new file as a request describes it.
type Proposal struct {
	Name string
	// ContentType is a media type; "" = any bytes.
	ContentType string
	Size        int64
	// DownloadLimit bounds the downloads of one purchase; nil = no limit.
	DownloadLimit *int64
}

// Origin contains the members that the service adds to a proposal. MaxSize is the deployment's limit, in bytes.
type Origin struct {
	ID, CreatorID string
	// One of the two is "": a file belongs to a listing or to a dispute.
	ListingID, DisputeID string
	MaxSize              int64
}

// Begin starts an upload. Its error lists every fault of the proposal.
func Begin(p Proposal, o Origin, now time.Time) (*File, error) {
	var f fault.Violations
	CheckName(&f, p.Name)
	contentType := checkType(&f, p.ContentType)
	f.Check(p.Size > 0, "sizeInBytes", fault.DetailOutOfRange, "Expected the size in bytes, 1 or more.")
	if p.Size > o.MaxSize {
		f.Addf("sizeInBytes", fault.DetailOutOfRange, "A file may have at most %d bytes.", o.MaxSize)
	}
	s := State{
		ID: o.ID, CreatorID: o.CreatorID, ListingID: o.ListingID, DisputeID: o.DisputeID, Name: p.Name,
		ContentType: contentType, Size: p.Size, Status: Uploading, CreatedAt: now, Revision: 1,
	}
	if p.DownloadLimit != nil {
		if *p.DownloadLimit < 1 || *p.DownloadLimit > maxDownloads {
			f.Addf("downloadLimit", fault.DetailOutOfRange, "Expected 1 to %d, or null for no limit.", maxDownloads)
		}
		s.DownloadLimit = int(*p.DownloadLimit)
	}
	return &File{s}, f.Err()
}

// CheckName refuses, at the member name, what cannot be the name of a file in a folder.
func CheckName(f *fault.Violations, name string) {
	if name == "" {
		f.Add("name", fault.DetailRequired, "Expected the file's name.")
		return
	}
	text.CheckName(f, "name", name, maxName)
	f.Check(
		!strings.ContainsAny(name, `/\:*?"<>|`) && name != "." && name != "..", "name", fault.DetailInvalid,
		`Expected a file's name without a path and without : * ? " < > |.`,
	)
}

// checkType returns a media type without parameters, in lower case.
func checkType(f *fault.Violations, contentType string) string {
	if contentType == "" {
		return octets
	}
	kind, sub, _ := strings.Cut(strings.ToLower(contentType), "/")
	ok := len(contentType) <= 100 && token(kind) && token(sub)
	f.Check(ok, "contentType", fault.DetailInvalid, "Expected a media type such as application/pdf.")
	return kind + "/" + sub
}

func token(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789.+-_!#$&^") == ""
}

// Parts returns the number of parts of the file.
func (s State) Parts() int { return int((s.Size + PartSize - 1) / PartSize) }

// PartLen returns the length of a part in bytes, by its number from 1; 0 for a number that there is not.
func (s State) PartLen(number int) int {
	switch {
	case number < 1 || number > s.Parts():
		return 0
	case number == s.Parts():
		return int(s.Size - int64(number-1)*PartSize)
	}
	return PartSize
}

// Key returns the key of a part in the storage.
func (s State) Key(number int) string { return fmt.Sprintf("%s/%05d", id.Body(s.ID), number) }

// CheckPart refuses a part that the file does not have. STATE_CONFLICT once it is complete, VALIDATION_FAILED.
func (f *File) CheckPart(number, length int) error {
	if f.s.Status != Uploading {
		return fault.Newf(fault.StateConflict, "The file takes no more parts: it is %s.", f.s.Status)
	}
	var v fault.Violations
	want := f.s.PartLen(number)
	if v.Check(want > 0, "number", fault.DetailOutOfRange, fmt.Sprintf("Expected 1 to %d.", f.s.Parts())) {
		v.Check(length == want, "", fault.DetailInvalid,
			fmt.Sprintf("Part %d has to have %d bytes, and this one has %d.", number, want, length))
	}
	return v.Err()
}

// Complete makes the file what buyers get under its name. received are the numbers of its parts, each once. Doing it
// again changes nothing. VALIDATION_FAILED naming the parts that are missing, STATE_CONFLICT once deleted.
func (f *File) Complete(received []int, version int) (changed bool, err error) {
	switch f.s.Status {
	case Ready:
		return false, nil
	case Deleted:
		return false, fault.New(fault.StateConflict, "The file was deleted.")
	case Uploading:
	}
	here := make(map[int]bool, len(received))
	for _, number := range received {
		here[number] = true
	}
	var missing []string
	for number := 1; number <= f.s.Parts(); number++ {
		if !here[number] {
			missing = append(missing, fmt.Sprint(number))
		}
	}
	if n := len(missing); n > 0 {
		return false, fault.Invalid(fault.Detail{
			Field: "parts", Code: fault.DetailRequired,
			Message: fmt.Sprintf("%d parts are missing: %s.", n, strings.Join(missing[:min(n, 20)], ", ")),
		})
	}
	f.s.Status, f.s.Version = Ready, version
	f.s.Revision++
	return true, nil
}

// Delete takes the file away from buyers. Doing it again changes nothing.
func (f *File) Delete() (changed bool) {
	if f.s.Status == Deleted {
		return false
	}
	f.s.Status = Deleted
	f.s.Revision++
	return true
}

// Newest returns what buyers get of a listing's files: the highest version of each name, by name.
func Newest(all []State) (newest []State) {
	byName := map[string]int{}
	for _, s := range all {
		if s.Status != Ready {
			continue
		}
		at, known := byName[s.Name]
		switch {
		case !known:
			byName[s.Name] = len(newest)
			newest = append(newest, s)
		case s.Version > newest[at].Version:
			newest[at] = s
		}
	}
	slices.SortFunc(newest, func(a, b State) int { return strings.Compare(a.Name, b.Name) })
	return newest
}

// NextVersion returns the version of another file of the name.
func NextVersion(all []State, name string) int {
	highest := 0
	for _, s := range all {
		if s.Name == name {
			highest = max(highest, s.Version)
		}
	}
	return highest + 1
}
