import { createFileRegistry, type DescField, type DescMessage, fromBinary, type Registry } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, FileDescriptorSetSchema, type FileDescriptorProto } from '@bufbuild/protobuf/wkt';
import { create, ScalarType } from '@bufbuild/protobuf';
import { credentials } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ServerReflectionClient,
  type ServerReflectionResponse,
} from '../../../proto/generated/grpc/reflection/v1/reflection.ts';
import { ProtocolWorld } from './protocol-world.ts';

let world: ProtocolWorld;
let served: Registry;

beforeAll(async () => {
  world = await ProtocolWorld.start();
  served = await reflected((await world.relay()).listener.port);
}, 60_000);
afterAll(() => world.stop());

/** The relay's description of its messages, for every client. */
async function reflected(port: number): Promise<Registry> {
  const client = new ServerReflectionClient(`127.0.0.1:${port}`, credentials.createInsecure());
  const call = client.serverReflectionInfo();
  const files = await new Promise<FileDescriptorProto[]>((resolve, reject) => {
    call.on('error', reject);
    call.on('data', ({ messageResponse }: ServerReflectionResponse) => {
      const files =
        messageResponse?.$case === 'fileDescriptorResponse' ? messageResponse.value.fileDescriptorProto : [];
      resolve(files.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes)));
    });
    const value = 'windlass.node.v1.NodeClusterService';
    call.write({ host: '', messageRequest: { $case: 'fileContainingSymbol', value } });
  });
  call.end();
  client.close();
  // The registry wants a file after those that it imports.
  return createFileRegistry(create(FileDescriptorSetSchema, { file: files.toReversed() }));
}

function messageOf(name: string): DescMessage {
  const found = served.getMessage(`windlass.node.v1.${name}`);
  if (found === undefined) throw new Error(`the relay serves no ${name}`);
  return found;
}

const shortName = ({ typeName }: { readonly typeName: string }): string => typeName.replace(/^.*\./, '');

function typeOf(field: DescField): string {
  switch (field.fieldKind) {
    case 'scalar':
      return ScalarType[field.scalar].toLowerCase();
    case 'message':
      return shortName(field.message);
    case 'enum':
      return shortName(field.enum);
    case 'list':
      return `repeated ${field.listKind === 'scalar' ? ScalarType[field.scalar].toLowerCase() : 'other'}`;
    case 'map':
      return `map of ${ScalarType[field.mapKey].toLowerCase()} to ${field.mapKind === 'scalar' ? ScalarType[field.scalar].toLowerCase() : 'other'}`;
  }
}

type Row = [ids: string, message: string, number: number, name: string, type: string, oneof?: string];

/** Every field that the specification numbers (spec 2 §2.2, §4.1). */
const rows: Row[] = [
  ['EDGE-PROTO-03', 'ChallengeNodeRequest', 4, 'enrollment_token', 'string', 'bootstrap_proof'],
  ['EDGE-PROTO-06', 'EdgeCapabilities', 1, 'os', 'string'],
  ['EDGE-PROTO-07', 'EdgeCapabilities', 2, 'arch', 'string'],
  ['EDGE-PROTO-08', 'EdgeCapabilities', 3, 'local_tools', 'repeated string'],
  ['EDGE-PROTO-09', 'EdgeCapabilities', 4, 'mount_points', 'repeated string'],
  ['EDGE-PROTO-10', 'EdgeCapabilities', 5, 'custom_labels', 'map of string to string'],
  ['EDGE-PROTO-12', 'EdgeEvent', 1, 'hello', 'Hello', 'event'],
  ['EDGE-PROTO-13', 'EdgeEvent', 2, 'heartbeat', 'Heartbeat', 'event'],
  ['EDGE-PROTO-14', 'EdgeEvent', 3, 'command_result', 'CommandResult', 'event'],
  ['EDGE-PROTO-15', 'EdgeEvent', 4, 'command_progress', 'CommandProgress', 'event'],
  ['EDGE-PROTO-16', 'EdgeEvent', 5, 'capability_update', 'CapabilityUpdate', 'event'],
  ['EDGE-PROTO-17', 'Hello', 1, 'envelope', 'SealNodeEnvelope'],
  ['EDGE-PROTO-18', 'Hello', 2, 'capabilities', 'EdgeCapabilities'],
  ['EDGE-PROTO-19', 'Hello', 3, 'stream_id', 'string'],
  ['EDGE-PROTO-20', 'Heartbeat', 1, 'envelope', 'SealNodeEnvelope'],
  ['EDGE-PROTO-20', 'Heartbeat', 2, 'sent_at', 'Timestamp'],
  ['EDGE-PROTO-21', 'CommandResult', 1, 'envelope', 'SealNodeEnvelope'],
  ['EDGE-PROTO-22', 'CommandResult', 2, 'command_id', 'string'],
  ['EDGE-PROTO-23', 'CommandResult', 3, 'result', 'EdgeResult'],
  ['EDGE-PROTO-24', 'CommandProgress', 1, 'envelope', 'SealNodeEnvelope'],
  ['EDGE-PROTO-24', 'CommandProgress', 2, 'command_id', 'string'],
  ['EDGE-PROTO-24', 'CommandProgress', 3, 'chunk', 'Chunk'],
  ['EDGE-PROTO-25', 'CapabilityUpdate', 1, 'envelope', 'SealNodeEnvelope'],
  ['EDGE-PROTO-25', 'CapabilityUpdate', 2, 'capabilities', 'EdgeCapabilities'],
  ['EDGE-PROTO-26', 'EdgeResult', 1, 'ok', 'Ok', 'outcome'],
  ['EDGE-PROTO-26', 'EdgeResult', 2, 'err', 'Err', 'outcome'],
  ['EDGE-PROTO-26', 'EdgeResult', 3, 'timed_out', 'TimedOut', 'outcome'],
  ['EDGE-PROTO-26', 'EdgeResult', 4, 'cancelled', 'Cancelled', 'outcome'],
  ['EDGE-PROTO-27', 'Ok', 1, 'exit_code', 'int32'],
  ['EDGE-PROTO-27', 'Ok', 2, 'payload', 'Any'],
  ['EDGE-PROTO-27', 'Ok', 3, 'duration', 'Duration'],
  ['EDGE-PROTO-28', 'Err', 1, 'code', 'string'],
  ['EDGE-PROTO-28', 'Err', 2, 'message', 'string'],
  ['EDGE-PROTO-28', 'Err', 3, 'exit_code', 'int32'],
  ['EDGE-PROTO-29', 'TimedOut', 1, 'deadline', 'Duration'],
  ['EDGE-PROTO-30', 'Cancelled', 1, 'reason', 'string'],
  ['EDGE-PROTO-31', 'Chunk', 1, 'stdout', 'bytes', 'kind'],
  ['EDGE-PROTO-31', 'Chunk', 2, 'stderr', 'bytes', 'kind'],
  ['EDGE-PROTO-31', 'Chunk', 3, 'status', 'StatusUpdate', 'kind'],
  ['EDGE-PROTO-32', 'EdgeCommand', 1, 'invoke_tool', 'InvokeTool', 'command'],
  ['EDGE-PROTO-33', 'EdgeCommand', 2, 'cancel', 'Cancel', 'command'],
  ['EDGE-PROTO-34', 'EdgeCommand', 3, 'push_config', 'PushConfig', 'command'],
  ['EDGE-PROTO-35', 'EdgeCommand', 4, 'drain', 'Drain', 'command'],
  ['EDGE-PROTO-36', 'EdgeCommand', 5, 'shutdown', 'Shutdown', 'command'],
  ['EDGE-PROTO-37', 'InvokeTool', 1, 'command_id', 'string'],
  ['EDGE-PROTO-38', 'InvokeTool', 2, 'security_context_name', 'string'],
  ['EDGE-PROTO-39', 'InvokeTool', 3, 'seal_envelope', 'SealEnvelope'],
  ['EDGE-PROTO-40', 'InvokeTool', 4, 'tool_name', 'string'],
  ['EDGE-PROTO-41', 'InvokeTool', 5, 'args', 'Struct'],
  ['EDGE-PROTO-42', 'InvokeTool', 6, 'deadline', 'Duration'],
  ['EDGE-PROTO-43', 'Cancel', 1, 'command_id', 'string'],
  ['EDGE-PROTO-43', 'Cancel', 2, 'reason', 'string'],
  ['EDGE-PROTO-44', 'PushConfig', 1, 'config_delta', 'bytes'],
  ['EDGE-PROTO-44', 'PushConfig', 2, 'version', 'string'],
  ['EDGE-PROTO-46', 'Shutdown', 1, 'grace', 'Duration'],
  ['EDGE-PROTO-47', 'RotateEdgeKeyRequest', 1, 'current_envelope', 'SealNodeEnvelope'],
  ['EDGE-PROTO-48', 'RotateEdgeKeyRequest', 2, 'new_public_key', 'bytes'],
  ['EDGE-PROTO-49', 'RotateEdgeKeyRequest', 3, 'signature_with_new_key', 'bytes'],
  ['EDGE-PROTO-50', 'RotateEdgeKeyResponse', 1, 'node_security_token', 'string'],
  ['EDGE-PROTO-51', 'RotateEdgeKeyResponse', 2, 'issued_at', 'Timestamp'],
  ['EDGE-PROTO-52', 'RotateEdgeKeyResponse', 3, 'expires_at', 'Timestamp'],
  ['EDGE-PROTO-53', 'RotateEdgeKeyResponse', 4, 'overlap_window', 'Duration'],
  ['AMB-009', 'EdgeCapabilities', 10, 'command_timeout', 'Duration'],
  ['AMB-009', 'EdgeCommand', 10, 'server_envelope', 'SealNodeEnvelope'],
  ['AMB-011', 'SealNodeEnvelope', 1, 'node_id', 'string'],
  ['AMB-011', 'SealNodeEnvelope', 2, 'security_token', 'string'],
  ['AMB-011', 'SealNodeEnvelope', 3, 'signature', 'bytes'],
  ['AMB-011', 'SealNodeEnvelope', 4, 'timestamp', 'Timestamp'],
  ['AMB-011', 'SealNodeEnvelope', 5, 'sequence', 'uint64'],
];

describe('the messages that a relay serves', () => {
  it.each(rows)('%s %s has %i, %s, a %s', (...row) => {
    const [, message, number, name, type, oneof] = row;
    const field = messageOf(message).fields.find((one) => one.number === number);
    expect(field === undefined ? [] : [field.name, typeOf(field), field.oneof?.name]).toEqual([name, type, oneof]);
  });

  it('EDGE-PROTO-11 EDGE-PROTO-45 have no tags among the capabilities, and nothing in Drain', () => {
    expect(messageOf('EdgeCapabilities').fields.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 10]);
    expect(messageOf('Drain').fields).toEqual([]);
  });

  it('AMB-009 number what the specification does not list from 10 on', () => {
    for (const name of new Set(rows.map(([, message]) => message))) {
      const listed = new Set(rows.filter(([, message]) => message === name).map(([, , number]) => number));
      const others = messageOf(name).fields.filter(({ number }) => !listed.has(number));
      const own = name === 'ChallengeNodeRequest' ? [] : others.filter(({ number }) => number < 10);
      expect([name, own.map((one) => one.name)]).toEqual([name, []]);
    }
  });

  it('EDGE-PROTO-01 EDGE-PROTO-02 belong to the methods of one service', () => {
    const methods = served.getService('windlass.node.v1.NodeClusterService')?.methods ?? [];
    expect(methods.map(({ name, methodKind, input, output }) => [name, methodKind, input.name, output.name])).toEqual([
      ['AttestNode', 'unary', 'AttestNodeRequest', 'AttestNodeResponse'],
      ['ChallengeNode', 'unary', 'ChallengeNodeRequest', 'ChallengeNodeResponse'],
      ['ConnectEdge', 'bidi_streaming', 'EdgeEvent', 'EdgeCommand'],
      ['RotateEdgeKey', 'unary', 'RotateEdgeKeyRequest', 'RotateEdgeKeyResponse'],
    ]);
  });

  it('EDGE-PROTO-04 name the role of an edge host', () => {
    const values = served.getEnum('windlass.node.v1.NodeRole')?.values ?? [];
    expect(values.map(({ name, number }) => [name, number])).toEqual([
      ['NODE_ROLE_UNSPECIFIED', 0],
      ['NODE_ROLE_EDGE', 1],
    ]);
  });
});
