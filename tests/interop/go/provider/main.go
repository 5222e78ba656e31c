// A tool provider in Go, served by go-plugin itself: what somebody else would write.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"interop/wire"
)

const callbackService = 1

type provider struct {
	wire.UnimplementedToolServiceServer
	broker   *plugin.GRPCBroker
	greeting string
}

func (p *provider) GetSchema(context.Context, *wire.GetSchemaRequest) (*wire.GetSchemaResponse, error) {
	text := func(what string) *wire.Schema {
		return &wire.Schema{Type: wire.SchemaType_SCHEMA_TYPE_STRING, Description: what}
	}
	object := func(properties map[string]*wire.Schema) *wire.Schema {
		schema := &wire.Schema{Type: wire.SchemaType_SCHEMA_TYPE_OBJECT, Properties: properties}
		for name := range properties {
			schema.Required = append(schema.Required, name)
		}
		return schema
	}
	fallback := `"Hello"`
	return &wire.GetSchemaResponse{
		Tools: []*wire.ToolSchema{
			{
				Name:         "greet",
				Kind:         wire.ToolKind_TOOL_KIND_DATA_SOURCE,
				Risk:         wire.RiskClass_RISK_CLASS_READ_ONLY,
				Description:  "Greets somebody, slowly enough to say so.",
				InputSchema:  object(map[string]*wire.Schema{"name": text("Whom to greet")}),
				OutputSchema: object(map[string]*wire.Schema{"greeting": text("The words")}),
				Streaming:    true,
				Concurrency:  &wire.ConcurrencySpec{Safe: true},
				Idempotent:   true,
			},
			{
				Name:         "wait",
				Kind:         wire.ToolKind_TOOL_KIND_RESOURCE,
				Risk:         wire.RiskClass_RISK_CLASS_LOW,
				Description:  "Works on a thing until it is cancelled.",
				InputSchema:  object(map[string]*wire.Schema{"thing": text("What to work on")}),
				OutputSchema: object(map[string]*wire.Schema{}),
				Streaming:    true,
				Concurrency:  &wire.ConcurrencySpec{Safe: true, KeyFields: []string{"thing"}},
			},
		},
		ConfigSchema: &wire.ConfigSchema{Attributes: []*wire.ConfigAttribute{{
			Name:        "greeting",
			Type:        wire.AttrType_ATTR_TYPE_STRING,
			Description: "The first word",
			DefaultJson: &fallback,
		}}},
	}, nil
}

func (p *provider) Describe(context.Context, *wire.DescribeRequest) (*wire.DescribeResponse, error) {
	return &wire.DescribeResponse{Producer: &wire.ProducerRef{
		Name: "greeter", Version: "1.2.3", Source: "interop/go",
		Category: wire.Category_CATEGORY_TOOL, ProtocolVersion: 1,
	}}, nil
}

func (p *provider) Configure(_ context.Context, request *wire.ConfigureRequest) (*wire.ConfigureResponse, error) {
	for name, value := range request.Config.GetFields() {
		word, isText := value.GetKind().(*structpb.Value_StringValue)
		if name != "greeting" || !isText {
			return nil, status.Errorf(codes.InvalidArgument, "%s: expected only greeting, a string", name)
		}
		p.greeting = word.StringValue
	}
	return &wire.ConfigureResponse{}, nil
}

func (p *provider) Preview(_ context.Context, request *wire.PreviewRequest) (*wire.PreviewResponse, error) {
	content := "would do: " + request.Call.GetToolName()
	node := &wire.RenderNode{Node: &wire.RenderNode_Text{Text: &wire.TextNode{Content: content}}}
	return &wire.PreviewResponse{Preview: &wire.RenderTree{Root: node}}, nil
}

func (p *provider) Invoke(request *wire.InvokeRequest, stream grpc.ServerStreamingServer[wire.InvokeResponse]) error {
	call := request.GetCall()
	switch call.GetToolName() {
	case "greet":
		name, problem := onlyText(call, "name")
		if problem != "" {
			return refuse(stream, wire.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS, problem)
		}
		return p.greet(name, stream)
	case "wait":
		thing, problem := onlyText(call, "thing")
		if problem != "" {
			return refuse(stream, wire.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS, problem)
		}
		return p.wait(call, thing, stream)
	default:
		return refuse(stream, wire.ToolErrorCategory_TOOL_ERROR_CATEGORY_NOT_FOUND,
			"there is no operation "+call.GetToolName())
	}
}

func (p *provider) greet(name string, stream grpc.ServerStreamingServer[wire.InvokeResponse]) error {
	half := 0.5
	progress := &wire.ToolEvent_Progress{Message: "thinking of " + name, FractionComplete: &half}
	event := &wire.ToolEvent{Event: &wire.ToolEvent_Progress_{Progress: progress}}
	if err := stream.Send(&wire.InvokeResponse{Event: event}); err != nil {
		return err
	}
	return succeed(stream, map[string]any{"greeting": strings.TrimSpace(p.greeting + " " + name)})
}

// wait says through Emit what had been done, since gRPC drops what follows a cancellation.
func (p *provider) wait(call *wire.ToolCall, thing string, stream grpc.ServerStreamingServer[wire.InvokeResponse]) error {
	progress := &wire.ToolEvent_Progress{Message: "at work"}
	event := &wire.ToolEvent{Event: &wire.ToolEvent_Progress_{Progress: progress}}
	if err := stream.Send(&wire.InvokeResponse{Event: event}); err != nil {
		return err
	}
	<-stream.Context().Done()
	report, err := structpb.NewStruct(map[string]any{"worked_on": thing})
	if err != nil {
		return err
	}
	payload, err := proto.Marshal(&wire.ToolResultEvent{
		ToolCallId: call.GetId(),
		Outcome: &wire.ToolResultEvent_Error{Error: &wire.ToolError{
			Category: wire.ToolErrorCategory_TOOL_ERROR_CATEGORY_CANCELLED,
			Message:  "stopped",
			Details:  report,
		}},
	})
	if err != nil {
		return err
	}
	kernel, err := p.broker.Dial(callbackService)
	if err != nil {
		return err
	}
	defer kernel.Close()
	with := metadata.AppendToOutgoingContext(context.Background(), "pluggableharness-call-id", call.GetId())
	_, err = wire.NewKernelCallbackServiceClient(kernel).Emit(with, &wire.EmitRequest{
		SessionId:     call.GetCallContext().GetSessionId(),
		Kind:          wire.EventKind_EVENT_KIND_TOOL_RESULT,
		SchemaVersion: "1",
		Payload:       payload,
	})
	return err
}

func onlyText(call *wire.ToolCall, field string) (string, string) {
	for name, value := range call.GetArguments().GetFields() {
		text, isText := value.GetKind().(*structpb.Value_StringValue)
		if name == field && isText && len(call.GetArguments().GetFields()) == 1 {
			return text.StringValue, ""
		}
	}
	return "", fmt.Sprintf("expected %s, a string, and nothing else", field)
}

func succeed(stream grpc.ServerStreamingServer[wire.InvokeResponse], payload map[string]any) error {
	result, err := structpb.NewStruct(payload)
	if err != nil {
		return err
	}
	event := &wire.ToolEvent{Event: &wire.ToolEvent_Result{Result: &wire.ToolResult{Payload: result}}}
	return stream.Send(&wire.InvokeResponse{Event: event})
}

func refuse(stream grpc.ServerStreamingServer[wire.InvokeResponse], category wire.ToolErrorCategory, message string) error {
	problem := &wire.ToolError{Category: category, Message: message}
	event := &wire.ToolEvent{Event: &wire.ToolEvent_Error{Error: problem}}
	return stream.Send(&wire.InvokeResponse{Event: event})
}

type served struct{ plugin.NetRPCUnsupportedPlugin }

func (served) GRPCServer(broker *plugin.GRPCBroker, server *grpc.Server) error {
	wire.RegisterToolServiceServer(server, &provider{broker: broker})
	return nil
}

func (served) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, fmt.Errorf("this side only serves")
}

func main() {
	fmt.Fprintln(os.Stderr, "greeter starts")
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: plugin.HandshakeConfig{
			ProtocolVersion:  1,
			MagicCookieKey:   "PLUGGABLEHARNESS_AGENT_PLUGIN",
			MagicCookieValue: "pluggableharness-agent-v1-a6f3c9d2-plugin-handshake",
		},
		Plugins:    plugin.PluginSet{"tool": served{}},
		GRPCServer: plugin.DefaultGRPCServer,
	})
}
