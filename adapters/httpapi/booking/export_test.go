package booking

// What the handlers respond with.
var (
	SlotsBody      = slotsBody
	SlotsRangeBody = slotsRangeBody
)
