package httpapi

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/identity"
)

// cellHeader is the header in which a refusal names the cell to ask, and a client the one that it asks.
const cellHeader = "Sundry-Cell"

// misdirected turns the refusal of what this cell does not know into MISDIRECTED where the request names another cell.
// An account's own credential says that the request is right here.
func (s *Server) misdirected(c *fiber.Ctx, f *fault.Error) *fault.Error {
	unknown := f.Code == fault.NotFoundCode || f.Code == fault.CustomerNotFound || f.Code == fault.Unauthenticated
	if cell, ok := s.otherCell(c); unknown && ok {
		return fault.Elsewhere(cell)
	}
	return f
}

// misdirectedPage is misdirected for pages, which have written their refusal themselves: it replaces that.
func (s *Server) misdirectedPage(c *fiber.Ctx) error {
	if status := c.Response().StatusCode(); status != fiber.StatusNotFound && status != fiber.StatusUnauthorized {
		return nil
	}
	cell, ok := s.otherCell(c)
	if !ok {
		return nil
	}
	c.Response().Header.Del(fiber.HeaderContentEncoding)
	if s.RefusedPage != nil && s.RefusedPage(c, fiber.StatusMisdirectedRequest) {
		c.Set(cellHeader, strconv.Itoa(int(cell)))
		return nil
	}
	return fault.Elsewhere(cell)
}

// otherCell returns the other cell that the credential names, or without one the address.
func (s *Server) otherCell(c *fiber.Ctx) (cell id.Cell, ok bool) {
	if s.OtherCell == nil || Account(c) != "" {
		return 0, false
	}
	if credential := BearerToken(c); credential != "" {
		cell, ok = cellOfCredential(credential)
		return cell, ok && s.OtherCell(c.UserContext(), cell)
	}
	for segment := range strings.SplitSeq(c.Path(), "/") {
		if cell, ok = cellOfSegment(segment); ok && s.OtherCell(c.UserContext(), cell) {
			return cell, true
		}
	}
	return 0, false
}

// cellOfCredential reads the cell of an API key or an access token. It proves nothing.
func cellOfCredential(credential string) (cell id.Cell, ok bool) {
	if cell, ok = identity.KeyCell(credential); ok {
		return cell, cell <= id.MaxCell
	}
	parts := strings.Split(credential, ".")
	if len(parts) != 3 {
		return 0, false
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return 0, false
	}
	var claims struct {
		Cell *id.Cell `json:"cell"`
	}
	if json.Unmarshal(payload, &claims) != nil || claims.Cell == nil {
		return 0, false
	}
	return *claims.Cell, true
}

// cellOfSegment reads the cell of a part of an address: of an id, of a secret, which begins with the body of one, or of
// the code of a payment link.
func cellOfSegment(segment string) (cell id.Cell, ok bool) {
	if cell, ok = id.CellOf(segment); ok {
		return cell, true
	}
	const body, linkCode = 26, 16
	if len(segment) == 2*body {
		return id.CellOf("x_" + segment[:body])
	}
	if len(segment) == linkCode {
		return id.TagCell(segment[:2])
	}
	return 0, false
}
