package identity

import "sundry/core/image"

// ProfileFile is the branding part of a catalog file: what buyers see of a creator. "" clears a member.
type ProfileFile struct {
	DisplayName string `json:"displayName"`
	// LogoURL is nil for a logo that was uploaded: another deployment does not have it. Then the logo stays as it is.
	LogoURL      *string `json:"logoUrl,omitempty"`
	AccentColor  string  `json:"accentColor"`
	SupportEmail string  `json:"supportEmail"`
	RefundPolicy string  `json:"refundPolicy"`
	// EmbedOrigins is nil in files of versions without it: the origins stay as they are.
	EmbedOrigins *[]string `json:"embedOrigins,omitempty"`
}

// NewProfileFile returns a creator's branding as a file has it.
func NewProfileFile(c CreatorState) ProfileFile {
	file := ProfileFile{
		DisplayName: c.DisplayName, AccentColor: c.Profile.AccentColor, SupportEmail: c.Profile.SupportEmail,
		RefundPolicy: c.Profile.RefundPolicy, EmbedOrigins: new(c.Profile.EmbedOrigins.List()),
	}
	if image.IDOf(c.Profile.LogoURL) == "" {
		file.LogoURL = &c.Profile.LogoURL
	}
	return file
}

// Edit returns what makes a creator's branding be as the file has it.
func (p ProfileFile) Edit() ProfileEdit {
	return ProfileEdit{
		DisplayName: &p.DisplayName, LogoURL: p.LogoURL, AccentColor: &p.AccentColor, SupportEmail: &p.SupportEmail,
		RefundPolicy: &p.RefundPolicy, EmbedOrigins: p.EmbedOrigins,
	}
}
