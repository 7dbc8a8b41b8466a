package httpapi

import (
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/core/fault"
	"sundry/ports"
)

const (
	defaultLimit = 20
	maxLimit     = 100
	// maxCursorID is longer than any id: a task's holds an integrator's own id of a customer.
	maxCursorID = 2048
)

// listView is the one shape of every list.
type listView[V any] struct {
	Data       []V     `json:"data"`
	HasMore    bool    `json:"hasMore"`
	NextCursor *string `json:"nextCursor"`
}

// list renders a page of a list.
func list[T, V any](l ports.List[T], view func(T) V) listView[V] {
	out := listView[V]{Data: make([]V, len(l.Items))}
	for i, item := range l.Items {
		out.Data[i] = view(item)
	}
	if l.Next.ID != "" {
		cursor := base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(l.Next.Value, 10) + "|" + l.Next.ID))
		out.HasMore, out.NextCursor = true, &cursor
	}
	return out
}

// page reads ?limit= and ?cursor=, adding what is wrong with them to f.
func page(c *fiber.Ctx, f *fault.Faults) ports.Page {
	p := ports.Page{Limit: defaultLimit}
	if raw := c.Query("limit"); raw != "" {
		limit, err := strconv.ParseUint(raw, 10, 16) // digits only: no sign
		if err != nil || limit < 1 || limit > maxLimit {
			f.Add("limit", "OUT_OF_RANGE", "must be a whole number from 1 to 100")
		}
		p.Limit = int(limit)
	}
	if raw := c.Query("cursor"); raw != "" {
		cursor, ok := parseCursor(raw)
		f.Check(ok, "cursor", "INVALID", "must be the nextCursor of an earlier answer")
		p.After = cursor
	}
	return p
}

func parseCursor(raw string) (ports.Cursor, bool) {
	plain, err := base64.RawURLEncoding.DecodeString(raw)
	if err != nil {
		return ports.Cursor{}, false
	}
	value, id, ok := strings.Cut(string(plain), "|")
	if !ok || id == "" || len(id) > maxCursorID || !storedText(id) {
		return ports.Cursor{}, false
	}
	n, err := strconv.ParseInt(value, 10, 64)
	return ports.Cursor{Value: n, ID: id}, err == nil
}
