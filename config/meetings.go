package config

// Zoom reports whether creators can connect their accounts at Zoom.
func (c Config) Zoom() bool { return c.ZoomClientID != "" }

// GoogleMeet reports whether creators can connect their accounts at Google.
func (c Config) GoogleMeet() bool { return c.GoogleClientID != "" }

// meetingFaults checks the settings of the providers of meetings.
func (c Config) meetingFaults() (all faultList) {
	all.require((c.ZoomClientID == "") == (c.ZoomClientSecret == ""),
		"ZOOM_CLIENT_ID and ZOOM_CLIENT_SECRET belong together: set both or none")
	all.require((c.GoogleClientID == "") == (c.GoogleClientSecret == ""),
		"GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET belong together: set both or none")
	return all
}
