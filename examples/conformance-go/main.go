// A reader of evh records in Go, as somebody outside would write one: the standard library and the published schemas,
// nothing else. It reads strictly (the json and the schema layer), and says so; it does not read leniently, upgrade, or
// check the rules between members.
//
//	go build -o reader . && evh conformance --cmd "./reader ../../src/evh/protocol/schemas/bundled"
//
// The argument is the folder of the bundled schemas, which `evh schema NAME --bundle` prints as well.
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

type hello struct {
	Protocol int      `json:"evh_conformance"`
	Name     string   `json:"name"`
	Modes    []string `json:"modes"`
	Layers   []string `json:"layers"`
}

type request struct {
	ID     json.Number `json:"id"`
	Mode   string      `json:"mode"`
	Type   string      `json:"type"`
	Input  string      `json:"input"`
	Base64 string      `json:"input_base64"`
}

type answer struct {
	ID      json.Number `json:"id"`
	Verdict string      `json:"verdict"`
	Layer   string      `json:"layer,omitempty"`
	Pointer *string     `json:"pointer,omitempty"`
	Keyword string      `json:"keyword,omitempty"`
}

// Fault is one thing wrong with a document: where, and which rule it breaks.
type Fault struct {
	Pointer string
	Keyword string
}

// first is the fault that comes first by pointer, then keyword, byte by byte (which for UTF-8 is code point by code point).
func first(faults []Fault) Fault {
	least := faults[0]
	for _, each := range faults[1:] {
		if each.Pointer < least.Pointer || (each.Pointer == least.Pointer && each.Keyword < least.Keyword) {
			least = each
		}
	}
	return least
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: reader FOLDER_OF_BUNDLED_SCHEMAS")
		os.Exit(2)
	}
	schemas, err := LoadSchemas(os.Args[1])
	if err == nil {
		err = serve(schemas, os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve says hello, then answers requests until there are no more.
func serve(schemas *Schemas, in io.Reader, out io.Writer) error {
	lines := bufio.NewReader(in)
	said := json.NewEncoder(out)
	said.SetEscapeHTML(false)
	if err := said.Encode(hello{1, "evh example reader (Go)", []string{"strict"}, []string{"json", "schema"}}); err != nil {
		return err
	}
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var asked request
			if err := json.Unmarshal(line, &asked); err != nil {
				return fmt.Errorf("no request: %w", err)
			}
			if err := said.Encode(reply(schemas, asked)); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func reply(schemas *Schemas, asked request) answer {
	data := []byte(asked.Input)
	if asked.Base64 != "" {
		data, _ = base64.StdEncoding.DecodeString(asked.Base64)
	}
	if asked.Mode != "strict" || !schemas.Has(asked.Type) {
		return answer{ID: asked.ID, Verdict: "unsupported"}
	}
	value, faults := Parse(data)
	if len(faults) > 0 {
		return refused(asked.ID, "json", first(faults))
	}
	if faults := schemas.Faults(asked.Type, value); len(faults) > 0 {
		return refused(asked.ID, "schema", first(faults))
	}
	return answer{ID: asked.ID, Verdict: "accepted"}
}

func refused(id json.Number, layer string, fault Fault) answer {
	return answer{id, "refused", layer, &fault.Pointer, fault.Keyword}
}
