package bootstrap

import (
	"sundry/adapters/httpapi"
	catalogapi "sundry/adapters/httpapi/catalog"
	"sundry/modules/catalog"
)

func (a *App) wireCatalog() *catalog.Service {
	module := catalog.New(a.store, a.clock, a.ids, a.standing, !a.live())
	a.verify(module.Verify)
	return module
}

func (a *App) catalogAPI(m modules) httpapi.Area {
	return httpapi.Area{Document: catalogapi.Document, Routes: catalogapi.Routes(catalogapi.Deps{
		Live: a.live(), BaseURL: a.cfg.BaseURL, Catalog: m.Catalog, Files: m.CatalogFiles,
	})}
}
