package bootstrap

import (
	"sundry/adapters/imaging"
	"sundry/modules/images"
)

func (a *App) wireImages() *images.Service {
	return images.New(images.Deps{
		Store: a.store, Clock: a.clock, IDs: a.ids, Decoder: imaging.New(), Standing: a.standing,
	})
}
