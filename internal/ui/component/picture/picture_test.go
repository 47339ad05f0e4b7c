package picture

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"strings"
	"testing"
)

func pngOf(t testing.TB, w, h int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewRGBA(image.Rect(0, 0, w, h))); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func TestOf(t *testing.T) {
	small := pngOf(t, 64, 48)
	for text, want := range map[string]string{
		"data:image/png;base64," + small:                    "[image/png, 64 x 48, ",
		small:                                               "[image/png, 64 x 48, ",
		"data:application/pdf;base64,AAAA":                  "[application/pdf, 3 B]",
		"data:;base64,AAA=":                                 "[text/plain, 2 B]",
		"data:image/\x1b[2Jpng;base64,AAAA":                 "[image/",
		"JVBERi0" + strings.Repeat("A", 93):                 "[application/pdf, 75 B]",
		"data:image/png;charset=x,AAAA":                     "",
		"data:image/png;base64,not base64":                  "",
		"data:" + strings.Repeat("x", 200) + ";base64,AAAA": "",
		"iVBORw0KGgo":                                       "", "/9j/ is a path": "", "": "", "data:": "", "plain": "",
	} {
		got, ok := Of(text)
		if ok != (want != "") || !strings.HasPrefix(got, want) || strings.ContainsRune(got, 0x1b) {
			t.Errorf("%.60q: %q, %v; want %q", text, got, ok, want)
		}
	}
}

func FuzzOf(f *testing.F) {
	f.Add(pngOf(f, 2, 2))
	f.Add("data:image/gif;base64,R0lGOD")
	f.Fuzz(func(t *testing.T, text string) {
		if got, ok := Of(text); ok && (len(got) > 1000 || strings.ContainsAny(got, "\x1b\n\r")) {
			t.Errorf("%q is drawn as %q", text, got)
		}
	})
}
