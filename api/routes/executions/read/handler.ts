import type { OutputReader } from '../../../../lib/execution/output-reader.ts';
import { defineRoute, json, type Route } from '../../../../lib/http/index.ts';
import type { Cluster } from '../../../cluster/index.ts';
import type { Caller } from '../../../identity/caller.ts';
import { notFound, unknownExecution } from '../../not-found.ts';
import { findExecution } from '../find-execution.ts';
import { presentExecution } from '../present.ts';
import { readExecution } from './contract.ts';
import { presentFull } from './inline-values.ts';

export interface ReadDeps {
  readonly cluster: Pick<Cluster, 'executions'>;
  readonly outputs: OutputReader;
}

export function createReadRoute({ cluster, outputs }: ReadDeps): Route<Caller> {
  return defineRoute<typeof readExecution, Caller>(readExecution, async ({ params, query, caller }) => {
    const known = await findExecution(cluster.executions, caller, params.execution_id);
    const execution = await cluster.executions.whole(known);
    if (execution === undefined) throw notFound(unknownExecution);
    return json(query.full ? await presentFull(outputs, execution) : presentExecution(execution));
  });
}
