package mailtemplate

import "sundry/core/identity"

// KindSecondStep tells a user that their two-step sign-in has changed.
var KindSecondStep = define("identity.second_step", secondStep)

// SecondStep holds the data of that mail.
type SecondStep struct {
	Change identity.SecondStepChange `json:"change"`
	// Note is the note of identity.SecondStepChanged.
	Note string `json:"note"`
}

func secondStep(site Site, to reader, s SecondStep) draft {
	key := "secondstep." + string(s.Change)
	lead := to.words(key + ".lead")
	switch {
	case s.Change == identity.RecoveryUsed && s.Note == "1":
		lead = to.words(key + ".lead_last")
	case s.Change == identity.RecoveryUsed:
		lead = to.words(key+".lead", oneLine(s.Note))
	}
	return draft{
		Subject: to.words(key + ".subject"), Preview: lead, Heading: to.words(key + ".subject"), Lead: []string{lead},
		Links: []link{{to.words("secondstep.open"), site.DashboardURL("/security/steps")}},
		After: []string{to.words("secondstep.after")}, Footer: to.words("secondstep.footer"),
	}
}
