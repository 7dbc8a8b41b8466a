package dashboard

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/adapters/web/layout"
	"sundry/core/fault"
	"sundry/core/file"
	"sundry/core/listing"
)

func (r *Routes) mountFiles(at fiber.Router) {
	r.post(at, "/listings/:id/files", r.uploadFile)
	r.post(at, "/listings/:id/files/begin", r.beginFile)
	r.post(at, "/listings/:id/files/:file/parts/:number", r.putFilePart)
	r.post(at, "/listings/:id/files/:file/complete", r.completeFile)
	r.post(at, "/listings/:id/files/:file/delete", r.deleteFile)
	r.get(at, "/listings/:id/files/:file", r.ownFile)
}

var fileTones = map[file.Status]ui.Cell{
	file.Uploading: {Text: "Uploading", Tone: "wait"}, file.Ready: {Text: "For buyers", Tone: "ok"},
}

// filesPart shows what buyers of a listing download, and takes more.
func (r *Routes) filesPart(c *fiber.Ctx, v *visit, l listing.State) ([]ui.Part, error) {
	all, downloads, err := r.Files.List(c.UserContext(), v.account(), l.ID)
	if err != nil {
		return nil, err
	}
	at := base + "/listings/" + l.ID + "/files"
	t := ui.Table{Label: "Files", Heads: []ui.Head{
		{Label: "File"}, {Label: "Status"}, {Label: "Size", Num: true}, {Label: "Downloads", Num: true}, {Label: "Added"}, {},
	}}
	newest := map[string]bool{}
	for _, f := range file.Newest(all) {
		newest[f.ID] = true
	}
	for _, f := range all {
		t.Rows = append(t.Rows, ui.Row{Cells: []ui.Cell{
			v.fileName(f, at), fileTone(f, newest[f.ID]), ui.Number(v.reader.Size(f.Size)),
			ui.Number(strconv.FormatInt(downloads[f.ID], 10)), v.moment(f.CreatedAt),
			{Actions: []ui.Action{v.button("Delete", at+"/"+f.ID+"/delete").Confirm(
				"Buyers can’t download it any more. This can’t be undone.",
			)}},
		}})
	}
	shown := ui.TablePart("Files", t)
	shown.Anchor, shown.Lead = "files", "Buyers download them on the paid page and from their receipt, while they have access."
	upload := ui.FormPart(uploadForm(v, l.ID))
	switch {
	case l.Status == listing.Archived && len(all) == 0:
		return nil, nil
	case l.Status == listing.Archived:
		return []ui.Part{shown}, nil
	case len(all) == 0:
		upload.Title, upload.Lead, upload.Anchor = shown.Title, shown.Lead, shown.Anchor
		return []ui.Part{upload}, nil
	}
	return []ui.Part{shown, upload}, nil
}

func (v *visit) fileName(f file.State, at string) ui.Cell {
	name := ui.Text(f.Name)
	var about []string
	if f.Status == file.Ready {
		name.Href = at + "/" + f.ID
		about = append(about, v.text("version %d", f.Version))
	}
	if f.DownloadLimit > 0 {
		about = append(about, v.text(
			ui.Plural(v.reader.Language, f.DownloadLimit, "at most %d download", "at most %d downloads"), f.DownloadLimit,
		))
	}
	name.Sub = ui.Data(strings.Join(about, " · "))
	return name
}

func fileTone(f file.State, newest bool) ui.Cell {
	if f.Status == file.Ready && !newest {
		return ui.Cell{Text: "Former version", Tone: "mute"}
	}
	return fileTones[f.Status]
}

// uploadForm sends a file in parts where there is a script, and one that fits a request without.
func uploadForm(v *visit, listingID string) ui.Form {
	at := base + "/listings/" + listingID + "/files"
	f := v.form("file", at, "Upload",
		ui.Field{
			Name: "file", Label: "File", Type: "file", Required: true,
			Hint: "A file of the same name is its new version: buyers get the newest.",
		},
		ui.Field{
			Name: "downloadLimit", Label: "Downloads per purchase", Half: true, Hint: "Leave empty for no limit.",
		})
	f.Multipart, f.Upload = true, at
	return f
}

// readFile reads a file's description from a form.
func readFile(c *fiber.Ctx) (file.Proposal, error) {
	p := file.Proposal{Name: c.FormValue("name"), ContentType: c.FormValue("contentType")}
	p.Size, _ = strconv.ParseInt(c.FormValue("size"), 10, 64) // 0 is refused
	if limit := c.FormValue("downloadLimit"); limit != "" {
		n, err := strconv.ParseInt(limit, 10, 64)
		if err != nil {
			return p, fault.Invalid(fault.Detail{
				Field: "downloadLimit", Code: fault.DetailInvalid, Message: "Enter a number, or leave it empty.",
			})
		}
		p.DownloadLimit = &n
	}
	return p, nil
}

func (r *Routes) uploadFile(c *fiber.Ctx, v *visit) error {
	l, err := r.Catalog.OwnListing(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	proposal, err := readFile(c)
	var content []byte
	if err == nil {
		content, err = sentFile(c, &proposal)
	}
	if err == nil {
		_, err = r.Files.Upload(c.UserContext(), v.account(), l.ID, proposal, content)
	}
	if err != nil {
		p := r.editListingPage(v, l)
		p.Title = "Add a file"
		return r.again(c, v, p, uploadForm(v, l.ID), err)
	}
	return r.done(c, base+"/listings/"+l.ID+"#files", "The file is ready for buyers.")
}

// sentFile reads the file of a form, which fits into one part.
func sentFile(c *fiber.Ctx, p *file.Proposal) ([]byte, error) {
	refused := func(code, why string) error {
		return fault.Invalid(fault.Detail{Field: "file", Code: code, Message: why})
	}
	header, err := c.FormFile("file")
	if err != nil || header.Filename == "" {
		return nil, refused(fault.DetailRequired, "Choose a file.")
	}
	if header.Size > file.PartSize {
		return nil, refused(fault.DetailTooLong, "Without JavaScript a file can have at most 1 MB.")
	}
	p.Name, p.ContentType = header.Filename, header.Header.Get(fiber.HeaderContentType)
	opened, err := header.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = opened.Close() }() // it was only read
	return io.ReadAll(io.LimitReader(opened, file.PartSize))
}

// beginFile responds to the script with the parts to send.
func (r *Routes) beginFile(c *fiber.Ctx, v *visit) error {
	proposal, err := readFile(c)
	var begun file.State
	if err == nil {
		begun, err = r.Files.Begin(c.UserContext(), v.account(), c.Params("id"), proposal)
	}
	if err != nil {
		return r.refuseScript(c, err)
	}
	return c.JSON(fiber.Map{"id": begun.ID, "partSize": file.PartSize})
}

func (r *Routes) putFilePart(c *fiber.Ctx, v *visit) error {
	number, err := strconv.Atoi(c.Params("number"))
	if err != nil {
		return r.refuseScript(c, fault.NotFound("part"))
	}
	content, err := sentFile(c, &file.Proposal{})
	if err == nil {
		err = r.Files.PutPart(c.UserContext(), v.account(), c.Params("file"), number, content)
	}
	if err != nil {
		return r.refuseScript(c, err)
	}
	return c.SendStatus(fiber.StatusNoContent)
}

func (r *Routes) completeFile(c *fiber.Ctx, v *visit) error {
	if _, err := r.Files.Complete(c.UserContext(), v.account(), c.Params("file")); err != nil {
		return r.refuseScript(c, err)
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// refuseScript tells the script why, in words for the creator. Anything but a refusal is an error of ours.
func (r *Routes) refuseScript(c *fiber.Ctx, err error) error {
	var refusal *fault.Error
	if !errors.As(err, &refusal) {
		return err
	}
	c.Status(r.layout.Config().StatusOf(err))
	return c.JSON(fiber.Map{"message": reasonOf(refusal).In(reader(c).Language)})
}

func (r *Routes) deleteFile(c *fiber.Ctx, v *visit) error {
	at := base + "/listings/" + c.Params("id")
	if _, err := r.Files.Delete(c.UserContext(), v.account(), c.Params("file")); err != nil {
		return r.refused(c, at, err)
	}
	return r.done(c, at+"#files", "The file is deleted.")
}

// ownFile sends a creator a file of theirs.
func (r *Routes) ownFile(c *fiber.Ctx, v *visit) error {
	state, err := r.Files.OpenOwn(c.UserContext(), v.account(), c.Params("file"))
	if err != nil {
		return err
	}
	return layout.SendFile(c, state, r.Files.Bytes)
}
