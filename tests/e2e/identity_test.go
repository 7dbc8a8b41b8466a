package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"sundry/tests/harness"
)

type signedIn struct{ AccessToken, RefreshToken string }

func TestSignUpAndSignIn(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		post := func(path string, body any) *harness.Response {
			return app.Ask(t, harness.Request{Method: http.MethodPost, Path: path, Body: body})
		}
		post("/v1/auth/sign-up", harness.JSON{"email": strings.ToUpper(a.Email), "password": harness.Password,
			"displayName": "Other"}).
			Refuses(t, 409, "EMAIL_TAKEN")

		wrong := post("/v1/auth/sign-in", harness.JSON{"email": a.Email, "password": "wrong password"})
		unknown := post("/v1/auth/sign-in", harness.JSON{
			"email": harness.Unique("nobody") + "@example.com", "password": "wrong password",
		})
		wrong.Refuses(t, 401, "UNAUTHENTICATED")
		unknown.Refuses(t, 401, "UNAUTHENTICATED")
		if wrong.Refusal(t).Message != unknown.Refusal(t).Message {
			t.Errorf("a wrong password and an unknown address are distinguished: %s %s", wrong.Body, unknown.Body)
		}

		var first, second, retried signedIn
		post("/v1/auth/sign-in", harness.JSON{"email": a.Email, "password": harness.Password}).Want(t, 200).Into(t, &first)
		post("/v1/auth/refresh", harness.JSON{"refreshToken": first.RefreshToken}).Want(t, 200).Into(t, &second)
		app.Ask(t, harness.Request{Method: http.MethodGet, Path: "/v1/api-keys", Bearer: second.AccessToken}).Want(t, 200)

		post("/v1/auth/refresh", harness.JSON{"refreshToken": first.RefreshToken}).Want(t, 200).Into(t, &retried)
		if retried != second {
			t.Errorf("a retry at once got another pair")
		}
		invented := second.RefreshToken[:len(second.RefreshToken)-8] + "AAAAAAAA"
		post("/v1/auth/refresh", harness.JSON{"refreshToken": invented}).Refuses(t, 401, "UNAUTHENTICATED")
		post("/v1/auth/sign-out", harness.JSON{"refreshToken": invented}).Want(t, 204)

		var third signedIn
		post("/v1/auth/refresh", harness.JSON{"refreshToken": second.RefreshToken}).Want(t, 200).Into(t, &third)
		// reuse
		post("/v1/auth/refresh", harness.JSON{"refreshToken": first.RefreshToken}).Refuses(t, 401, "UNAUTHENTICATED")
		post("/v1/auth/refresh", harness.JSON{"refreshToken": third.RefreshToken}).Refuses(t, 401, "UNAUTHENTICATED")
		post("/v1/auth/refresh", harness.JSON{"refreshToken": a.RefreshToken}).Want(t, 200) // another sign-in goes on
	})
}

func TestSignOutEndsTheSignIn(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		body := harness.JSON{"refreshToken": a.RefreshToken}
		for range 2 { // again is given the same response
			app.Ask(t, harness.Request{Method: http.MethodPost, Path: "/v1/auth/sign-out", Body: body}).Want(t, 204)
		}
		app.Ask(t, harness.Request{Method: http.MethodPost, Path: "/v1/auth/refresh", Body: body}).Refuses(t, 401,
			"UNAUTHENTICATED")
		a.AsCreator(t, http.MethodGet, "/v1/api-keys", nil).Refuses(t, 401, "UNAUTHENTICATED")
	})
}

func TestAPIKeysAreShownOnceAndEndWhenRevoked(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		var made struct{ ID, Key, Last4 string }
		a.AsCreator(t, http.MethodPost, "/v1/api-keys", harness.JSON{"name": "second"}).Want(t, 201).Into(t, &made)
		list := a.AsCreator(t, http.MethodGet, "/v1/api-keys", nil).Want(t, 200)
		if strings.Contains(string(list.Body), made.Key) || !strings.Contains(string(list.Body), made.ID) ||
			!strings.HasSuffix(made.Key, made.Last4) {
			t.Errorf("the list shows the key itself, or not the key's record: %s", list.Body)
		}
		outsider := app.NewAccount(t)
		outsider.AsCreator(t, http.MethodDelete, "/v1/api-keys/"+made.ID, nil).Refuses(t, 404, "NOT_FOUND")
		use := func() *harness.Response {
			return app.Ask(t, harness.Request{
				Method: http.MethodGet, Path: "/v1/customer-access/nobody", Bearer: made.Key,
			})
		}
		use().Want(t, 200)
		a.AsCreator(t, http.MethodDelete, "/v1/api-keys/"+made.ID, nil).Want(t, 200)
		use().Refuses(t, 401, "UNAUTHENTICATED")
	})
}
