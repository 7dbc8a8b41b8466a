package identity

import "time"

// Limit is the number of attempts that a window allows.
type Limit struct {
	Attempts int
	Window   time.Duration
}

// Limits are the numbers that slow down guessing. They hold in the sandbox too.
type Limits struct {
	// SignInPerAccount counts the failed attempts on one e-mail address.
	SignInPerAccount Limit
	// SignInPerAddress counts the failed attempts that come from one network address.
	SignInPerAddress Limit
	// SignUpPerAddress counts the attempts from one network address.
	SignUpPerAddress Limit
	// ResetPerAccount and ResetPerAddress count the links to a new password that are asked for.
	ResetPerAccount, ResetPerAddress Limit
	// SecondStepPerAccount counts the wrong codes after a right password: 250 a day leave nobody a chance of one in a
	// thousand to guess six digits.
	SecondStepPerAccount Limit
	// InvitationsPerAccount counts the mails that invite members.
	InvitationsPerAccount Limit
}

// LimitsFor returns the limits of an environment. In the sandbox integrators' tests make accounts by the dozen.
func LimitsFor(livemode bool) Limits {
	l := Limits{
		SignInPerAccount: Limit{10, time.Minute},
		SignInPerAddress: Limit{30, time.Minute},
		SignUpPerAddress: Limit{600, time.Minute},
		ResetPerAccount:  Limit{3, time.Hour},
		ResetPerAddress:  Limit{20, time.Hour},

		SecondStepPerAccount: Limit{10, time.Hour},

		InvitationsPerAccount: Limit{60, time.Hour},
	}
	if livemode {
		l.SignUpPerAddress = Limit{20, time.Hour}
	}
	return l
}
