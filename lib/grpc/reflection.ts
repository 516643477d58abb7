import { createFileRegistry, type DescFile, type FileRegistry, fromBinary, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { type ServerDuplexStream, status } from '@grpc/grpc-js';

/** The messages of grpc.reflection.v1, in the form of ts-proto, as far as they count here. */
type ReflectionQuestion =
  | { readonly $case: 'fileByFilename' | 'fileContainingSymbol' | 'allExtensionNumbersOfType'; readonly value: string }
  | { readonly $case: 'listServices'; readonly value: string }
  | { readonly $case: 'fileContainingExtension'; readonly value: unknown };

type ReflectionAnswer =
  | {
      readonly $case: 'fileDescriptorResponse';
      readonly value: { readonly fileDescriptorProto: readonly Uint8Array[] };
    }
  | {
      readonly $case: 'listServicesResponse';
      readonly value: { readonly service: readonly { readonly name: string }[] };
    }
  | { readonly $case: 'errorResponse'; readonly value: { readonly errorCode: number; readonly errorMessage: string } };

interface ReflectionRequest {
  readonly host: string;
  readonly messageRequest?: ReflectionQuestion | undefined;
}

interface ReflectionResponse {
  readonly validHost: string;
  readonly originalRequest: ReflectionRequest;
  readonly messageResponse: ReflectionAnswer;
}

/** Answers one question about the services that a server has. */
type Reflection = (request: ReflectionRequest) => ReflectionResponse;

/** `descriptorSet` is a serialised google.protobuf.FileDescriptorSet; `services` are the names that are listed. */
export function createReflection(descriptorSet: Uint8Array, services: readonly string[]): Reflection {
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, descriptorSet));
  const listed = services.map((name) => ({ name }));

  function answer(question: ReflectionQuestion | undefined): ReflectionAnswer {
    switch (question?.$case) {
      case 'listServices':
        return { $case: 'listServicesResponse', value: { service: listed } };
      case 'fileByFilename':
        return withFile(registry.getFile(question.value));
      case 'fileContainingSymbol':
        return withFile(fileOf(registry, question.value));
      case 'fileContainingExtension':
      case 'allExtensionNumbersOfType':
        return failed(status.NOT_FOUND, 'there are no extensions');
      case undefined:
        return failed(status.INVALID_ARGUMENT, 'the request asks nothing');
    }
  }

  return (request) => ({
    validHost: request.host,
    originalRequest: request,
    messageResponse: answer(request.messageRequest),
  });
}

/** Serves it as the bidirectional stream of the standard: an answer for each question, in order. */
export const serveReflection =
  (reflection: Reflection) =>
  (call: ServerDuplexStream<ReflectionRequest, ReflectionResponse>): void => {
    call.on('data', (request: ReflectionRequest) => call.write(reflection(request)));
    call.on('end', () => call.end());
    call.on('error', () => call.end());
  };

function withFile(file: DescFile | undefined): ReflectionAnswer {
  if (file === undefined) return failed(status.NOT_FOUND, 'no such file or symbol');
  const fileDescriptorProto = withDependencies(file).map(({ proto }) => toBinary(FileDescriptorProtoSchema, proto));
  return { $case: 'fileDescriptorResponse', value: { fileDescriptorProto } };
}

/** The file first, then what it imports. */
function withDependencies(file: DescFile, seen = new Set<DescFile>()): DescFile[] {
  seen.add(file);
  for (const dependency of file.dependencies) if (!seen.has(dependency)) withDependencies(dependency, seen);
  return [...seen];
}

/** The file of a message, enumeration or service, or of what is inside one, such as a method. */
function fileOf(registry: FileRegistry, symbol: string): DescFile | undefined {
  const found = registry.get(symbol);
  if (found !== undefined) return found.file;
  return registry.get(symbol.slice(0, Math.max(0, symbol.lastIndexOf('.'))))?.file;
}

const failed = (errorCode: number, errorMessage: string): ReflectionAnswer => ({
  $case: 'errorResponse',
  value: { errorCode, errorMessage },
});
