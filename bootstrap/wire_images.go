package bootstrap

import (
	"sundry/adapters/imaging"
	"sundry/modules/images"
)

func (a *App) wireImages() *images.Service {
	return images.New(a.store, a.clock, a.ids, imaging.New(), a.standing)
}
