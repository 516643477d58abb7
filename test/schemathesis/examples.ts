import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { contracts } from '../../api/routes/contracts.ts';
import type { Contract } from '../../lib/http/contract.ts';

/**
 * Requests that are made up for each operation, beside those that cover its boundaries one by one. SCHEMATHESIS_EXAMPLES
 * asks for more.
 */
export const leastExamples = Number(process.env['SCHEMATHESIS_EXAMPLES'] ?? 15);

/** Operations that were given fewer, one sentence each. `events` is the file that Schemathesis writes meanwhile. */
export async function shortOf(events: string): Promise<string[]> {
  const counts = await countExamples(events);
  return contracts.filter(takesInput).flatMap(({ method, path }) => {
    const label = `${method.toUpperCase()} ${path}`;
    const count = counts.get(label) ?? 0;
    return count >= leastExamples ? [] : [`${label} was given ${count} examples, fewer than ${leastExamples}`];
  });
}

/** An operation without any parameter has one request, and no second one. */
const takesInput = ({ params, query, headers, body, access }: Contract): boolean =>
  access !== 'public' || [params, query, headers, body].some((part) => part !== undefined);

interface ScenarioFinished {
  readonly phase: string;
  readonly recorder: { readonly label: string; readonly cases: Readonly<Record<string, unknown>> };
}

async function countExamples(events: string): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for await (const line of createInterface({ input: createReadStream(events) })) {
    const { ScenarioFinished: scenario } = JSON.parse(line) as { readonly ScenarioFinished?: ScenarioFinished };
    if (scenario?.phase !== 'fuzzing') continue;
    const { label, cases } = scenario.recorder;
    counts.set(label, (counts.get(label) ?? 0) + Object.keys(cases).length);
  }
  return counts;
}
