package bootstrap

import (
	"sundry/adapters/httpapi"
	catalogapi "sundry/adapters/httpapi/catalog"
	"sundry/modules/catalog"
	"sundry/ports"
)

func (a *App) wireCatalog(names ports.UniqueNames) *catalog.Service {
	module := catalog.New(catalog.Deps{
		Store: a.store, Clock: a.clock, IDs: a.ids, Standing: a.standing, Bus: a.bus, Names: names,
		Sandbox: !a.live(),
	})
	a.verify("catalog", module.Verify)
	return module
}

func (a *App) catalogAPI(m modules) httpapi.Area {
	return httpapi.Area{Document: catalogapi.Document, Routes: catalogapi.Routes(catalogapi.Deps{
		Live: a.live(), BaseURL: a.cfg.BaseURL, Catalog: m.Catalog, Transfer: m.CatalogFiles,
		Files: m.Files,
	})}
}
