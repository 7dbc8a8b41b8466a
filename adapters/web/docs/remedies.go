package docs

import (
	"strings"

	"sundry/core/fault"
	"sundry/core/locale"
)

// remedy is what an integrator does about an error code.
type remedy struct {
	Code   fault.Code
	Remedy string
}

// remedies lists every code of the API, in the order of their statuses.
func remedies(reader locale.Locale) []remedy {
	codes := fault.Codes()
	out := make([]remedy, len(codes))
	for i, code := range codes {
		out[i] = remedy{code, reader.Text("remedy." + strings.ToLower(string(code)))}
	}
	return out
}
