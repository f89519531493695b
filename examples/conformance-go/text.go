package main

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// The json layer: a parser that takes JSON and nothing else, and notes what other readers would take differently.
// encoding/json is too forgiving for it: duplicate keys, lone surrogates, and integers that a double cannot hold pass.

const (
	deepest    = 128
	tooDeep    = 10000
	maxSafe    = 1<<53 - 1
	safeDigits = 16
)

// Kind tells what a Value is.
type Kind int

// The kinds of JSON values.
const (
	Null Kind = iota
	Bool
	Number
	Text
	Array
	Object
)

// Value is a JSON value. The members of an object keep the order of the text; of a repeated one the last counts.
type Value struct {
	Kind    Kind
	Bool    bool
	Number  float64
	Text    string
	Items   []*Value
	Names   []string
	Members map[string]*Value
}

var errNotJSON = errors.New("not JSON")

type parser struct {
	text   string
	at     int
	path   []string
	faults []Fault
	deep   bool
}

// Parse reads a document; a fault means that a strict reader refuses it.
func Parse(data []byte) (*Value, []Fault) {
	if !utf8.Valid(data) {
		return nil, []Fault{{"", "not-json"}}
	}
	p := &parser{text: string(data)}
	if strings.HasPrefix(p.text, "\ufeff") {
		p.faults = append(p.faults, Fault{"", "bom"})
		p.at = len("\ufeff")
	}
	value, err := p.value()
	p.blank()
	if err != nil || p.at != len(p.text) {
		return nil, []Fault{{"", "not-json"}}
	}
	return value, p.faults
}

func (p *parser) fault(keyword string) {
	p.faults = append(p.faults, Fault{pointer(p.path), keyword})
}

func pointer(path []string) string {
	var made strings.Builder
	for _, part := range path {
		made.WriteString("/" + escaped(part))
	}
	return made.String()
}

func escaped(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

func (p *parser) blank() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// next passes over blanks and gives the byte that follows, or 0 at the end.
func (p *parser) next() byte {
	p.blank()
	if p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

func (p *parser) take(literal string) bool {
	if strings.HasPrefix(p.text[p.at:], literal) {
		p.at += len(literal)
		return true
	}
	return false
}

func (p *parser) value() (*Value, error) {
	switch c := p.next(); {
	case c == '{':
		return p.object()
	case c == '[':
		return p.array()
	case c == '"':
		text, err := p.string()
		return &Value{Kind: Text, Text: text}, err
	case p.take("true"):
		return &Value{Kind: Bool, Bool: true}, nil
	case p.take("false"):
		return &Value{Kind: Bool}, nil
	case p.take("null"):
		return &Value{Kind: Null}, nil
	case p.take("NaN"), p.take("Infinity"), p.take("-Infinity"):
		p.fault("non-finite")
		return &Value{Kind: Number}, nil
	default:
		return p.number()
	}
}

// enter goes a level down; name is the last part of the path of what is there.
func (p *parser) enter(levels int) error {
	if levels > tooDeep {
		return errNotJSON
	}
	if levels > deepest && !p.deep {
		p.deep = true
		p.fault("depth")
	}
	return nil
}

func (p *parser) array() (*Value, error) {
	made := &Value{Kind: Array}
	p.at++
	if err := p.enter(len(p.path) + 1); err != nil {
		return nil, err
	}
	if p.next() == ']' {
		p.at++
		return made, nil
	}
	for {
		p.path = append(p.path, strconv.Itoa(len(made.Items)))
		item, err := p.value()
		p.path = p.path[:len(p.path)-1]
		if err != nil {
			return nil, err
		}
		made.Items = append(made.Items, item)
		switch p.next() {
		case ',':
			p.at++
		case ']':
			p.at++
			return made, nil
		default:
			return nil, errNotJSON
		}
	}
}

func (p *parser) object() (*Value, error) {
	made := &Value{Kind: Object, Members: map[string]*Value{}}
	p.at++
	if err := p.enter(len(p.path) + 1); err != nil {
		return nil, err
	}
	if p.next() == '}' {
		p.at++
		return made, nil
	}
	for {
		if err := p.member(made); err != nil {
			return nil, err
		}
		switch p.next() {
		case ',':
			p.at++
		case '}':
			p.at++
			return made, nil
		default:
			return nil, errNotJSON
		}
	}
}

func (p *parser) member(into *Value) error {
	if p.next() != '"' {
		return errNotJSON
	}
	name, err := p.string()
	if err != nil || p.next() != ':' {
		return errNotJSON
	}
	p.at++
	p.path = append(p.path, name)
	defer func() { p.path = p.path[:len(p.path)-1] }()
	if _, twice := into.Members[name]; twice {
		p.fault("duplicate-key")
	} else {
		into.Names = append(into.Names, name)
	}
	into.Members[name], err = p.value()
	return err
}

func (p *parser) string() (string, error) {
	var made strings.Builder
	p.at++
	lone := false
	for p.at < len(p.text) {
		c := p.text[p.at]
		switch {
		case c == '"':
			p.at++
			if lone {
				p.fault("surrogate")
			}
			return made.String(), nil
		case c < 0x20:
			return "", errNotJSON
		case c != '\\':
			made.WriteByte(c)
			p.at++
		default:
			r, ok := p.escape()
			if !ok {
				return "", errNotJSON
			}
			lone = lone || utf16.IsSurrogate(r)
			made.WriteRune(r)
		}
	}
	return "", errNotJSON
}

// escape reads a backslash and what belongs to it; of a surrogate without its other half it gives that surrogate.
func (p *parser) escape() (rune, bool) {
	if p.at+1 >= len(p.text) {
		return 0, false
	}
	c := p.text[p.at+1]
	if c != 'u' {
		p.at += 2
		from, to := `"\/bfnrt`, "\"\\/\b\f\n\r\t"
		found := strings.IndexByte(from, c)
		if found < 0 {
			return 0, false
		}
		return rune(to[found]), true
	}
	unit, ok := p.unit(p.at)
	if !ok {
		return 0, false
	}
	p.at += 6
	if utf16.IsSurrogate(unit) {
		if low, ok := p.unit(p.at); ok {
			if pair := utf16.DecodeRune(unit, low); pair != utf8.RuneError {
				p.at += 6
				return pair, true
			}
		}
	}
	return unit, true
}

func (p *parser) unit(at int) (rune, bool) {
	if at+6 > len(p.text) || p.text[at] != '\\' || p.text[at+1] != 'u' {
		return 0, false
	}
	value, err := strconv.ParseUint(p.text[at+2:at+6], 16, 32)
	return rune(value), err == nil
}

func (p *parser) number() (*Value, error) {
	start := p.at
	p.take("-")
	if !p.take("0") && p.digits() == 0 {
		return nil, errNotJSON
	}
	whole := true
	if p.take(".") {
		whole = false
		if p.digits() == 0 {
			return nil, errNotJSON
		}
	}
	if p.take("e") || p.take("E") {
		whole = false
		if !p.take("+") {
			p.take("-")
		}
		if p.digits() == 0 {
			return nil, errNotJSON
		}
	}
	token := p.text[start:p.at]
	value, err := strconv.ParseFloat(token, 64)
	if whole && isBig(strings.TrimPrefix(token, "-")) {
		p.fault("big-integer")
	} else if err != nil {
		p.fault("non-finite")
	}
	return &Value{Kind: Number, Number: value}, nil
}

func isBig(digits string) bool {
	if len(digits) > safeDigits {
		return true
	}
	value, _ := strconv.ParseInt(digits, 10, 64)
	return value > maxSafe
}

func (p *parser) digits() int {
	start := p.at
	for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
		p.at++
	}
	return p.at - start
}
