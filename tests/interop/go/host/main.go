// A host in Go on go-plugin's own client: starts a tool provider, makes one call, prints what came.
//
// host [-mtls] OPERATION ARGUMENTS_JSON CONFIG_JSON DIRECTORY COMMAND [ARG …]
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	"interop/wire"
)

const callbackService = 1

// kernel keeps what the provider calls back with.
type kernel struct {
	wire.UnimplementedKernelCallbackServiceServer
	lock    sync.Mutex
	emitted []*wire.EmitRequest
	heard   chan struct{}
}

func (k *kernel) Emit(_ context.Context, request *wire.EmitRequest) (*wire.EmitResult, error) {
	k.lock.Lock()
	k.emitted = append(k.emitted, request)
	k.lock.Unlock()
	k.heard <- struct{}{}
	return &wire.EmitResult{Id: "event", Sequence: 1}, nil
}

func (k *kernel) Log(context.Context, *wire.LogRequest) (*wire.LogResult, error) {
	return &wire.LogResult{}, nil
}

type dispensed struct {
	tools  wire.ToolServiceClient
	kernel *kernel
}

type hosted struct{ plugin.NetRPCUnsupportedPlugin }

func (hosted) GRPCServer(*plugin.GRPCBroker, *grpc.Server) error {
	return errors.New("this side only calls")
}

func (hosted) GRPCClient(_ context.Context, broker *plugin.GRPCBroker, connection *grpc.ClientConn) (any, error) {
	callbacks := &kernel{heard: make(chan struct{}, 64)}
	go broker.AcceptAndServe(callbackService, func(options []grpc.ServerOption) *grpc.Server {
		server := grpc.NewServer(options...)
		wire.RegisterKernelCallbackServiceServer(server, callbacks)
		return server
	})
	return &dispensed{wire.NewToolServiceClient(connection), callbacks}, nil
}

func main() {
	mutual := flag.Bool("mtls", false, "ask for automatic mutual TLS")
	cancel := flag.Bool("cancel", false, "cancel at the first event and wait for the report")
	flag.Parse()
	if err := run(*mutual, *cancel, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(mutual, cancel bool, given []string) error {
	client := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig: plugin.HandshakeConfig{
			ProtocolVersion:  1,
			MagicCookieKey:   "PLUGGABLEHARNESS_AGENT_PLUGIN",
			MagicCookieValue: "pluggableharness-agent-v1-a6f3c9d2-plugin-handshake",
		},
		Plugins:          plugin.PluginSet{"tool": hosted{}},
		Cmd:              exec.Command(given[4], given[5:]...),
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		AutoMTLS:         mutual,
		StartTimeout:     30 * time.Second,
		Logger:           hclog.New(&hclog.LoggerOptions{Level: hclog.Warn, Output: os.Stderr}),
	})
	defer client.Kill()
	protocol, err := client.Client()
	if err != nil {
		return err
	}
	if err := protocol.Ping(); err != nil {
		return err
	}
	raw, err := protocol.Dispense("tool")
	if err != nil {
		return err
	}
	answers, err := ask(raw.(*dispensed), cancel, given)
	if err != nil {
		return err
	}
	client.Kill()
	answers["exited"] = client.Exited()
	return json.NewEncoder(os.Stdout).Encode(answers)
}

func ask(provider *dispensed, cancel bool, given []string) (map[string]any, error) {
	within, stop := context.WithTimeout(context.Background(), 60*time.Second)
	defer stop()
	declared, err := provider.tools.GetSchema(within, &wire.GetSchemaRequest{})
	if err != nil {
		return nil, err
	}
	config, arguments := &structpb.Struct{}, &structpb.Struct{}
	if err := errors.Join(
		protojson.Unmarshal([]byte(given[2]), config),
		protojson.Unmarshal([]byte(given[1]), arguments),
	); err != nil {
		return nil, err
	}
	if _, err := provider.tools.Configure(within, &wire.ConfigureRequest{Config: config}); err != nil {
		return nil, err
	}
	events, err := invoke(within, provider, cancel, &wire.ToolCall{
		Id: "call-1", ToolName: given[0], Arguments: arguments,
		CallContext: &wire.CallContext{SessionId: "session-1", TurnId: "turn-1", WorkingDirectory: given[3]},
	})
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, tool := range declared.Tools {
		names = append(names, tool.Name)
	}
	return map[string]any{"operations": names, "events": events, "reports": reports(provider.kernel)}, nil
}

func invoke(within context.Context, provider *dispensed, cancel bool, call *wire.ToolCall) ([]json.RawMessage, error) {
	within, stop := context.WithCancel(within)
	defer stop()
	stream, err := provider.tools.Invoke(within, &wire.InvokeRequest{Call: call})
	if err != nil {
		return nil, err
	}
	events := []json.RawMessage{}
	for {
		response, err := stream.Recv()
		if err == io.EOF {
			return events, nil
		}
		if err != nil {
			return nil, err
		}
		text, err := protojson.Marshal(response.Event)
		if err != nil {
			return nil, err
		}
		events = append(events, text)
		if cancel {
			stop()
			select {
			case <-provider.kernel.heard:
				return events, nil
			case <-time.After(30 * time.Second):
				return nil, errors.New("the cancelled call was not reported")
			}
		}
	}
}

func reports(callbacks *kernel) []map[string]any {
	callbacks.lock.Lock()
	defer callbacks.lock.Unlock()
	told := []map[string]any{}
	for _, request := range callbacks.emitted {
		told = append(told, map[string]any{
			"session": request.SessionId, "kind": request.Kind.String(), "payload": request.Payload,
		})
	}
	return told
}
