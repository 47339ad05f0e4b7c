// Package component and the packages below it are the parts of which the desk's pages are put together: lists,
// pagers, views of content, fields to type in.
//
// A component is a plain struct, not a tea.Model: the page that owns it calls its methods. SetSize gives it its box,
// and View fills exactly that box: as many lines as it is high, each exactly as many cells wide, for any text. A
// component does no I/O, starts nothing and knows neither desk nor store. None is safe for concurrent use.
//
// # Text from outside
//
// One rule says who makes outside text safe, so that it happens once and always before anything is measured:
//
//   - A component that takes content (SetText, SetContent, SetDiff, SetJSON, SetValue, a title, a message, an option)
//     takes it raw and runs it through package sanitize itself.
//   - What a page draws with its own styles (rows of a list, the lines of a pager's Source, parts of a status bar) is
//     already a drawing: the page passes outside text through sanitize.Line before it puts a style around it.
//
// What a person has typed or edited is kept as it is and made safe only where it is drawn, so that nothing of an
// answer is changed by being shown.
package component
