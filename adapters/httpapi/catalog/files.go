package catalog

import (
	"strconv"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/adapters/httpapi/strictjson"
	"sundry/core/apiformat"
	"sundry/core/fault"
	"sundry/core/file"
	"sundry/ports"
)

func (h handlers) fileRoutes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: fiber.MethodPost, Path: "/v1/listings/:id/files", Auth: httpapi.AccessToken, Handle: h.createFile,
		},
		{Method: fiber.MethodGet, Path: "/v1/listings/:id/files", Auth: httpapi.AccessToken, Handle: h.listFiles},
		{Method: fiber.MethodGet, Path: "/v1/files/:id", Auth: httpapi.AccessToken, Handle: h.getFile},
		{
			Method: fiber.MethodPut, Path: "/v1/files/:id/parts/:number", Auth: httpapi.AccessToken, Handle: h.putFilePart,
		},
		{
			Method: fiber.MethodPost, Path: "/v1/files/:id/complete", Auth: httpapi.AccessToken,
			Handle: httpapi.WithoutBody(h.completeFile),
		},
		{Method: fiber.MethodDelete, Path: "/v1/files/:id", Auth: httpapi.AccessToken, Handle: h.deleteFile},
	}
}

// fileView is a file of a listing. version is null while it is uploaded.
type fileView struct {
	ID              string  `json:"id"`
	ListingID       string  `json:"listingId"`
	Name            string  `json:"name"`
	ContentType     string  `json:"contentType"`
	SizeInBytes     int64   `json:"sizeInBytes"`
	Status          string  `json:"status"`
	Version         *int    `json:"version"`
	DownloadLimit   *int    `json:"downloadLimit"`
	PartSizeInBytes int     `json:"partSizeInBytes"`
	PartCount       int     `json:"partCount"`
	Livemode        bool    `json:"livemode"`
	CreatedAt       *string `json:"createdAt"`
}

func (h handlers) newFileView(s file.State) fileView {
	return fileView{
		ID: s.ID, ListingID: s.ListingID, Name: s.Name, ContentType: s.ContentType, SizeInBytes: s.Size,
		Status: string(s.Status), Version: apiformat.Count(s.Version), DownloadLimit: apiformat.Count(s.DownloadLimit),
		PartSizeInBytes: file.PartSize, PartCount: s.Parts(), Livemode: h.Live, CreatedAt: apiformat.Time(s.CreatedAt),
	}
}

// fileWithPartsView is a file with the numbers of the parts that are stored, to go on with an upload that broke.
type fileWithPartsView struct {
	fileView
	StoredParts []int `json:"storedParts"`
}

// listedFileView is a file with the number of its downloads.
type listedFileView struct {
	fileView
	Downloads int64 `json:"downloads"`
}

type fileRequest struct {
	Name          strictjson.Optional[string] `json:"name"`
	ContentType   strictjson.Optional[string] `json:"contentType"`
	SizeInBytes   strictjson.Optional[int64]  `json:"sizeInBytes"`
	DownloadLimit strictjson.Optional[int64]  `json:"downloadLimit"`
}

func (h handlers) createFile(c *fiber.Ctx) error {
	in, err := httpapi.Decode[fileRequest](c)
	if err != nil {
		return err
	}
	proposal := file.Proposal{Name: in.Name.Value, ContentType: in.ContentType.Value, Size: in.SizeInBytes.Value}
	if in.DownloadLimit.Set && !in.DownloadLimit.Null {
		proposal.DownloadLimit = &in.DownloadLimit.Value
	}
	begun, err := h.Files.Begin(c.UserContext(), httpapi.Account(c), c.Params("id"), proposal)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusCreated).JSON(fileWithPartsView{h.newFileView(begun), []int{}})
}

func (h handlers) listFiles(c *fiber.Ctx) error {
	all, downloads, err := h.Files.List(c.UserContext(), httpapi.Account(c), c.Params("id"))
	if err != nil {
		return err
	}
	return c.JSON(httpapi.NewListView(ports.List[file.State]{Items: all}, func(s file.State) listedFileView {
		return listedFileView{h.newFileView(s), downloads[s.ID]}
	}))
}

func (h handlers) getFile(c *fiber.Ctx) error {
	state, parts, err := h.Files.Get(c.UserContext(), httpapi.Account(c), c.Params("id"))
	if err != nil {
		return err
	}
	return c.JSON(fileWithPartsView{h.newFileView(state), append([]int{}, parts...)})
}

// putFilePart takes the bytes of a part as they are.
func (h handlers) putFilePart(c *fiber.Ctx) error {
	number, err := strconv.Atoi(c.Params("number"))
	if err != nil {
		return fault.NotFound("part")
	}
	err = h.Files.PutPart(c.UserContext(), httpapi.Account(c), c.Params("id"), number, httpapi.Body(c))
	if err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

func (h handlers) completeFile(c *fiber.Ctx) error {
	return httpapi.Respond(c, h.newFileView)(h.Files.Complete(c.UserContext(), httpapi.Account(c), c.Params("id")))
}

func (h handlers) deleteFile(c *fiber.Ctx) error {
	return httpapi.Respond(c, h.newFileView)(h.Files.Delete(c.UserContext(), httpapi.Account(c), c.Params("id")))
}
