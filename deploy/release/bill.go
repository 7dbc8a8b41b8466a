package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// The members of a bill of materials in CycloneDX 1.6 that ours has, in the order of the standard.
type bill struct {
	Format       string      `json:"bomFormat"`
	SpecVersion  string      `json:"specVersion"`
	SerialNumber string      `json:"serialNumber"`
	Version      int         `json:"version"`
	Metadata     metadata    `json:"metadata"`
	Components   []component `json:"components"`
	Dependencies []depending `json:"dependencies"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Ref      string    `json:"bom-ref"`
	Type     string    `json:"type"`
	Name     string    `json:"name"`
	Version  string    `json:"version"`
	Hashes   []hash    `json:"hashes,omitempty"`
	Licenses []license `json:"licenses,omitempty"`
	PURL     string    `json:"purl,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type license struct {
	License struct {
		ID string `json:"id"`
	} `json:"license"`
}

type depending struct {
	Ref string   `json:"ref"`
	On  []string `json:"dependsOn,omitempty"`
}

// billOf lists what a built binary contains, as the binary itself records it, in bytes that only the binary decides.
func billOf(file string, s stamp, shipped []dependency) ([]byte, error) {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return nil, err
	}
	sum, err := checksum(file)
	if err != nil {
		return nil, err
	}
	licenses := map[string][]string{}
	for _, d := range shipped {
		licenses[d.path] = d.licenses
	}
	main := component{
		Ref: "sundry", Type: "application", Name: "sundry", Version: s.version,
		Hashes: []hash{{"SHA-256", sum}}, Licenses: licensed([]string{"Apache-2.0"}),
	}
	goVersion := strings.TrimPrefix(info.GoVersion, "go")
	all := []component{{
		Ref: "pkg:golang/std@" + goVersion, Type: "library", Name: "std", Version: goVersion,
		Licenses: licensed(licenses["Go's standard library"]), PURL: "pkg:golang/std@" + goVersion,
	}}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		purl := "pkg:golang/" + module.Path + "@" + module.Version
		if licenses[module.Path] == nil {
			return nil, fmt.Errorf("%s is in %s, but its license was not looked for", module.Path, filepath.Base(file))
		}
		all = append(all, component{
			Ref: purl, Type: "library", Name: module.Path, Version: module.Version,
			Licenses: licensed(licenses[module.Path]), PURL: purl,
		})
	}
	slices.SortFunc(all, func(a, b component) int { return strings.Compare(a.Ref, b.Ref) })
	on := depending{Ref: main.Ref}
	for _, c := range all {
		on.On = append(on.On, c.Ref)
	}
	text, err := json.MarshalIndent(bill{
		Format: "CycloneDX", SpecVersion: "1.6", SerialNumber: serial(sum), Version: 1,
		Metadata: metadata{Timestamp: s.date, Component: main}, Components: all, Dependencies: []depending{on},
	}, "", "  ")
	return append(text, '\n'), err
}

func licensed(ids []string) []license {
	all := make([]license, len(ids))
	for i, id := range ids {
		all[i].License.ID = id
	}
	return all
}

// serial is a UUID (RFC 9562, version 8) that the binary's checksum decides.
func serial(sum string) string {
	b := sha256.Sum256([]byte("bill of materials of " + sum))
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80
	text := hex.EncodeToString(b[:16])
	return "urn:uuid:" + text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}
