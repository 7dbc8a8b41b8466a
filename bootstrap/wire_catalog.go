package bootstrap

import (
	"sundry/adapters/httpapi"
	catalogapi "sundry/adapters/httpapi/catalog"
	"sundry/modules/catalog"
)

func (a *App) wireCatalog() error {
	a.modules.Catalog = catalog.New(a.store, a.clock, a.ids, a.inSandbox())
	a.verify(a.modules.Catalog.Verify)
	return nil
}

func (a *App) catalogAPI() httpapi.Area {
	return httpapi.Area{Document: catalogapi.Document, Routes: catalogapi.Routes(catalogapi.Deps{
		Sandbox: a.inSandbox(), BaseURL: a.cfg.BaseURL, Catalog: a.modules.Catalog,
	})}
}
