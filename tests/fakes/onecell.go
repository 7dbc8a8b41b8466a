package fakes

import (
	"sundry/modules/directory"
	"sundry/ports"
)

// OneCell are the names of a deployment with one cell, which its database alone keeps unique.
func OneCell() ports.UniqueNames { return directory.New(directory.Deps{}) }
