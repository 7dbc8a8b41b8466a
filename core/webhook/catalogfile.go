package webhook

// EndpointFile is an endpoint in a catalog file, without its secrets. Its URL is its key.
type EndpointFile struct {
	URL         string   `json:"url"`
	Events      []string `json:"events"`
	Enabled     bool     `json:"enabled"`
	MaxInFlight int      `json:"maxInFlight"`
	// MaxPerSecond is nil for no limit.
	MaxPerSecond *int `json:"maxPerSecond"`
}

// NewEndpointFile returns an endpoint as a file has it. One that the service disabled counts as enabled: that is its
// health and not its owner's wish.
func NewEndpointFile(e EndpointState) EndpointFile {
	file := EndpointFile{
		URL: e.URL, Events: e.Events, Enabled: e.DisabledReason != DisabledByOwner, MaxInFlight: e.MaxInFlight,
	}
	if e.MaxPerSecond != 0 {
		file.MaxPerSecond = &e.MaxPerSecond
	}
	return file
}

// Edit returns what makes an endpoint be as the file has it.
func (e EndpointFile) Edit() EndpointEdit {
	perSecond := 0
	if e.MaxPerSecond != nil {
		perSecond = *e.MaxPerSecond
	}
	edit := EndpointEdit{URL: &e.URL, Events: &e.Events, Enabled: &e.Enabled, MaxPerSecond: &perSecond}
	if e.MaxInFlight != 0 {
		edit.MaxInFlight = &e.MaxInFlight
	}
	return edit
}
