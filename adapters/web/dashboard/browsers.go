package dashboard

import "strings"

// browserName returns a browser's common name, read from its User-Agent.
func (v *visit) browserName(userAgent string) string {
	if userAgent == "" {
		return v.text("API")
	}
	name := v.text("Another program")
	for _, known := range []struct{ mark, name string }{
		{"Edg/", "Edge"}, {"OPR/", "Opera"}, {"Firefox/", "Firefox"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"},
		{"curl/", "curl"},
	} {
		if strings.Contains(userAgent, known.mark) {
			name = known.name
			break
		}
	}
	for _, system := range []struct{ mark, name string }{
		{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"}, {"Mac OS X", "macOS"},
		{"Linux", "Linux"},
	} {
		if strings.Contains(userAgent, system.mark) {
			return v.text("%s on %s", name, system.name)
		}
	}
	return name
}
