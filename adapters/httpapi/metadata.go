package httpapi

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi/strictjson"
	"sundry/core/metadata"
)

// metadataPatch is the body of a PATCH that changes metadata alone. Null removes all pairs.
type metadataPatch struct {
	Metadata strictjson.Optional[map[string]string] `json:"metadata"`
}

// DecodeMetadata reads the body of a PATCH that changes metadata alone.
func DecodeMetadata(c *fiber.Ctx) (metadata.Change, error) {
	in, reading := Decode[metadataPatch](c)
	change := metadata.Change{Pairs: in.Metadata.Value, Clear: in.Metadata.Null}
	return change, MergeFieldErrors(reading, change.Check())
}
