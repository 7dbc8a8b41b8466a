package bootstrap

import (
	"sundry/adapters/imaging"
	"sundry/modules/images"
)

func (a *App) wireImages() error {
	a.modules.Images = images.New(a.store, a.clock, a.ids, imaging.New())
	return nil
}
