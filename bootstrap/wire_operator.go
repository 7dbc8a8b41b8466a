package bootstrap

import "sundry/modules/operator"

func (a *App) wireOperator() *operator.Service {
	return operator.New(operator.Config{Live: a.live()},
		operator.Deps{Store: a.store, Clock: a.clock, IDs: a.ids, Limiter: a.limiter})
}
