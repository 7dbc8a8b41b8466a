package config_test

import (
	"strings"
	"testing"

	"sundry/config"
)

func TestMeetingCredentialsBelongTogether(t *testing.T) {
	t.Parallel()
	both, err := config.FromMap(map[string]string{
		"ZOOM_CLIENT_ID": "id", "ZOOM_CLIENT_SECRET": "secret", "GOOGLE_CLIENT_ID": "id", "GOOGLE_CLIENT_SECRET": "secret",
	})
	if err != nil || !both.Zoom() || !both.GoogleMeet() {
		t.Errorf("with all: %t, %t, %v", both.Zoom(), both.GoogleMeet(), err)
	}
	for given, want := range map[string]string{
		"ZOOM_CLIENT_ID": "ZOOM_CLIENT_SECRET", "ZOOM_CLIENT_SECRET": "ZOOM_CLIENT_ID",
		"GOOGLE_CLIENT_ID": "GOOGLE_CLIENT_SECRET", "GOOGLE_CLIENT_SECRET": "GOOGLE_CLIENT_ID",
	} {
		if _, err := config.FromMap(map[string]string{given: "x"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s alone: %v, want a fault that names %s", given, err, want)
		}
	}
}
