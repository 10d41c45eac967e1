package troupe_test

import (
	"context"
	"fmt"
	"log"

	"github.com/troupe-go/troupe"
	"github.com/troupe-go/troupe/actors/tool"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/tests/scripted"
)

// An agent whose model writes Python, which calls a tool written in Go. The
// model is one that plays a script; any server that speaks the OpenAI wire
// takes its place.
func ExampleTroupe_Run() {
	model := play(`
turns:
  - match: {step: 1}
    reply:
      text: |
        Thought: I ask for both and add.
        <code>
        total = population(city="Utrecht") + population(city="Delft")
        print(total)
        </code>
  - match: {step: 2, last_user: "470000"}
    reply:
      text: |
        <code>
        final_answer(f"{total:,} people live there.")
        </code>
`)
	defer model.Close()

	type cityArgs struct {
		City string `json:"city" desc:"Name of the city"`
	}
	people := map[string]int{"Utrecht": 365_000, "Delft": 105_000}
	population, err := tool.Func("population", "Gives the number of people who live in a city.",
		func(_ context.Context, in cityArgs) (int, error) { return people[in.City], nil },
		tool.WithEffects(tool.EffectsNone))
	if err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	node, err := troupe.New(troupe.Config{
		Definitions: messages.Definitions{
			Lang:   messages.EN,
			Models: []messages.ModelConfig{{CiteName: "main", ModelName: "scripted", URL: model.URL()}},
			Agents: []messages.AgentConfig{{Name: "counter", ModelName: "main", Tools: []string{"population"}}},
		},
		GoTools:           []tool.Tool{population},
		AllowMissingWalls: true, // the script is ours, and harmless
	})
	if err != nil {
		log.Fatal(err)
	}
	defer node.Close(ctx)

	for event, err := range node.Run(ctx, troupe.RunRequest{Query: "How many people live in Utrecht and Delft?"}) {
		if err != nil {
			log.Fatal(err)
		}
		switch event.Type {
		case messages.Tool:
			fmt.Printf("calls %s %s\n", event.ToolName, event.ToolArguments)
		case messages.ExecutionLogs:
			fmt.Print("prints ", event.Content)
		case messages.FinalAnswer:
			fmt.Printf("%s: %s\n", event.Status, event.Content)
		}
	}
	// Output:
	// calls population {"city":"Utrecht"}
	// calls population {"city":"Delft"}
	// prints 470000
	// answered: 470,000 people live there.
}

// A stop `now` cancels the model's stream and returns when it has taken
// effect. Whoever watches sees the run's last event.
func ExampleTroupe_Stop() {
	model := play("turns: [{reply: {text: And so on. , endless: true, delay: 1ms}}]")
	defer model.Close()

	ctx := context.Background()
	node, err := troupe.New(troupe.Config{
		Definitions: messages.Definitions{
			Lang:   messages.EN,
			Models: []messages.ModelConfig{{CiteName: "main", ModelName: "scripted", URL: model.URL()}},
			Agents: []messages.AgentConfig{{Name: "talker", ModelName: "main"}},
		},
		AllowMissingWalls: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer node.Close(ctx)

	started, err := node.Start(ctx, troupe.RunRequest{Query: "Tell me everything."})
	if err != nil {
		log.Fatal(err)
	}
	for event, err := range node.Watch(ctx, started.Run, 0) {
		if err != nil {
			log.Fatal(err)
		}
		if event.Type == messages.ModelOutputThinking {
			break // it talks
		}
	}
	stopped, err := node.Stop(ctx, messages.Stop{Run: started.Run, After: messages.StopNow})
	if err != nil {
		log.Fatal(err)
	}
	for _, part := range stopped.Parts {
		fmt.Printf("%s: %s\n", part.Actor, part.What)
	}
	for event, err := range node.Watch(ctx, started.Run, 0) {
		if err != nil {
			log.Fatal(err)
		}
		if event.Last() {
			fmt.Println(event.Status, event.Content)
		}
	}
	// Output:
	// model: the model call was cancelled
	// agent: the invocation ended
	// stopped <user_break>
}

// play starts a model that says what a script tells it to.
func play(script string) *scripted.Server {
	parsed, err := scripted.Parse([]byte(script))
	if err != nil {
		log.Fatal(err)
	}
	server, err := scripted.Start(parsed)
	if err != nil {
		log.Fatal(err)
	}
	return server
}
