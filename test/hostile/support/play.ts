import { checkDefinition } from '../../../lib/definition/check.ts';
import { canonicalHash } from '../../../lib/definition/canonical.ts';
import { changedFields } from '../../../lib/definition/changed-fields.ts';
import type { ManifestReader } from '../../../lib/manifest/index.ts';
import { toManifest } from '../../../lib/manifest/convert.ts';
import { writeYaml } from '../../../lib/manifest/write-yaml.ts';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import { createBlob, locatorText } from '../../../lib/output-store/blob.ts';
import { LargeValue } from '../../../lib/template/large-value.ts';
import type { World } from '../../builders/world.ts';
import { anOutcome } from '../../builders/world-pods.ts';
import { Arena } from './arena.ts';
import { type Genes, specOf, workflowsOf } from './candidates.ts';
import { hostileShapes } from './json-shapes.ts';
import { cpuMsOf, restedMsOf, slowness, turnMs, watchTurns } from './turns.ts';

/** Cost of a candidate. */
export interface Found {
  readonly genes: Genes;
  /** Longest turn of the event loop, in milliseconds of thread CPU at rest. */
  readonly ms: number;
  /** Where that was. */
  readonly where: string;
  readonly problem?: string;
}

/** Registers one candidate, plays it to its end and measures the turns that this takes. */
export async function play(candidate: Genes, manifests: ManifestReader): Promise<Found> {
  const [workflow, child] = workflowsOf(candidate);
  const registration = await register(candidate, workflow, manifests);
  if (checkDefinition(workflow.spec).some(({ severity }) => severity === 'error')) {
    return { genes: candidate, ...registration };
  }
  const arena = new Arena(workflow, { spec: specOf(candidate), workflows: [child] });
  await finish(arena, candidate);
  const { phase } = arena.world.status;
  const longest = arena.longestMs > registration.ms ? { ms: arena.longestMs, where: 'deciding' } : registration;
  if (phase === 'completed' || phase === 'failed') return { genes: candidate, ...longest };
  return { genes: candidate, ...longest, problem: `ended as ${phase}` };
}

type Took = Pick<Found, 'ms' | 'where'>;

/** Each part has a turn of the event loop to itself in API and controllers. */
async function register({ text }: Genes, workflow: Workflow, manifests: ManifestReader): Promise<Took> {
  const { spec } = workflow;
  // As it is read from the API server: nothing of it is the same object.
  const stored = structuredClone({ ...spec, version: '1.0.1' });
  const parts: Took[] = [
    { where: 'checking the definition', ms: atRest(() => checkDefinition(spec)) },
    { where: 'hashing the definition', ms: atRest(() => canonicalHash(spec)) },
    { where: 'comparing definitions', ms: atRest(() => changedFields(spec, stored)) },
  ];
  if (text !== 'none') parts.push({ where: 'reading the manifest', ms: await reading(text, workflow, manifests) });
  return parts.reduce((longest, part) => (part.ms > longest.ms ? part : longest));
}

function atRest(run: () => unknown): number {
  const ms = cpuMsOf(run);
  // A collection of garbage in each of three runs, or a neighbour who has left by then, is not the work's.
  return ms < turnMs ? ms : restedMsOf(run, turnMs);
}

/** The longest turn of this thread while another one reads. */
async function reading(text: 'yaml' | 'json', workflow: Workflow, manifests: ManifestReader): Promise<number> {
  const manifest = toManifest(workflow);
  const source = text === 'json' ? JSON.stringify(manifest) : writeYaml(manifest);
  let shortest = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 3 && shortest >= turnMs; run += 1) {
    const turns = watchTurns();
    await manifests.read(source, 'eve').catch(() => undefined);
    turns.stop();
    shortest = Math.min(shortest, turns.longestMs);
  }
  return shortest >= turnMs ? shortest / slowness() : shortest;
}

/** Gives the state whatever its kind waits for, and plays on. */
async function finish(arena: Arena, candidate: Genes): Promise<void> {
  const { world } = arena;
  await arena.run();
  const output = hostileShapes[candidate.output] ?? '';
  for (const [index, what] of world.running().entries()) {
    // The same text in two places is stored once, so each has its own.
    world.end(what, anOutcome({ stdout: output.padEnd(output.length + index) }));
  }
  endChild(world, output);
  signals(world, candidate);
  await arena.run();
  for (const what of world.running()) world.end(what, anOutcome({ exitCode: 1 }));
  await arena.run();
}

/** The child leaves values in its own store, one as JSON and one as text. */
function endChild(world: World, text: string): void {
  if (world.children.size === 0) return;
  const data = Buffer.from(text);
  const { ref } = createBlob(data);
  world.blobs.set(ref, data);
  const large = (encoding: 'json' | 'text'): LargeValue =>
    new LargeValue(locatorText({ executionUid: 'child', ref, encoding, bytes: data.byteLength }), data.byteLength);
  world.endChild({
    phase: 'completed',
    result: { a: large('json') },
    blackboard: { a: large('json'), b: large('text') },
  });
}

/** Answers that match nothing, and the last one that does. All signals together fit into an object. */
function signals(world: World, { signals: count, response: length }: Genes): void {
  const { current } = world.status;
  if (current?.kind !== 'Human') return;
  const fitting = Math.min(length, Math.floor(1_000_000 / count));
  for (let index = 1; index < count; index += 1) world.signal(current.state, 'n'.repeat(fitting));
  world.signal(current.state, 'yes', { feedback: 'f'.repeat(fitting) });
}
