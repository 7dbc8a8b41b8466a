package e2e_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// following is a request that is served unless the one before has closed the connection.
const following = "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

// withHeader is a request with a line more among its headers.
func withHeader(line string) string {
	return "GET /healthz HTTP/1.1\r\nHost: x\r\n" + line + "\r\n\r\n"
}

// withLine is a request with another first line.
func withLine(line string) string { return line + "\r\nHost: x\r\n\r\n" }

const postTo = "POST /v1/checkout-sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"

func withLength(length string) string { return postTo + "Content-Length:" + length + "\r\n\r\n{}" }

func withCoding(coding string) string {
	return postTo + "Transfer-Encoding:" + coding + "\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
}

func inChunks(body string) string { return postTo + "Transfer-Encoding: chunked\r\n\r\n" + body }

// refusedRequests maps the section of RFC 9112, unless it names another, to a request that no server may serve or that
// two servers could read differently. Each gets 400 once, and nothing that follows on its connection is served.
var refusedRequests = map[string]string{
	"2.2 a CR alone in a value":                withHeader("A: b\rHost: y"),
	"2.2 a blank before the first header":      "GET /healthz HTTP/1.1\r\n Host: y\r\nHost: x\r\n\r\n",
	"2.2 a line that ends with LF":             withHeader("A: b\nC: d"),
	"2.3 a version of two digits":              withLine("GET /healthz HTTP/1.10"),
	"2.3 a version without a point":            withLine("GET /healthz HTTP/11"),
	"2.3 a version that begins with a zero":    withLine("GET /healthz HTTP/01.1"),
	"2.3 a version in lower case":              withLine("GET /healthz http/1.1"),
	"2.3 no version":                           "GET /healthz\r\n\r\n",
	"2.3 HTTP/0.9":                             withLine("GET /healthz HTTP/0.9"),
	"2.3 HTTP/1.2":                             withLine("GET /healthz HTTP/1.2"),
	"2.3 HTTP/2.0":                             withLine("GET /healthz HTTP/2.0"),
	"2.3 the preface of HTTP/2":                "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	"3 two blanks before the target":           withLine("GET  /healthz HTTP/1.1"),
	"3 two blanks after the target":            withLine("GET /healthz  HTTP/1.1"),
	"3 tabs for blanks":                        withLine("GET\t/healthz\tHTTP/1.1"),
	"3 a blank at the end":                     withLine("GET /healthz HTTP/1.1 "),
	"3 a long line":                            withLine("GET /" + strings.Repeat("a", 70_000) + " HTTP/1.1"),
	"3.1 no method":                            withLine(" /healthz HTTP/1.1"),
	"3.1 a method that is no token":            withLine("G@T /healthz HTTP/1.1"),
	"3.2 a blank in the target":                withLine("GET /heal thz HTTP/1.1"),
	"3.2 NUL in the target":                    withLine("GET /heal\x00thz HTTP/1.1"),
	"3.2 CR in the target":                     withLine("GET /healthz\rX HTTP/1.1"),
	"3.2 no Host":                              "GET /healthz HTTP/1.1\r\nA: b\r\n\r\n",
	"3.2 two Hosts":                            withHeader("Host: x"),
	"11.6.2 two credentials":                   withHeader("Authorization: Bearer a\r\nAuthorization: Bearer b"),
	"3.2 a Host with a blank":                  "GET /healthz HTTP/1.1\r\nHost: x y\r\n\r\n",
	"3.2 a list of Hosts":                      "GET /healthz HTTP/1.1\r\nHost: x, y\r\n\r\n",
	"3.2 a Host with a path":                   "GET /healthz HTTP/1.1\r\nHost: x/y\r\n\r\n",
	"3.2 a Host with a user":                   "GET /healthz HTTP/1.1\r\nHost: a@x\r\n\r\n",
	"3.2 a Host with a port that is no number": "GET /healthz HTTP/1.1\r\nHost: x:abc\r\n\r\n",
	"5 a long header":                          withHeader("A: " + strings.Repeat("a", 70_000)),
	"5 many headers":                           withHeader("A: b" + strings.Repeat("\r\nA: b", 20_000)),
	"5 a header without a name":                withHeader(": b"),
	"5 a header without a colon":               withHeader("Ab"),
	"5.1 a blank before the colon":             withHeader("A : b"),
	"5.1 a name that is no token":              withHeader("A(b): c"),
	"5.1 a name that is not ASCII":             withHeader("\xff: b"),
	"5.1 NUL in a name":                        withHeader("A\x00: b"),
	"5.2 a folded header":                      withHeader("A: b\r\n c"),
	"9110, 5.5 NUL in a value":                 withHeader("A: b\x00c"),
	"9110, 5.5 a control in a value":           withHeader("A: b\x01c"),
	"9110, 5.5 DEL in a value":                 withHeader("A: b\x7fc"),
	"6.1 Content-Length and Transfer-Encoding": postTo + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
	"6.1 Transfer-Encoding before a length":    postTo + "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n{}",
	"6.1 another coding":                       withCoding(" xchunked"),
	"6.1 the coding identity":                  postTo + "Transfer-Encoding: identity\r\n\r\n",
	"6.1 chunked twice":                        withCoding(" chunked, chunked"),
	"6.1 Transfer-Encoding twice":              withCoding(" chunked\r\nTransfer-Encoding: chunked"),
	"6.1 a coding before chunked":              withCoding(" gzip, chunked"),
	"6.1 a coding after chunked":               withCoding(" chunked, gzip"),
	"6.1 no coding":                            withCoding(""),
	"6.1 a coding in quotes":                   withCoding(` "chunked"`),
	"6.1 a coding after a vertical tab":        withCoding(" \x0bchunked"),
	"6.1 a coding with NUL":                    withCoding(" chunked\x00"),
	"6.1 chunks over HTTP/1.0":                 "POST /healthz HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"6.3 a length with a sign":                 withLength(" +2"),
	"6.3 a length below zero":                  withLength(" -2"),
	"6.3 a list of lengths":                    withLength(" 2, 2"),
	"6.3 the same length twice":                withLength(" 2\r\nContent-Length: 2"),
	"6.3 two lengths":                          withLength(" 2\r\nContent-Length: 3"),
	"6.3 a hexadecimal length":                 withLength(" 0x2"),
	"6.3 no length":                            withLength(""),
	"6.3 a length of two words":                withLength(" 2 2"),
	"6.3 a length beyond 64 bits":              withLength(" 99999999999999999999"),
	"6.3 a length with a point":                withLength(" 2.0"),
	"6.3 a length with a low line":             withLength(" 2_0"),
	"7.1 a chunk below zero":                   inChunks("-2\r\n{}\r\n0\r\n\r\n"),
	"7.1 a chunk with a sign":                  inChunks("+2\r\n{}\r\n0\r\n\r\n"),
	"7.1 a chunk with 0x":                      inChunks("0x2\r\n{}\r\n0\r\n\r\n"),
	"7.1 a chunk beyond 64 bits":               inChunks("fffffffffffffffff\r\n{}\r\n0\r\n\r\n"),
	"7.1 a chunk of 63 bits":                   inChunks("7fffffffffffffff\r\n{}\r\n0\r\n\r\n"),
	"7.1 many digits":                          inChunks("00000000000000000002\r\n{}\r\n0\r\n\r\n"),
	"7.1 no number":                            inChunks("zz\r\n{}\r\n0\r\n\r\n"),
	"7.1 no size":                              inChunks("\r\n{}\r\n0\r\n\r\n"),
	"7.1 a blank before the size":              inChunks(" 2\r\n{}\r\n0\r\n\r\n"),
	"7.1 lines that end with LF":               inChunks("2\n{}\n0\n\n"),
	"7.1 a chunk that goes on after its size":  inChunks("1\r\n{}\r\n0\r\n\r\n"),
	"7.1 a chunk without its end":              inChunks("2\r\n{}XX0\r\n\r\n"),
	"7.1.1 LF in an extension":                 inChunks("2;a\nb\r\n{}\r\n0\r\n\r\n"),
	"7.1.1 CR in an extension":                 inChunks("2;a\rb\r\n{}\r\n0\r\n\r\n"),
	"7.1.2 a length among the trailers":        inChunks("2\r\n{}\r\n0\r\nContent-Length: 5\r\n\r\n"),
}

// servedRequests get a response, and so does what follows on their connection.
var servedRequests = map[string]struct {
	sent   string
	status int
}{
	"2.2 empty lines before a request": {"\r\n\r\n" + withLine("GET /healthz HTTP/1.1"), 200},
	"3.1 an unknown method":            {withLine("FOO /healthz HTTP/1.1"), 405},
	"3.1 a method in lower case":       {withLine("get /healthz HTTP/1.1"), 405},
	"3.2 a whole address":              {withLine("GET http://x/healthz HTTP/1.1"), 200},
	"3.2 the whole server":             {withLine("OPTIONS * HTTP/1.1"), 204},
	"3.2 an authority":                 {withLine("CONNECT x:80 HTTP/1.1"), 404},
	"3.2 an empty Host":                {"GET /healthz HTTP/1.1\r\nHost:\r\n\r\n", 200},
	"3.2 a Host with a port":           {"GET /healthz HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", 200},
	"5 a name in upper case":           {"GET /healthz HTTP/1.1\r\nHOST: x\r\n\r\n", 200},
	"5.1 no blank after the colon":     {withHeader("A:b"), 200},
	"9110, 5.5 bytes beyond ASCII":     {withHeader("A: \xff"), 200},
	"6 a body that nothing reads":      {"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", 200},
	"6.3 a length with blanks":         {withLength(" \t2 "), 401},
	"6.3 no body":                      {postTo + "\r\n", 401},
	"7.1 chunks":                       {withCoding(" CHUNKED"), 401},
	"7.1 two chunks":                   {inChunks("1\r\n{\r\n001\r\n}\r\n0\r\n\r\n"), 401},
	"7.1.1 an extension":               {inChunks("2;a=b\r\n{}\r\n0\r\n\r\n"), 401},
	"7.1.2 a trailer":                  {inChunks("2\r\n{}\r\n0\r\nA: b\r\n\r\n"), 401},
	"7.8 a protocol to upgrade to":     {withHeader("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c"), 200},
	"9110, 10.1.1 another expectation": {postTo + "Expect: more\r\nContent-Length: 2\r\n\r\n{}", 401},
}

// TestHTTP_Conformance sends requests byte by byte to the program.
func TestHTTP_Conformance(t *testing.T) {
	t.Parallel()
	address := strings.TrimPrefix(harness.New(t, testdb.SQLite, nil).URL, "http://")
	for name, sent := range refusedRequests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := responsesTo(t, address, sent+following)
			if len(all) != 1 || all[0].StatusCode != http.StatusBadRequest || !all[0].Close {
				t.Errorf("got %s, want 400 and the end of the connection", statusesOf(all))
			}
		})
	}
	for name, c := range servedRequests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := responsesTo(t, address, c.sent+following)
			if len(all) != 2 || all[0].StatusCode != c.status || all[0].Close || all[1].StatusCode != http.StatusOK {
				t.Errorf("got %s, want %d and 200", statusesOf(all), c.status)
			}
		})
	}
}

func TestHTTP_ConnectionsEndAsAsked(t *testing.T) {
	t.Parallel()
	address := strings.TrimPrefix(harness.New(t, testdb.SQLite, nil).URL, "http://")
	for name, sent := range map[string]string{
		"close":                          withHeader("Connection: close"),
		"close among others, upper case": withHeader("Connection: foo, CLOSE"),
		"close before keep-alive":        withHeader("Connection: close\r\nConnection: keep-alive"),
		"HTTP/1.0":                       "GET /healthz HTTP/1.0\r\n\r\n",
	} {
		all := responsesTo(t, address, sent+following)
		if len(all) != 1 || all[0].StatusCode != http.StatusOK || !all[0].Close {
			t.Errorf("%s: got %s, want 200 and the end of the connection", name, statusesOf(all))
		}
	}
	all := responsesTo(t, address, "GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"+following)
	if len(all) != 2 || !strings.EqualFold(all[0].Header.Get("Connection"), "keep-alive") {
		t.Errorf("HTTP/1.0 with keep-alive: got %s", statusesOf(all))
	}
}

// Requests that are sent at once are answered in their order, with their own ids.
func TestHTTP_Pipelining(t *testing.T) {
	t.Parallel()
	address := strings.TrimPrefix(harness.New(t, testdb.SQLite, nil).URL, "http://")
	var sent strings.Builder
	want := []int{200, 404, 405, 401, 401}
	for range 20 {
		sent.WriteString(withLine("GET /healthz HTTP/1.1") + withLine("GET /v1/nowhere HTTP/1.1") +
			withLine("DELETE /healthz HTTP/1.1") + withCoding(" chunked") + withLength(" 2"))
	}
	ids := map[string]bool{}
	all := responsesTo(t, address, sent.String()+following)
	if len(all) != 101 {
		t.Fatalf("%d responses, want 101: %s", len(all), statusesOf(all))
	}
	for i, response := range all[:100] {
		if response.StatusCode != want[i%5] {
			t.Errorf("response %d is %d, want %d", i, response.StatusCode, want[i%5])
		}
		ids[response.Header.Get("X-Request-Id")] = true
	}
	if len(ids) != 100 {
		t.Errorf("%d ids of 100 requests", len(ids))
	}
}

// HEAD has the headers of GET and no body, and 405 names what is allowed.
func TestHTTP_Methods(t *testing.T) {
	t.Parallel()
	address := strings.TrimPrefix(harness.New(t, testdb.SQLite, nil).URL, "http://")
	for _, path := range []string{"/healthz", "/v1/creator", "/v1/nowhere", "/openapi.yaml", "/docs", "/nowhere"} {
		get := responsesTo(t, address, withLine("GET "+path+" HTTP/1.1")+following)
		head := responsesTo(t, address, withLine("HEAD "+path+" HTTP/1.1")+following)
		if len(get) != 2 || len(head) != 2 {
			t.Errorf("%s: GET got %s, HEAD got %s", path, statusesOf(get), statusesOf(head))
			continue
		}
		if get[0].StatusCode != head[0].StatusCode || get[0].ContentLength != head[0].ContentLength ||
			get[0].Header.Get("Content-Type") != head[0].Header.Get("Content-Type") {
			t.Errorf("%s: HEAD got %d, %d bytes of %s, want %d, %d bytes of %s", path, head[0].StatusCode,
				head[0].ContentLength, head[0].Header.Get("Content-Type"), get[0].StatusCode, get[0].ContentLength,
				get[0].Header.Get("Content-Type"))
		}
	}
	for line, allow := range map[string]string{
		"DELETE /healthz":           "GET, HEAD, OPTIONS",
		"TRACE /healthz":            "GET, HEAD, OPTIONS",
		"PUT /v1/checkout-sessions": "GET, HEAD, POST",
	} {
		all := responsesTo(t, address, withLine(line+" HTTP/1.1")+following)
		if len(all) != 2 || all[0].StatusCode != 405 || all[0].Header.Get("Allow") != allow {
			t.Errorf("%s: got %s with Allow %q, want 405 with %q", line, statusesOf(all), all[0].Header.Get("Allow"), allow)
		}
	}
}

// 100 Continue comes before the body is sent, and only where the body is wanted.
func TestHTTP_Expect(t *testing.T) {
	t.Parallel()
	address := strings.TrimPrefix(harness.New(t, testdb.SQLite, nil).URL, "http://")
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(conn, postTo+"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewReader(conn)
	interim := make([]byte, len("HTTP/1.1 100 Continue\r\n\r\n"))
	if _, err := io.ReadFull(reader, interim); err != nil || !bytes.HasPrefix(interim, []byte("HTTP/1.1 100 ")) {
		t.Fatalf("before the body: %q, %v", interim, err)
	}
	if _, err := io.WriteString(conn, "{}"); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusUnauthorized {
		t.Errorf("after the body: %d, want 401", response.StatusCode)
	}
	for name, c := range map[string]struct {
		sent   string
		status int
	}{
		"a body that is too large": {
			postTo + "Expect: 100-continue\r\nContent-Length: 99999999\r\n\r\n", http.StatusRequestEntityTooLarge,
		},
		"HTTP/1.0": {
			"POST /v1/checkout-sessions HTTP/1.0\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n" +
				"Content-Length: 2\r\n\r\n{}", http.StatusUnauthorized,
		},
	} {
		if all := responsesTo(t, address, c.sent); len(all) != 1 || all[0].StatusCode != c.status {
			t.Errorf("%s: got %s, want %d alone", name, statusesOf(all), c.status)
		}
	}
}

// responsesTo sends bytes over a connection and returns what is answered until it closes.
func responsesTo(t *testing.T, address, sent string) (all []*http.Response) {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	go func() { _, _ = io.WriteString(conn, sent) }() // fails where the server has had enough
	received, err := io.ReadAll(conn)
	if err != nil && len(received) == 0 {
		t.Fatal(err)
	}
	reader := bufio.NewReader(bytes.NewReader(received))
	for i := 0; ; i++ {
		request := &http.Request{Method: http.MethodGet}
		if i == 0 && strings.HasPrefix(sent, "HEAD ") {
			request.Method = http.MethodHead // its response has no body
		}
		response, err := http.ReadResponse(reader, request)
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) || reader.Buffered() > 0 {
				t.Errorf("the response %d to %.200q cannot be read: %v", i, sent, err)
			}
			return all
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			t.Errorf("the body of the response %d to %.200q cannot be read: %v", i, sent, err)
		}
		_ = response.Body.Close()
		all = append(all, response)
	}
}

func statusesOf(all []*http.Response) string {
	var statuses []string
	for _, response := range all {
		status := fmt.Sprint(response.StatusCode)
		if response.Close {
			status += " and the end"
		}
		statuses = append(statuses, status)
	}
	return "[" + strings.Join(statuses, ", ") + "]"
}
