package config

import "errors"

// Zoom reports whether creators can connect their accounts at Zoom.
func (c Config) Zoom() bool { return c.ZoomClientID != "" }

// GoogleMeet reports whether creators can connect their accounts at Google.
func (c Config) GoogleMeet() bool { return c.GoogleClientID != "" }

// meetingFaults checks the settings of the providers of meetings.
func (c Config) meetingFaults() []error {
	var all []error
	if (c.ZoomClientID == "") != (c.ZoomClientSecret == "") {
		all = append(all, errors.New("ZOOM_CLIENT_ID and ZOOM_CLIENT_SECRET belong together: set both or none"))
	}
	if (c.GoogleClientID == "") != (c.GoogleClientSecret == "") {
		all = append(all, errors.New("GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET belong together: set both or none"))
	}
	return all
}
