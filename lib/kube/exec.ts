import { AppError } from '../errors.ts';
import type { ExecOptions, ExecResult } from './client.ts';
import { HandshakeError, runOverWebSocket } from './exec-stream.ts';
import { KubeError } from './kube-error.ts';
import type { ObjectRef } from './objects.ts';
import { pathOf, pods } from './resource.ts';
import { defaultTimeoutMs, type Transport } from './transport.ts';

/** See `KubeClient.exec`. A refused stream is asked for once more as a plain request, because only that says why. */
export async function execInPod(transport: Transport, ref: ObjectRef, options: ExecOptions): Promise<ExecResult> {
  const object = `${ref.namespace ?? ''}/${ref.name}`;
  const timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = options.signal === undefined ? timeout : AbortSignal.any([timeout, options.signal]);
  const path = `${pathOf(pods, ref, 'exec')}?${queryOf(options)}`;
  options.guard?.();
  try {
    signal.throwIfAborted();
    const { endpoint, dispatchers, headers } = await transport.connection();
    const target = { url: `${endpoint.server}${path}`, headers, dispatcher: dispatchers.of(endpoint, 'streams') };
    return await runOverWebSocket(target, options, signal);
  } catch (error) {
    const what = `exec pods ${object}`;
    if (options.signal?.aborted)
      throw new AppError('cancelled', `${what}: cancelled`, { reason: 'Cancelled', cause: error });
    if (timeout.aborted)
      throw new AppError('timeout', `${what}: no end in ${timeoutMs} ms`, { reason: 'NoAnswer', cause: error });
    throw error instanceof HandshakeError ? await reasonOfRefusal(transport, { object, path }, error) : error;
  }
}

/** A server that would have accepted the stream answers a plain request by 400; then the first error counts. */
async function reasonOfRefusal(
  transport: Transport,
  { object, path }: { readonly object: string; readonly path: string },
  refusal: HandshakeError,
): Promise<unknown> {
  try {
    await transport.send({ verb: 'connect', resource: 'pods/exec', object, method: 'GET', path, timeoutMs: 10_000 });
  } catch (error) {
    if (error instanceof KubeError && error.status !== 400) return error;
    if (error instanceof KubeError && !/upgrade/i.test(error.serverMessage)) return error;
  }
  return refusal;
}

function queryOf(options: ExecOptions): string {
  const query = new URLSearchParams({ stdout: 'true', stderr: 'true' });
  if (options.stdin !== undefined) query.set('stdin', 'true');
  if (options.container !== undefined) query.set('container', options.container);
  for (const argument of options.command) query.append('command', argument);
  return query.toString();
}
