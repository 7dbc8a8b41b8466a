package locale

import "time"

// ConsentLines tell a buyer which sentences they confirmed at the payment button, and when; empty ones are left out.
func ConsentLines(reader Locale, at time.Time, sentences ...string) []string {
	var lines []string
	for _, sentence := range sentences {
		if sentence != "" {
			lines = append(lines, reader.Text("consent.given", reader.Date(at), sentence))
		}
	}
	return lines
}
