package graph

// The arms of a box drawing character.
const (
	up = iota
	down
	left
	right
)

// The weights of an arm.
const (
	none  = iota
	light // not taken
	heavy // taken
)

// box is one character of lines, as the weights of its arms.
type box [4]uint8

// arm makes an arm at least as heavy as w.
func (b *box) arm(which int, w uint8) { b[which] = max(b[which], w) }

// taken reports whether a way that was taken goes through it.
func (b box) taken() bool { return max(b[up], b[down], b[left], b[right]) == heavy }

// drawn are the characters by the weights of their arms up, down, left and right, as digits of base three.
const drawn = "" +
	" ╶╺╴─╼╸╾━" + // up none, down none
	"╷╭┍╮┬┮┑┭┯" + // down light
	"╻┎┏┒┰┲┓┱┳" + // down heavy
	"╵╰┕╯┴┶┙┵┷" + // up light, down none
	"│├┝┤┼┾┥┽┿" +
	"╽┟┢┧╁╆┪╅╈" +
	"╹┖┗┚┸┺┛┹┻" + // up heavy, down none
	"╿┞┡┦╀╄┩╃╇" +
	"┃┠┣┨╂╊┫╉╋"

// String is the character.
func (b box) String() string {
	const width = 3 // bytes of each character but the first, the blank
	at := (int(b[up])*3+int(b[down]))*9 + int(b[left])*3 + int(b[right])
	if at == 0 {
		return drawn[:1]
	}
	at = 1 + (at-1)*width
	return drawn[at : at+width]
}
