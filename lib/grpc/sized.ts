import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';
import { GrpcError } from './grpc-error.ts';

/** Takes the place of a message that is larger than its method takes: throwing while reading would be INTERNAL. */
class Oversized {
  readonly bytes: number;
  readonly most: number;

  constructor(bytes: number, most: number) {
    this.bytes = bytes;
    this.most = most;
  }
}

/** A method with a bound of its own. */
type SizedMethod<In, Out> = MethodDefinition<In, Out> & {
  /** A server with `received` (`listenGrpc`) reads no more of a message than that. */
  readonly mostBytes: number;
};

/**
 * The method with a bound of its own for messages, unpacked, below the bound of its server. A larger one is not parsed,
 * and its call ends with RESOURCE_EXHAUSTED.
 */
export function sized<In, Out>(method: MethodDefinition<In, Out>, most: number): SizedMethod<In, Out> {
  const requestDeserialize = (bytes: Buffer): In =>
    // Only `assertSized` ever sees it.
    bytes.byteLength > most ? (new Oversized(bytes.byteLength, most) as never) : method.requestDeserialize(bytes);
  return { ...method, requestDeserialize, mostBytes: most };
}

/** A service whose methods have the same bound. */
export const sizedAll = (service: ServiceDefinition, most: number): ServiceDefinition =>
  Object.fromEntries(Object.entries(service).map(([name, method]) => [name, sized(method, most)]));

/** @throws GrpcError `limit_exceeded` for a message that `sized` has not let through. */
export function assertSized(message: unknown): void {
  if (!(message instanceof Oversized)) return;
  throw new GrpcError('limit_exceeded', `the message has ${message.bytes} bytes; this method takes ${message.most}`);
}
