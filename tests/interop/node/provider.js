// A tool provider in Node on @grpc/grpc-js, with the protocol loaded as it runs and go-plugin's
// services by hand: what somebody without a go-plugin library would write.
//
// node provider.js PROTO_DIRECTORY
'use strict';

const path = require('node:path');
const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');

if (process.env.PLUGGABLEHARNESS_AGENT_PLUGIN !==
    'pluggableharness-agent-v1-a6f3c9d2-plugin-handshake') {
  console.error('this is a plugin of the agent harness; the harness starts it');
  process.exit(1);
}

const definitions = loader.loadSync(
  ['tool', 'kernel', 'plugin', 'event'].map((name) => `pluggableharness/wire/${name}.proto`),
  { includeDirs: [process.argv[2]], keepCase: true, enums: String, longs: Number, oneofs: true },
);
const protocol = grpc.loadPackageDefinition(definitions);
const wire = protocol.pluggableharness;

// google.protobuf.Struct by hand, since the loader leaves it as the message that it is.
const toValue = (value) => {
  if (value === null) return { nullValue: 'NULL_VALUE' };
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'number') return { numberValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (Array.isArray(value)) return { listValue: { values: value.map(toValue) } };
  return { structValue: toStruct(value) };
};
const toStruct = (object) => ({
  fields: Object.fromEntries(Object.entries(object).map(([name, value]) => [name, toValue(value)])),
});
const textsOf = (struct) =>
  Object.fromEntries(
    Object.entries(struct?.fields ?? {}).map(([name, value]) => [name, value.stringValue]),
  );

const text = (description) => ({ type: 'SCHEMA_TYPE_STRING', description });
const object = (properties) => ({
  type: 'SCHEMA_TYPE_OBJECT', properties, required: Object.keys(properties),
});

const TOOLS = [
  {
    name: 'shout',
    kind: 'TOOL_KIND_DATA_SOURCE',
    risk: 'RISK_CLASS_READ_ONLY',
    description: 'Says a text in capitals.',
    input_schema: object({ text: text('What to say') }),
    output_schema: object({ loud: text('The same, louder') }),
    streaming: true,
    concurrency: { safe: true },
    idempotent: true,
  },
  {
    name: 'wait',
    kind: 'TOOL_KIND_RESOURCE',
    risk: 'RISK_CLASS_LOW',
    description: 'Works on a thing until it is cancelled.',
    input_schema: object({ thing: text('What to work on') }),
    output_schema: object({}),
    streaming: true,
    concurrency: { safe: true, key_fields: ['thing'] },
  },
];

let kernel;
let ending = '';

const fail = (stream, category, message) => {
  stream.write({ event: { error: { category: `TOOL_ERROR_CATEGORY_${category}`, message } } });
  stream.end();
};

const onlyText = (call, field) => {
  const given = textsOf(call.arguments);
  const fits = Object.keys(given).length === 1 && typeof given[field] === 'string';
  return fits ? given[field] : false;
};

// A cancelled call says through Emit what it had done: gRPC drops what follows a cancellation.
const report = (call, details) => {
  const payload = definitions['pluggableharness.event.v1.ToolResultEvent'].serialize({
    tool_call_id: call.id,
    error: { category: 'TOOL_ERROR_CATEGORY_CANCELLED', message: 'stopped', details },
  });
  const metadata = new grpc.Metadata();
  metadata.set('pluggableharness-call-id', call.id);
  kernel.Emit(
    {
      session_id: call.call_context.session_id,
      kind: 'EVENT_KIND_TOOL_RESULT',
      schema_version: '1',
      payload,
    },
    metadata,
    (error) => error && console.error(`the report was not taken: ${error.message}`),
  );
};

const OPERATIONS = {
  shout(call, stream) {
    const said = onlyText(call, 'text');
    if (said === false) return fail(stream, 'INVALID_ARGUMENTS', 'text: expected a string');
    stream.write({ event: { progress: { message: 'taking a breath', fraction_complete: 0.5 } } });
    const loud = said.toUpperCase() + ending;
    stream.write({ event: { result: { payload: toStruct({ loud }) } } });
    return stream.end();
  },
  wait(call, stream) {
    const thing = onlyText(call, 'thing');
    if (thing === false) return fail(stream, 'INVALID_ARGUMENTS', 'thing: expected a string');
    stream.on('cancelled', () => report(call, toStruct({ worked_on: thing })));
    return stream.write({ event: { progress: { message: 'at work' } } });
  },
};

const toolService = {
  GetSchema: (call, done) =>
    done(null, {
      tools: TOOLS,
      config_schema: {
        attributes: [
          { name: 'ending', type: 'ATTR_TYPE_STRING', description: 'Said last', default_json: '"!"' },
        ],
      },
    }),
  Describe: (call, done) =>
    done(null, {
      producer: {
        name: 'shouter', version: '0.1.0', source: 'interop/node',
        category: 'CATEGORY_TOOL', protocol_version: 1,
      },
    }),
  Configure(call, done) {
    const given = textsOf(call.request.config);
    const wrong = Object.keys(given).find((name) => name !== 'ending' || given[name] === undefined);
    if (wrong !== undefined) {
      return done({
        code: grpc.status.INVALID_ARGUMENT,
        message: `${wrong}: expected only ending, a string`,
      });
    }
    ending = given.ending ?? '';
    return done(null, {});
  },
  Invoke(stream) {
    const call = stream.request.call;
    const operation = Object.hasOwn(OPERATIONS, call.tool_name) && OPERATIONS[call.tool_name];
    if (!operation) return fail(stream, 'NOT_FOUND', `there is no operation ${call.tool_name}`);
    return operation(call, stream);
  },
};

const server = new grpc.Server();
server.addService(wire.tool.v1.ToolService.service, toolService);
server.addService(protocol.plugin.GRPCController.service, {
  Shutdown(call, done) {
    done(null, {});
    server.tryShutdown(() => process.exit(0));
    setTimeout(() => process.exit(0), 200);
  },
});
server.addService(protocol.plugin.GRPCBroker.service, {
  StartStream(stream) {
    stream.on('data', (info) => {
      if (info.service_id !== 1 || info.knock?.knock) return;
      const target = info.network === 'unix' ? `unix:${info.address}` : info.address;
      kernel = new wire.kernel.v1.KernelCallbackService(
        target, grpc.credentials.createInsecure(), { 'grpc.default_authority': 'localhost' },
      );
    });
    stream.on('error', () => {});
  },
});
// grpc.health.v1 is two messages of one field each, so that its package is not needed.
server.addService(
  {
    Check: {
      path: '/grpc.health.v1.Health/Check',
      requestStream: false,
      responseStream: false,
      requestDeserialize: (bytes) => bytes,
      responseSerialize: (bytes) => bytes,
    },
  },
  { Check: (call, done) => done(null, Buffer.from([8, 1])) },
);

const socket = path.join(process.env.PLUGIN_UNIX_SOCKET_DIR, `plugin-${process.pid}`);
server.bindAsync(`unix:${socket}`, grpc.ServerCredentials.createInsecure(), (error) => {
  if (error) throw error;
  process.stdout.write(`1|1|unix|${socket}|grpc|\n`);
});
