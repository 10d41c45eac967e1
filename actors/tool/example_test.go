package tool_test

import (
	"context"
	"fmt"

	"github.com/troupe-go/troupe/actors/tool"
)

func ExampleFunc() {
	type args struct {
		City string `json:"city" desc:"Name of the city" desc_zh:"城市名"`
		Days int    `json:"days" desc:"Days ahead" default:"1" min:"1" max:"14"`
	}
	weather, err := tool.Func("get_weather", "Tells the weather of a city.",
		func(_ context.Context, in args) (string, error) {
			return fmt.Sprintf("%s in %d days: sunny", in.City, in.Days), nil
		},
		tool.WithChinese("查询城市天气。"),
		tool.WithEffects(tool.EffectsNone),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(weather.Spec().Signature("en"))

	bound, notes, err := weather.Spec().Bind([]any{"Bern"}, map[string]any{"days": int64(30)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(notes[0].In("en"))
	fmt.Println(weather.Call(context.Background(), &tool.Call{Args: bound}))

	_, _, err = weather.Spec().Bind(nil, map[string]any{"town": "Bern"})
	fmt.Println(err)
	// Output:
	// def get_weather(city: str, days: int = 1) -> str:
	//     """Tells the weather of a city.
	//
	//     Args:
	//         city: Name of the city
	//         days: Days ahead (at least 1; at most 14)
	//
	//     Returns:
	//         str
	//     """
	// days=30 is above the greatest value allowed; 14 was used
	// Bern in 14 days: sunny <nil>
	// get_weather() got an unexpected keyword argument 'town'; its signature is get_weather(city: str, days: int = 1) -> str
}
