import type { ServerInterceptor } from '@grpc/grpc-js';
import { MessageDecoder } from './message-decoder.ts';
import type { ReceivedMessages } from './received-messages.ts';

/** A method as far as the sizes of its messages count. */
interface Method {
  readonly path: string;
  readonly requestStream: boolean;
  /** From `sized`. */
  readonly mostBytes?: number | undefined;
}

interface MeterOptions {
  readonly received: ReceivedMessages;
  readonly methods: readonly Method[];
  readonly maxMessageBytes: number;
  /** The owner of the place of a request, by the address of its socket and `x-forwarded-for`. Default: the network of the socket. */
  readonly clientOf?: ((address: string, forwarded: string | undefined) => string) | undefined;
}

/**
 * Reads the messages of all calls by a decoder of ours (grpc-js 1.14.7): that of the package keeps each part of a message as
 * an object of its own, so that 4 MiB in parts of a byte would take some hundreds of MiB, and waits for the rest for ever.
 */
export function meterMessages({ received, methods, maxMessageBytes, clientOf }: MeterOptions): ServerInterceptor {
  const byPath = new Map(methods.map((method) => [method.path, method]));
  return ({ path }, call) => {
    const method = byPath.get(path);
    const most = method?.mostBytes ?? maxMessageBytes;
    // The bytes of a single request are bounded by its method: no tenant is known who could pay for them.
    const isShared = method?.requestStream === true && method.mostBytes === undefined;
    MessageDecoder.replaceIn(call, { received, most, isShared, clientOf });
    return call as never;
  };
}
