package docs

import (
	"cmp"
	"slices"
	"strings"

	"sundry/core/fault"
	"sundry/core/locale"
)

// remedy tells an integrator how to react to an error code.
type remedy struct {
	Status int // of HTTP
	Code   fault.Code
	Remedy string
}

// remedies lists every code of the API, in the order of their statuses.
func (r *Routes) remedies(reader locale.Locale) []remedy {
	codes, statusOf := fault.Codes(), r.layout.Config().StatusOf
	out := make([]remedy, len(codes))
	for i, code := range codes {
		out[i] = remedy{statusOf(fault.New(code, "")), code, reader.Text("remedy." + strings.ToLower(string(code)))}
	}
	slices.SortStableFunc(out, func(a, b remedy) int { return cmp.Compare(a.Status, b.Status) })
	return out
}
