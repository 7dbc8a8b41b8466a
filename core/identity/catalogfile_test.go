package identity_test

import (
	"reflect"
	"testing"

	"sundry/core/id"
	"sundry/core/identity"
	"sundry/core/image"
)

func TestProfileFile_SetsWhatItShows(t *testing.T) {
	t.Parallel()
	from := identity.CreatorState{DisplayName: "Ada", Profile: identity.Profile{
		LogoURL: "https://ada.example/logo.png", AccentColor: "#4f46e5", SupportEmail: "help@ada.example",
		RefundPolicy: "Within a week.", EmbedOrigins: "https://shop.example https://blog.example",
	}}
	file := identity.NewProfileFile(from)
	to := identity.RestoreCreator(identity.CreatorState{ID: "crt_2", DisplayName: "Bob"})
	changed, err := to.EditProfile(file.Edit())
	if got := to.State(); err != nil || !changed || got.DisplayName != "Ada" || got.Profile != from.Profile {
		t.Errorf("%v, %v: %+v, want %+v", changed, err, got, from)
	}
	if got := identity.NewProfileFile(to.State()); !reflect.DeepEqual(got, file) {
		t.Errorf("the file of it is %+v, want %+v", got, file)
	}
	if got, want := to.Storefront(), (identity.Storefront{Name: "Ada", Profile: from.Profile}); got != want {
		t.Errorf("buyers see %+v, want %+v", got, want)
	}
}

func TestProfileFile_LeavesAnUploadedLogo(t *testing.T) {
	t.Parallel()
	s := identity.CreatorState{DisplayName: "Ada", Profile: identity.Profile{
		LogoURL: image.Path(id.New(id.Image, [16]byte{7})),
	}}
	file := identity.NewProfileFile(s)
	if file.LogoURL != nil {
		t.Errorf("the file names %s, which another deployment does not have", *file.LogoURL)
	}
	c := identity.RestoreCreator(s)
	if changed, err := c.EditProfile(file.Edit()); changed || err != nil || c.State() != s {
		t.Errorf("%v, %v: %+v", changed, err, c.State())
	}
	file.EmbedOrigins = nil // as in files of versions without it
	if edit := file.Edit(); edit.EmbedOrigins != nil || edit.LogoURL != nil {
		t.Errorf("it sets %+v", edit)
	}
}
