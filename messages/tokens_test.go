package messages_test

import (
	"encoding/base64"
	"math/rand"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/messages"
)

func TestEstimateTokensVectors(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "a": 1, "abcd": 1, "abcdefgh": 2, "你好": 1, "你好世界abc": 3,
		"😀": 2, "\xff\xfe": 1, "3.14": 2,
	} {
		require.Equal(t, want, messages.EstimateTokens(text), "%q", text)
	}
}

// The counts are those of the public vocabularies cl100k_base and o200k_base
// for the same 1,000 characters; an estimate has to lie between 0.7 times the
// larger and 2 times the smaller (CTX-04).
func TestEstimateTokensAgainstTokenizers(t *testing.T) {
	random := make([]byte, 750)
	rand.New(rand.NewSource(1)).Read(random)
	for name, c := range map[string]struct {
		text        string
		cl100, o200 int
	}{
		"english":   {thousand("The harbour master wrote down each ship that came in before noon, and by evening the list was long enough to fill two pages. "), 209, 209},
		"chinese":   {thousand("港口管理员把中午之前进港的每一艘船都记录下来，到了傍晚，名单已经长得足以写满两页纸。"), 1189, 856},
		"kana":      {thousand("きのうのよるはとてもさむかったので、みんなでこたつにはいってみかんをたべました。アイスクリームモタベタイデス。"), 1018, 765},
		"korean":    {thousand("항만 관리자는 정오 이전에 들어온 모든 배를 기록했고 저녁이 되자 목록은 두 쪽을 가득 채울 만큼 길어졌습니다. "), 1001, 572},
		"fullwidth": {thousand("，。！？；：（）【】《》「」～ＡＢＣ１２３"), 1141, 857},
		"emoji":     {thousand("😀🎉🚀🐟🌍🔥🤖🍜🏔🧭"), 2900, 1900},
		"russian":   {thousand("Начальник порта записывал каждое судно, пришедшее до полудня, и к вечеру список занял две страницы. "), 411, 311},
		"json":      {thousand(`{"id": 4711, "name": "pump-07", "state": "ok", "values": [12.5, 13.25, 11.75], "time": "2026-03-01T10:22:05Z"}, `), 518, 509},
		"base64":    {base64.StdEncoding.EncodeToString(random), 720, 680},
	} {
		t.Run(name, func(t *testing.T) {
			got := float64(messages.EstimateTokens(c.text))
			require.GreaterOrEqual(t, got, 0.7*float64(max(c.cl100, c.o200)))
			require.LessOrEqual(t, got, 2*float64(min(c.cl100, c.o200)))
		})
	}
}

func thousand(s string) string {
	r := []rune(strings.Repeat(s, 1000/utf8.RuneCountInString(s)+1))
	return string(r[:1000])
}

func BenchmarkEstimateTokens(b *testing.B) {
	text := thousand("The harbour master wrote down each ship. 港口管理员把每一艘船都记录下来。")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		messages.EstimateTokens(text)
	}
}
