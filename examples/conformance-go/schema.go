package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"
)

// The schema layer: a validator for the part of JSON Schema that evh's schemas keep to (schema/PROFILE.md). Unions are
// told apart by their tag, so a document is walked once, however deep its unions nest.

// Schema is one node of a schema.
type Schema struct {
	Ref        string             `json:"$ref"`
	Defs       map[string]*Schema `json:"$defs"`
	Title      string             `json:"title"`
	Type       names              `json:"type"`
	Properties map[string]*Schema `json:"properties"`
	Required   []string           `json:"required"`
	Rest       *rest              `json:"additionalProperties"`
	Items      *Schema            `json:"items"`
	OneOf      []*Schema          `json:"oneOf"`
	AnyOf      []*Schema          `json:"anyOf"`
	Const      *string            `json:"const"`
	Enum       []string           `json:"enum"`
	Pattern    string             `json:"pattern"`
	Format     string             `json:"format"`
	MinLength  *int               `json:"minLength"`
	MaxLength  *int               `json:"maxLength"`
	MinItems   *int               `json:"minItems"`
	Minimum    *float64           `json:"minimum"`
	Maximum    *float64           `json:"maximum"`
	Above      *float64           `json:"exclusiveMinimum"`

	matches *regexp.Regexp
}

// names is a list of types, which a schema may also write as a single one.
type names []string

func (n *names) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		*n = names{""}
		return json.Unmarshal(data, &(*n)[0])
	}
	return json.Unmarshal(data, (*[]string)(n))
}

// rest is what a schema says of the members it does not name: refused, or of a schema.
type rest struct {
	refused bool
	schema  *Schema
}

func (r *rest) UnmarshalJSON(data []byte) error {
	if string(data) == "false" {
		r.refused = true
		return nil
	}
	return json.Unmarshal(data, &r.schema)
}

type place struct {
	document *Schema
	schema   *Schema
}

// Schemas are the types of a folder of bundled schemas, by name.
type Schemas struct {
	types map[string]place
}

// LoadSchemas reads every schema of a folder.
func LoadSchemas(folder string) (*Schemas, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("no schemas in %s", folder)
	}
	made := &Schemas{map[string]place{}}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		document := &Schema{}
		if err := json.Unmarshal(data, document); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		for name, schema := range document.Defs {
			made.types[name] = place{document, schema}
		}
		made.types[document.Title] = place{document, document}
	}
	return made, nil
}

// Has tells whether there is a type of this name.
func (s *Schemas) Has(name string) bool {
	_, found := s.types[name]
	return found
}

// Faults lists what a document breaks of the schema of its type.
func (s *Schemas) Faults(name string, value *Value) []Fault {
	found := s.types[name]
	check := &checking{document: found.document}
	check.value(found.schema, value, "")
	return check.faults
}

type checking struct {
	document *Schema
	faults   []Fault
}

func (c *checking) fault(where, keyword string) {
	c.faults = append(c.faults, Fault{where, keyword})
}

func (c *checking) resolved(schema *Schema) *Schema {
	for schema.Ref != "" {
		if schema.Ref == "#" {
			return c.document
		}
		schema = c.document.Defs[strings.TrimPrefix(schema.Ref, "#/$defs/")]
	}
	return schema
}

func (c *checking) value(schema *Schema, value *Value, where string) {
	schema = c.resolved(schema)
	switch {
	case schema.AnyOf != nil:
		c.nullable(schema.AnyOf[0], value, where)
		return
	case schema.OneOf != nil:
		c.union(schema, value, where)
		return
	}
	if schema.Const != nil && (value.Kind != Text || value.Text != *schema.Const) {
		c.fault(where, "const")
	}
	if schema.Enum != nil && (value.Kind != Text || !contains(schema.Enum, value.Text)) {
		c.fault(where, "enum")
	}
	if !isOf(schema.Type, value) {
		c.fault(where, "type")
	}
	switch value.Kind {
	case Text:
		c.text(schema, value.Text, where)
	case Number:
		c.number(schema, value.Number, where)
	case Array:
		c.array(schema, value, where)
	case Object:
		c.object(schema, value, where)
	}
}

// nullable checks what may also be null. A value of neither type breaks the choice itself.
func (c *checking) nullable(schema *Schema, value *Value, where string) {
	if value.Kind == Null {
		return
	}
	if target := c.resolved(schema); target.OneOf == nil && target.AnyOf == nil && !isOf(target.Type, value) {
		c.fault(where, "anyOf")
		return
	}
	c.value(schema, value, where)
}

// union checks the variant that the value's tag, or else its type, selects.
func (c *checking) union(union *Schema, value *Value, where string) {
	for _, branch := range union.OneOf {
		variant := c.resolved(branch)
		if isOf(variant.Type, value) && selects(variant, value) {
			c.value(variant, value, where)
			return
		}
	}
	c.fault(where, "oneOf")
}

// selects tells whether the tag of a variant, where it has one, is the value's.
func selects(variant *Schema, value *Value) bool {
	for name, member := range variant.Properties {
		if member.Const != nil {
			tag := value.Members[name]
			return tag != nil && tag.Kind == Text && tag.Text == *member.Const
		}
	}
	return true
}

func (c *checking) text(schema *Schema, text string, where string) {
	length := utf8.RuneCountInString(text)
	if schema.MinLength != nil && length < *schema.MinLength {
		c.fault(where, "minLength")
	}
	if schema.MaxLength != nil && length > *schema.MaxLength {
		c.fault(where, "maxLength")
	}
	if schema.Pattern != "" && !schema.pattern().MatchString(text) {
		c.fault(where, "pattern")
	}
	if schema.Format == "date-time" && !isDateTime(text) {
		c.fault(where, "format")
	}
}

// pattern is the schema's, with the end of the text as Go says it: `(?!\n)$` means just that.
func (s *Schema) pattern() *regexp.Regexp {
	if s.matches == nil {
		bare := strings.TrimSuffix(strings.TrimSuffix(s.Pattern, "$"), `(?!\n)`)
		s.matches = regexp.MustCompile(bare + `\z`)
	}
	return s.matches
}

func (c *checking) number(schema *Schema, number float64, where string) {
	if schema.Minimum != nil && number < *schema.Minimum {
		c.fault(where, "minimum")
	}
	if schema.Maximum != nil && number > *schema.Maximum {
		c.fault(where, "maximum")
	}
	if schema.Above != nil && number <= *schema.Above {
		c.fault(where, "exclusiveMinimum")
	}
}

func (c *checking) array(schema *Schema, value *Value, where string) {
	if schema.MinItems != nil && len(value.Items) < *schema.MinItems {
		c.fault(where, "minItems")
	}
	if schema.Items == nil {
		return
	}
	for index, item := range value.Items {
		c.value(schema.Items, item, fmt.Sprintf("%s/%d", where, index))
	}
}

func (c *checking) object(schema *Schema, value *Value, where string) {
	for _, name := range schema.Required {
		if value.Members[name] == nil {
			c.fault(where, "required")
		}
	}
	for _, name := range value.Names {
		at := where + "/" + escaped(name)
		switch member := schema.Properties[name]; {
		case member != nil:
			c.value(member, value.Members[name], at)
		case schema.Rest == nil:
		case schema.Rest.refused:
			c.fault(at, "additionalProperties")
		default:
			c.value(schema.Rest.schema, value.Members[name], at)
		}
	}
}

func isOf(types names, value *Value) bool {
	if len(types) == 0 {
		return true
	}
	for _, name := range types {
		switch name {
		case "null":
			if value.Kind == Null {
				return true
			}
		case "boolean":
			if value.Kind == Bool {
				return true
			}
		case "number":
			if value.Kind == Number {
				return true
			}
		case "integer":
			if value.Kind == Number && value.Number == math.Trunc(value.Number) {
				return true
			}
		case "string":
			if value.Kind == Text {
				return true
			}
		case "array":
			if value.Kind == Array {
				return true
			}
		case "object":
			if value.Kind == Object {
				return true
			}
		}
	}
	return false
}

func contains(texts []string, text string) bool {
	for _, each := range texts {
		if each == text {
			return true
		}
	}
	return false
}
