import type { KeyObject } from 'node:crypto';
import { type Clock, resultWithin } from '../../lib/clock.ts';
import { type EdgeEventCase, millisecondsOf, openEdgeCommand, sealEdgeEvent } from '../../lib/edge/index.ts';
import { newUuid } from '../../lib/ids.ts';
import type { Logger } from '../../lib/logger.ts';
import { sameJson } from '../../lib/same-json.ts';
import { type EdgeCapabilities, type EdgeCommand, EdgeResult } from '../../proto/generated/windlass/node/v1/node.ts';
import type { MergedConfig } from '../config/merged-config.ts';
import type { Journal } from '../journal/journal.ts';
import type { HostCredential } from '../state/host-state.ts';
import type { Executor, ResultSink } from '../work/executor.ts';
import { unreadableResult } from '../work/results.ts';
import { Outgoing } from './outgoing.ts';
import { type EdgeStream, relayError } from './relay-client.ts';

interface SessionDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly nodeId: string;
  /** Pinned at the enrollment. */
  readonly relayKey: KeyObject;
  /** As it is now: a rotation may change it. */
  readonly heartbeatMs: () => number;
  /** As it is now: a rotation counts from the next envelope on (EDGE-FLOW-22). */
  readonly credential: () => HostCredential;
  readonly journal: Journal;
  readonly executor: Executor;
  readonly config: MergedConfig;
  readonly capabilities: () => EdgeCapabilities;
  /** A Shutdown of the server: the daemon ends after the session. */
  readonly onShutdown: () => void;
}

/** One stream, from Hello to its end. */
export interface StreamSession extends ResultSink {
  /** Resolves where the stream ended without an error. @throws AppError as `relayError`, or `EnvelopeInvalid`. */
  run(): Promise<void>;
  /** Breaks off what is under way after the grace, sends every result, and ends the stream. */
  leave(graceMs: number, reason: string): Promise<void>;
}

/** How long results may take to be written before the stream ends. */
const flushMs = 5_000;

/** How long the server may take to end its side. */
const goodByeMs = 2_000;

/** Takes over a stream that was just opened. */
export function createStreamSession(deps: SessionDeps, stream: EdgeStream): StreamSession {
  const streamId = newUuid();
  const over = new AbortController();
  const outgoing = new Outgoing({ stream, over: over.signal, seal: sealer(deps, streamId) });
  const outbox = createOutbox(outgoing, deps);
  const leave = leaver({ ...deps, outgoing }, stream, over.signal);
  return {
    ...outbox,
    leave,
    async run() {
      let after = 0n;
      // Without a listener an error between two reads would end the process.
      stream.on('error', () => undefined);
      sayHello({ ...deps, streamId }, outgoing);
      for (const id of deps.journal.waiting()) outbox.result(id);
      void keepTalking(deps, outgoing, over.signal);
      try {
        for await (const bytes of stream as AsyncIterable<Buffer>) {
          const opened = openEdgeCommand(bytes, { key: deps.relayKey, nodeId: deps.nodeId, streamId, after });
          after = opened.sequence;
          await take({ ...deps, outgoing, leave }, opened.command);
        }
      } catch (error) {
        throw relayError(error);
      } finally {
        over.abort();
        stream.cancel();
      }
    },
  };
}

/** Signs with the key and the token of the moment, in a sequence that rises. */
function sealer({ clock, nodeId, credential }: SessionDeps, streamId: string): (event: EdgeEventCase) => Uint8Array {
  let sequence = 0n;
  return (event) => {
    const { privateKey: key, token } = credential();
    sequence += 1n;
    return sealEdgeEvent(event, { key, token, nodeId, streamId, sequence, now: clock.now() });
  };
}

function leaver(
  { executor, clock, outgoing }: SessionDeps & { readonly outgoing: Outgoing },
  stream: EdgeStream,
  over: AbortSignal,
): StreamSession['leave'] {
  return async (graceMs, reason) => {
    await executor.stop(graceMs, reason);
    await resultWithin(clock, flushMs, outgoing.flush());
    stream.end();
    // A server that does not end its side, or cannot be reached, is not waited for.
    void clock.sleep(goodByeMs, over).then(() => stream.cancel());
  };
}

function sayHello(
  { capabilities, streamId }: Pick<SessionDeps, 'capabilities'> & { readonly streamId: string },
  outgoing: Outgoing,
): void {
  outgoing.send({ $case: 'hello', value: { envelope: undefined, capabilities: capabilities(), streamId } });
}

/** Heartbeats, and capabilities where they have changed. */
async function keepTalking(deps: SessionDeps, outgoing: Outgoing, over: AbortSignal): Promise<void> {
  let known = deps.capabilities();
  while (!over.aborted) {
    await deps.clock.sleep(deps.heartbeatMs(), over);
    if (over.aborted) return;
    outgoing.send({ $case: 'heartbeat', value: { envelope: undefined, sentAt: new Date(deps.clock.now()) } });
    const capabilities = deps.capabilities();
    if (sameJson(known, capabilities)) continue;
    known = capabilities;
    outgoing.send({ $case: 'capabilityUpdate', value: { envelope: undefined, capabilities } });
  }
}

const progress = (commandId: string, chunk: NonNullable<ChunkKind>): EdgeEventCase => ({
  $case: 'commandProgress',
  value: { envelope: undefined, commandId, chunk: { kind: chunk } },
});
type ChunkKind = NonNullable<Extract<EdgeEventCase, { $case: 'commandProgress' }>['value']['chunk']>['kind'];

const status = (commandId: string, state: string, message = ''): EdgeEventCase =>
  progress(commandId, { $case: 'status', value: { state, message } });

/** A file that cannot be read must not end each stream: the host would be out of service for good. */
async function resultIn(
  { journal, logger }: Pick<SessionDeps, 'journal' | 'logger'>,
  commandId: string,
): Promise<EdgeResult | undefined> {
  try {
    const bytes = await journal.result(commandId);
    const result = bytes && EdgeResult.decode(bytes);
    if (result === undefined || result.outcome !== undefined) return result;
    logger.error({ file: `${commandId}.result` }, 'result in the journal holds no outcome; it is reported as unknown');
  } catch (err) {
    logger.error(
      { file: `${commandId}.result`, err },
      'result in the journal cannot be read; it is reported as unknown',
    );
  }
  return unreadableResult;
}

function createOutbox(outgoing: Outgoing, deps: Pick<SessionDeps, 'journal' | 'logger'>): ResultSink {
  const resultEvent = (commandId: string, result: EdgeResult): EdgeEventCase => ({
    $case: 'commandResult',
    value: { envelope: undefined, commandId, result },
  });
  return {
    result: (commandId) =>
      outgoing.sendLater(async () => {
        const result = await resultIn(deps, commandId);
        return result && resultEvent(commandId, result);
      }),
    unkept: (commandId, result) => outgoing.send(resultEvent(commandId, result)),
    started: (commandId) => void outgoing.offer(status(commandId, 'started'), 64),
    output: (commandId, name, chunk) =>
      void outgoing.offer(progress(commandId, { $case: name, value: chunk }), chunk.length),
  };
}

interface TakeDeps extends SessionDeps {
  readonly outgoing: Outgoing;
  readonly leave: StreamSession['leave'];
}

/** One message of the server; they are taken one after the other, so that a PushConfig counts for the next InvokeTool. */
async function take(deps: TakeDeps, { command, resultAck }: EdgeCommand): Promise<void> {
  await carryOut(deps, command);
  // Behind the command, which a journal that fails must not lose.
  if (resultAck !== undefined) await deps.journal.stored(resultAck.commandIds);
}

async function carryOut(deps: TakeDeps, command: EdgeCommand['command']): Promise<void> {
  switch (command?.$case) {
    case undefined:
      return;
    case 'invokeTool':
      return deps.executor.invoke(command.value);
    case 'cancel':
      return deps.executor.cancel(command.value.commandId, command.value.reason);
    case 'pushConfig':
      return pushConfig(deps, command.value.configDelta, command.value.version);
    case 'drain':
      return drain(deps);
    case 'shutdown':
      deps.onShutdown();
      void deps.leave(millisecondsOf(command.value.grace) ?? 0, 'the server shut the daemon down');
  }
}

/** Acknowledges when the last result is written (requirements AMB-010); meanwhile acknowledgements are taken. */
function drain({ executor, outgoing }: TakeDeps): void {
  void executor.drain().then(() => outgoing.send(status('', 'drained')));
}

/** A change that is refused leaves everything as it was; its author learns why from the log of the host alone. */
async function pushConfig(
  { config, capabilities, outgoing, logger }: TakeDeps,
  delta: Uint8Array,
  version: string,
): Promise<void> {
  const before = capabilities();
  try {
    await config.push(delta, version);
    logger.info({ version }, 'configuration pushed');
  } catch (err) {
    logger.warn({ version, err }, 'pushed configuration refused');
    return;
  }
  const after = capabilities();
  if (!sameJson(before, after))
    outgoing.send({ $case: 'capabilityUpdate', value: { envelope: undefined, capabilities: after } });
}
