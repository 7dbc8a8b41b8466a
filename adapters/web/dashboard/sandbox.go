package dashboard

import (
	"strconv"

	"github.com/gofiber/fiber/v2"

	"sundry/modules/sandbox"
)

// advanceClock moves the account's clock, with everything that falls due on the way.
func (r *Routes) advanceClock(c *fiber.Ctx, v *visit) error {
	back := safeNext(c.FormValue("back"))
	seconds, err := strconv.ParseInt(c.FormValue("seconds"), 10, 64)
	if err != nil {
		return r.flash(c, back, "bad", "Choose how far to move the clock.")
	}
	moved, err := r.Sandbox.Advance(c.UserContext(), v.account(), sandbox.Move{Seconds: &seconds})
	if err != nil {
		return r.refused(c, back, err)
	}
	message := v.say("The clock is at %s UTC. %s", v.when(moved.Now),
		v.plural(moved.Ran, "%d task ran on the way.", "%d tasks ran on the way."))
	if !moved.Done {
		return r.flash(c, back, "bad", v.say("%s There is more to do: move it again.", message))
	}
	return r.done(c, back, message)
}
