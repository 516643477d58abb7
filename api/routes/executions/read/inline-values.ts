import { limits } from '../../../../crds/limits.ts';
import type { Json } from '../../../../crds/schema/parts.ts';
import type { WorkflowExecution } from '../../../../crds/schema/workflow-execution.ts';
import type { BlobRef, StoredValue } from '../../../../crds/schema/workflow-execution-status.ts';
import { AppError } from '../../../../lib/errors.ts';
import type { OutputReader } from '../../../../lib/execution/output-reader.ts';
import { type BlobReader, blobValue, fill } from '../../../../lib/execution/whole-value.ts';
import type { Execution } from '../execution-object.ts';
import { isTruncated, presentExecution, reference } from '../present.ts';

/**
 * The execution with its large parts in their places, as far as they take no more than 10 MiB (requirements AMB-154).
 * A part that is gone from the store, or has no room any more, stays a reference.
 */
export async function presentFull(outputs: OutputReader, execution: WorkflowExecution): Promise<Execution> {
  const presented = presentExecution(execution);
  const { final_output_ref: output, blackboard = {} } = execution.status ?? {};
  const parts = new Parts(outputs(execution));
  const final_output = output === undefined ? undefined : await parts.take(output);
  const values: [string, Json][] = [];
  for (const [key, stored] of Object.entries(blackboard)) values.push([key, await inlined(stored, parts)]);
  return {
    ...presented,
    blackboard: Object.fromEntries(values),
    ...(final_output === undefined ? {} : { final_output: final_output as Execution['final_output'] }),
  };
}

/** The execution with its `final_output` in full, up to 10 MiB, whatever was asked for (requirements AMB-187). */
export async function presentWithOutput(outputs: OutputReader, execution: WorkflowExecution): Promise<Execution> {
  const { final_output_ref: output } = execution.status ?? {};
  const whole = output && (await new Parts(outputs(execution)).take(output));
  return {
    ...presentExecution(execution),
    ...(whole !== undefined && { final_output: whole as Execution['final_output'] }),
  };
}

/** Bytes that `presentFull`, or else `presentWithOutput`, reads from the output store at most. */
export function storedBytes({ status }: WorkflowExecution, isFull: boolean): number {
  const { final_output_ref: output, blackboard = {} } = status ?? {};
  const others = isFull ? Object.values(blackboard).flatMap(({ refs = [] }) => refs) : [];
  const bytes = [...(output === undefined ? [] : [output]), ...others].reduce((sum, part) => sum + part.bytes, 0);
  return Math.min(bytes, limits.inlinedValuesBytes);
}

async function inlined(stored: StoredValue, parts: Parts): Promise<Json> {
  if (stored.refs === undefined) return stored.value ?? null;
  const places = stored.refs.map(async (part): Promise<[string, Json]> => {
    return [part.path, (await parts.take(part)) ?? reference(part, isTruncated(stored, part))];
  });
  return fill(stored, new Map(await Promise.all(places)));
}

/** Reads each part once, however many places it has, and counts what the answer grows by. */
class Parts {
  readonly #read: BlobReader;
  readonly #known = new Map<string, Promise<Json | undefined>>();
  #room: number = limits.inlinedValuesBytes;

  constructor(read: BlobReader) {
    this.#read = read;
  }

  async take(part: BlobRef): Promise<Json | undefined> {
    if (part.bytes > this.#room) return undefined;
    this.#room -= part.bytes;
    const key = `${part.encoding}/${part.ref}`;
    const known = this.#known.get(key) ?? this.#load(part);
    this.#known.set(key, known);
    return known;
  }

  async #load(part: BlobRef): Promise<Json | undefined> {
    try {
      return await blobValue(part, this.#read);
    } catch (error) {
      if (error instanceof AppError && error.code === 'not_found') return undefined;
      throw error;
    }
  }
}
