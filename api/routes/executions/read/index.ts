import type { WorkflowExecution } from '../../../../crds/schema/workflow-execution.ts';
import type { ExecutionRecord } from '../../../../lib/archive/record.ts';
import type { OutputReader } from '../../../../lib/execution/output-reader.ts';
import { defineRoute, json, type Route } from '../../../../lib/http/index.ts';
import { jsonText } from '../../../../lib/json-text.ts';
import type { Cluster } from '../../../cluster/index.ts';
import type { Caller } from '../../../../lib/identity/caller.ts';
import { notFound, unknownExecution } from '../../not-found.ts';
import type { ArchivedExecutions } from '../../archived.ts';
import type { Execution } from '../execution-object.ts';
import { isShown } from '../is-shown.ts';
import { presentExecution } from '../present.ts';
import { readExecution } from './contract.ts';
import { presentFull, presentWithOutput, storedBytes } from './inline-values.ts';

export interface ReadDeps {
  readonly cluster: Pick<Cluster, 'executions'>;
  readonly outputs: OutputReader;
  readonly archived: Pick<ArchivedExecutions, 'find'>;
}

export function createReadRoute(deps: ReadDeps): Route<Caller> {
  const { cluster, outputs, archived } = deps;
  return defineRoute<typeof readExecution, Caller>(readExecution, async (request) => {
    const { params, query, caller } = request;
    const id = params.execution_id;
    let weight = 0;
    const reserve = (bytes: number): Promise<void> => request.reserve((weight = bytes));
    const execution = await cluster.executions.find(caller.tenant, id, reserve);
    if (execution === undefined) {
      const text = await archived.find(caller.tenant, id, async (record) => {
        requireShown(record.execution, caller);
        return JSON.stringify(await presentRecord(record, query.full));
      });
      if (text === undefined) throw notFound(unknownExecution);
      return { kind: 'text', text, mediaType: 'application/json' };
    }
    requireShown(execution, caller);
    const stored = storedBytes(execution, query.full === true);
    if (stored > 0) await reserve(weight + stored * copies);
    if (query.full) return json(await presentFull(outputs, execution));
    if (execution.status?.final_output_ref !== undefined) return json(await presentWithOutput(outputs, execution));
    return { kind: 'text', text: textOf(execution), mediaType: 'application/json' };
  });
}

function requireShown(execution: WorkflowExecution, caller: Caller): void {
  if (!isShown(execution, caller)) throw notFound(unknownExecution);
}

/** A value from the output store takes memory as bytes, as a value and as the text of the answer. */
const copies = 3;

/** The record itself holds large values; omitted ones stay references. */
async function presentRecord({ execution, read }: ExecutionRecord, isFull: boolean): Promise<Execution> {
  const present = isFull ? presentFull : presentWithOutput;
  return { ...(await present(() => read, execution)), archived: true };
}

/** Keyed by the immutable object of the cache: clients poll the same execution again and again. */
const texts = new WeakMap<WorkflowExecution, string>();
/** Characters; a large one is rare, and worth more as memory. */
const longestKept = 16_384;

function textOf(execution: WorkflowExecution): string {
  const known = texts.get(execution);
  if (known !== undefined) return known;
  const text = jsonText(presentExecution(execution)) ?? '';
  if (text.length <= longestKept) texts.set(execution, text);
  return text;
}
