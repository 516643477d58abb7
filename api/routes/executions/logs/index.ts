import { Readable } from 'node:stream';
import type { Clock } from '../../../../lib/clock.ts';
import { ExecutionError } from '../../../../lib/execution/execution-error.ts';
import { logSources } from '../../../../lib/execution/log-source.ts';
import type { OutputReader } from '../../../../lib/execution/output-reader.ts';
import type { OutputPiece } from '../../../../lib/execution/read-logs.ts';
import { defineRoute, HttpError, type Route } from '../../../../lib/http/index.ts';
import type { RouteRequest } from '../../../../lib/http/route.ts';
import type { KubeClient } from '../../../../lib/kube/index.ts';
import type { Cluster } from '../../../cluster/index.ts';
import type { Caller } from '../../../../lib/identity/caller.ts';
import { findExecution } from '../find-execution.ts';
import { readExecutionLogs } from './contract.ts';
import { executionOutput, type LogLook, lookAt } from './follow-output.ts';

export interface LogsDeps {
  readonly kube: Pick<KubeClient, 'listAll' | 'readLog'>;
  readonly clock: Clock;
  readonly cluster: { readonly executions: Pick<Cluster['executions'], 'find' | 'versionOf'> };
  readonly outputs: OutputReader;
}

export function createLogsRoute({ cluster, ...deps }: LogsDeps): Route<Caller> {
  const { executions } = cluster;
  return defineRoute<typeof readExecutionLogs, Caller>(readExecutionLogs, async (request) => {
    const { query, caller, signal } = request;
    const { stream, ...wish } = query;
    const { tenant } = caller;
    const memory = memoryOf(request);
    const first = await firstLook(executions, request, memory);
    const { uid = '' } = first.metadata;
    const version = (): string | undefined => executions.versionOf(tenant, uid);
    const latest = () => executions.find(tenant, uid, memory.ofExecution);
    const pieces = executionOutput({ ...deps, ...memory, version, latest, signal }, first, wish);
    const output = Readable.from(bytesOf(pieces, stream), { objectMode: false });
    return { kind: 'stream', stream: output, mediaType, isEndless: wish.follow };
  });
}

const { mediaType } = readExecutionLogs.success;

/** The memory of one request: that of the execution, and beside it that of a value of the output store. */
function memoryOf(request: Pick<LogsRequest, 'reserve'>) {
  let weight = 0;
  return {
    ofExecution: (bytes: number): Promise<void> => request.reserve((weight = bytes)),
    reserve: (bytes: number): Promise<void> => request.reserve(weight + bytes),
    letGo: (): void => void request.reserve((weight = 0)),
  };
}

type LogsRequest = RouteRequest<typeof readExecutionLogs, Caller>;

/** A function of its own: in the handler, what outlives it would keep the execution. */
async function firstLook(
  executions: LogsDeps['cluster']['executions'],
  { params, query, caller }: LogsRequest,
  { ofExecution }: ReturnType<typeof memoryOf>,
): Promise<LogLook> {
  const execution = await findExecution(executions, caller, params.execution_id, ofExecution);
  if (!query.follow) assertKnown(() => logSources(execution, query));
  return lookAt(execution, query);
}

/** How far a client has read is seen between two pieces alone. */
const pieceBytes = 32_768;

async function* bytesOf(
  pieces: AsyncGenerator<OutputPiece>,
  wanted: OutputPiece['stream'] | undefined,
): AsyncGenerator<Uint8Array> {
  for await (const { stream, bytes } of pieces) {
    if (wanted !== undefined && stream !== wanted) continue;
    for (let sent = 0; sent < bytes.length; sent += pieceBytes) yield bytes.subarray(sent, sent + pieceBytes);
  }
}

function assertKnown(find: () => unknown): void {
  try {
    find();
  } catch (error) {
    if (!(error instanceof ExecutionError)) throw error;
    const { known = [] } = error.facts;
    const hint = known.length === 0 ? 'No command has run yet.' : `There are: ${known.join(', ')}.`;
    throw new HttpError({ code: 'not_found', error: 'log_not_found', message: `${error.message}. ${hint}` });
  }
}
