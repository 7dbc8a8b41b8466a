//go:build unix

package faults

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sundry/tests/harness"
)

// TestSecretsStayInside plants secrets, as variables, files and systemd's credentials, has a process use them and end
// with every stack, and looks for them in all that it wrote, the errors that it stored and its environment.
func TestSecretsStayInside(t *testing.T) {
	t.Parallel()
	d := WithoutRedis(t)
	database, err := url.Parse(d.env["DATABASE_URL"])
	if err != nil {
		t.Fatal(err)
	}
	database.User = url.UserPassword(database.User.Username(), "planted-database-password")
	folder := t.TempDir()
	planted := map[string]string{
		"app secret": strings.Repeat("planted-app-secret-", 3), "former app secret": strings.Repeat("planted-former-", 3),
		"database password": "planted-database-password", "mail password": "planted-mail-password",
	}
	for name, content := range map[string]string{
		"APP_SECRET": planted["app secret"], "former": planted["former app secret"] + "\n", "database": database.String(),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	delete(d.env, "APP_SECRET")
	delete(d.env, "DATABASE_URL")
	p := d.Start(t, "", map[string]string{
		"LOG_LEVEL": "debug", "CREDENTIALS_DIRECTORY": folder, "APP_SECRET_PREVIOUS_FILE": filepath.Join(folder, "former"),
		"DATABASE_URL_FILE": filepath.Join(folder, "database"),
		// Nobody listens there, so every mail is an error that is logged.
		"SMTP_URL": "smtp://ada:planted-mail-password@" + freeAddress(t) + "?starttls=never",
	})
	account := p.App.NewAccount(t)
	planted["password"], planted["access token"], planted["API key"] = harness.Password, account.Token, account.Key
	planted["refresh token"] = account.RefreshToken
	session := account.NewSession(t, account.Published(t, nil), "default", "ada", nil)
	planted["checkout link"] = session.Secret()
	account.Pay(t, session, harness.CardSucceeds).Want(t, 200)
	planted["card"] = harness.CardSucceeds
	var endpoint struct{ Secret string }
	account.AsBackend(t, http.MethodPost, "/v1/webhook-endpoints", harness.JSON{
		"url": "http://" + freeAddress(t) + "/", "events": []string{"*"},
	}).Want(t, 201).Into(t, &endpoint)
	planted["signing secret"] = endpoint.Secret
	account.Pay(t, account.NewSession(t, account.Published(t, nil), "default", "ada", nil), harness.CardSucceeds).Want(t, 200)
	p.App.AskUnjudged(t, harness.Request{Method: http.MethodPost, Path: "/v1/auth/sign-in", Body: harness.JSON{
		"email": account.Email, "password": "planted-wrong-password", "planted-member": 1,
	}})
	planted["wrong password"] = "planted-wrong-password"
	harness.Eventually(t, "a mail and a delivery that failed", func() bool {
		return d.Count(t, "SELECT COUNT(*) FROM tasks WHERE kind LIKE 'mail%' AND last_error <> ''") > 0 &&
			d.Count(t, "SELECT COUNT(*) FROM delivery_attempts") > 0
	})
	said := map[string]string{"the log": p.Log()}
	if environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.cmd.Process.Pid)); err == nil {
		// What was set as a variable stays in what the kernel shows of the start; files and credentials never get there.
		said["the environment of the kernel"] = strings.ReplaceAll(string(environment), "planted-mail-password", "")
	}
	if err := p.cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	<-p.done
	said["the log and every stack"] = p.Log()
	if !strings.Contains(p.Log(), "\ngoroutine 1 ") || !strings.Contains(p.Log(), "level=WARN") {
		t.Fatal("the process has not written its stacks, or nothing of what failed")
	}
	said["errors of tasks"] = d.texts(t, "SELECT last_error FROM tasks WHERE last_error <> ''")
	for where, text := range said {
		for what, secret := range planted {
			if secret != "" && strings.Contains(text, secret) {
				t.Errorf("%s shows the %s", where, what)
			}
		}
	}
}

// texts joins the rows of a query that yields one text each.
func (d *Deployment) texts(t testing.TB, query string) string {
	t.Helper()
	rows, err := d.database(t).QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var all strings.Builder
	for rows.Next() {
		var one string
		if err := rows.Scan(&one); err != nil {
			t.Fatal(err)
		}
		all.WriteString(one + "\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all.String()
}
