import { Readable } from 'node:stream';
import type { Clock } from '../../../../lib/clock.ts';
import { ExecutionError } from '../../../../lib/execution/execution-error.ts';
import { logSources } from '../../../../lib/execution/log-source.ts';
import type { OutputReader } from '../../../../lib/execution/output-reader.ts';
import type { OutputPiece } from '../../../../lib/execution/read-logs.ts';
import { defineRoute, HttpError, type Route } from '../../../../lib/http/index.ts';
import type { KubeClient } from '../../../../lib/kube/index.ts';
import type { Cluster } from '../../../cluster/index.ts';
import type { Caller } from '../../../../lib/identity/caller.ts';
import { findExecution } from '../find-execution.ts';
import { readExecutionLogs } from './contract.ts';
import { executionOutput } from './follow-output.ts';

export interface LogsDeps {
  readonly kube: Pick<KubeClient, 'listAll' | 'readLog'>;
  readonly clock: Clock;
  readonly cluster: Pick<Cluster, 'executions'>;
  readonly outputs: OutputReader;
}

export function createLogsRoute({ cluster, ...deps }: LogsDeps): Route<Caller> {
  const { executions } = cluster;
  return defineRoute<typeof readExecutionLogs, Caller>(readExecutionLogs, async (request) => {
    const { params, query, caller, signal } = request;
    let weight = 0;
    const execution = await findExecution(executions, caller, params.execution_id, (bytes) =>
      request.reserve((weight = bytes)),
    );
    const reserve = (bytes: number): Promise<void> => request.reserve(weight + bytes);
    const { stream, follow, ...choice } = query;
    const latest = async () => {
      const found = await executions.find(caller.tenant, execution.metadata.uid ?? '');
      return found && executions.whole(found);
    };
    if (!follow) assertKnown(() => logSources(execution, choice));
    const pieces = executionOutput({ ...deps, latest, signal, reserve }, execution, { ...choice, follow });
    const output = bytesOf(pieces, stream);
    return { kind: 'stream', stream: Readable.from(output, { objectMode: false }), mediaType, isEndless: follow };
  });
}

const { mediaType } = readExecutionLogs.success;

async function* bytesOf(
  pieces: AsyncGenerator<OutputPiece>,
  wanted: OutputPiece['stream'] | undefined,
): AsyncGenerator<Uint8Array> {
  for await (const { stream, bytes } of pieces) if (wanted === undefined || stream === wanted) yield bytes;
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
