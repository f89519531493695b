package main

import (
	"regexp"
	"strconv"
)

var dateTime = regexp.MustCompile(
	`^([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])\z`)

// isDateTime tells whether a text is an RFC 3339 date-time on a day of the calendar; leap seconds are refused.
func isDateTime(text string) bool {
	found := dateTime.FindStringSubmatch(text)
	if found == nil {
		return false
	}
	year, _ := strconv.Atoi(found[1])
	month, _ := strconv.Atoi(found[2])
	day, _ := strconv.Atoi(found[3])
	if year == 0 || month < 1 || month > 12 {
		return false
	}
	days := []int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[month-1]
	if month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		days++
	}
	return day >= 1 && day <= days
}
