// Package passkeys makes and checks passkeys with github.com/go-webauthn/webauthn.
package passkeys

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"sundry/core/identity"
	"sundry/ports"
)

// Passkeys implements ports.Passkeys for the pages of one origin.
type Passkeys struct{ web *webauthn.WebAuthn }

var _ ports.Passkeys = (*Passkeys)(nil)

// New returns the passkeys of an origin such as https://pay.example.com; nil for one without a name, such as an IP
// address, for which browsers have none.
func New(origin string) *Passkeys {
	at, err := url.Parse(origin)
	if err != nil || at.Hostname() == "" {
		return nil
	}
	if _, err := netip.ParseAddr(at.Hostname()); err == nil {
		return nil
	}
	web, err := webauthn.New(&webauthn.Config{
		RPID: at.Hostname(), RPDisplayName: "Sundry", RPOrigins: []string{at.Scheme + "://" + at.Host},
		AttestationPreference: protocol.PreferNoAttestation,
	})
	if err != nil {
		return nil
	}
	return &Passkeys{web}
}

// user is a user as the library wants them.
type user struct {
	ports.PasskeyUser
	credentials []webauthn.Credential
}

func newUser(u ports.PasskeyUser, known []identity.Passkey) (user, error) {
	all := user{PasskeyUser: u}
	for _, k := range known {
		var c webauthn.Credential
		if err := json.Unmarshal(k.Credential, &c); err != nil {
			return all, fmt.Errorf("read passkey %s: %w", k.ID, err)
		}
		all.credentials = append(all.credentials, c)
	}
	return all, nil
}

func (u user) WebAuthnID() []byte                         { return []byte(u.ID) }
func (u user) WebAuthnName() string                       { return u.Name }
func (u user) WebAuthnDisplayName() string                { return u.DisplayName }
func (u user) WebAuthnCredentials() []webauthn.Credential { return u.credentials }

func (u user) descriptors() []protocol.CredentialDescriptor {
	return webauthn.Credentials(u.credentials).CredentialDescriptors()
}

// BeginCreate implements ports.Passkeys. The passkey is kept with its user's id, so that it signs in alone.
func (p *Passkeys) BeginCreate(u ports.PasskeyUser, known []identity.Passkey) (options, ceremony []byte, err error) {
	who, err := newUser(u, known)
	if err != nil {
		return nil, nil, err
	}
	creation, session, err := p.web.BeginRegistration(who,
		webauthn.WithExclusions(who.descriptors()),
		webauthn.WithAuthenticatorSelection(protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, RequireResidentKey: protocol.ResidentKeyRequired(),
			UserVerification: protocol.VerificationRequired,
		}))
	if err != nil {
		return nil, nil, fmt.Errorf("begin a passkey: %w", err)
	}
	return both(creation, session)
}

// both writes what the browser gets, and what comes back from it unchanged.
func both(forBrowser any, session *webauthn.SessionData) (options, ceremony []byte, err error) {
	options, err = json.Marshal(forBrowser)
	if err == nil {
		ceremony, err = json.Marshal(session)
	}
	if err != nil {
		err = fmt.Errorf("write the ceremony of a passkey: %w", err)
	}
	return options, ceremony, err
}

// Create implements ports.Passkeys.
func (p *Passkeys) Create(u ports.PasskeyUser, ceremony, response []byte) (made identity.Passkey, err error) {
	session, err := readSession(ceremony)
	if err != nil {
		return made, err
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(response)
	if err != nil {
		return made, refused(err)
	}
	credential, err := p.web.CreateCredential(user{PasskeyUser: u}, session, parsed)
	if err != nil {
		return made, refused(err)
	}
	return newPasskey(credential)
}

func newPasskey(c *webauthn.Credential) (identity.Passkey, error) {
	raw, err := json.Marshal(c)
	if err != nil {
		return identity.Passkey{}, fmt.Errorf("write a passkey: %w", err)
	}
	return identity.Passkey{CredentialID: c.ID, Credential: raw}, nil
}

func readSession(ceremony []byte) (session webauthn.SessionData, err error) {
	if err := json.Unmarshal(ceremony, &session); err != nil {
		return session, fmt.Errorf("read the ceremony of a passkey: %w", err)
	}
	return session, nil
}

func refused(err error) error { return errors.Join(ports.ErrPasskeyRefused, err) }

// BeginUse implements ports.Passkeys.
func (p *Passkeys) BeginUse(u ports.PasskeyUser, known []identity.Passkey) (options, ceremony []byte, err error) {
	who, err := newUser(u, known)
	if err != nil {
		return nil, nil, err
	}
	var assertion *protocol.CredentialAssertion
	var session *webauthn.SessionData
	if len(known) == 0 {
		assertion, session, err = p.web.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	} else {
		assertion, session, err = p.web.BeginLogin(who, webauthn.WithUserVerification(protocol.VerificationPreferred))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("begin the use of a passkey: %w", err)
	}
	return both(assertion, session)
}

// Use implements ports.Passkeys.
func (p *Passkeys) Use(
	ceremony, response []byte, find func(userID string) ([]identity.Passkey, error),
) (userID string, used identity.Passkey, err error) {
	session, err := readSession(ceremony)
	if err != nil {
		return "", used, err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(response)
	if err != nil {
		return "", used, refused(err)
	}
	userID = string(session.UserID)
	if userID == "" {
		userID = string(parsed.Response.UserHandle)
	}
	known, err := find(userID)
	if err != nil {
		return "", used, err
	}
	who, err := newUser(ports.PasskeyUser{ID: userID}, known)
	if err != nil {
		return "", used, err
	}
	credential, err := p.check(who, session, parsed)
	if err != nil {
		return "", used, refused(err)
	}
	used, err = newPasskey(credential)
	return userID, used, err
}

// check checks the signature. A counter that has gone back means that the key was copied.
func (p *Passkeys) check(
	who user, session webauthn.SessionData, parsed *protocol.ParsedCredentialAssertionData,
) (credential *webauthn.Credential, err error) {
	if len(session.UserID) > 0 {
		credential, err = p.web.ValidateLogin(who, session, parsed)
	} else {
		credential, err = p.web.ValidateDiscoverableLogin(
			func(_, _ []byte) (webauthn.User, error) { return who, nil }, session, parsed)
	}
	if err == nil && credential.Authenticator.CloneWarning {
		err = errors.New("the counter of the passkey has gone back")
	}
	return credential, err
}
