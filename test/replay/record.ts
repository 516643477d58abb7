import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { isTerminal } from '../../lib/execution/finished.ts';
import { World } from '../builders/world.ts';
import { type Recorded, type Recording, toRecorded } from './recording.ts';
import { scenarios } from './scenarios.ts';

/**
 * Records how this version decides the workflows of examples/, and what may happen to one (`scenarios.ts`). Run once for each release, and never over an old file:
 * a recording of an earlier version is what later ones are held to.
 * usage: node test/replay/record.ts VERSION
 */
const [version] = process.argv.slice(2);
if (version === undefined) throw new Error('usage: node test/replay/record.ts VERSION');

const root = join(import.meta.dirname, '../..');
const files = readdirSync(join(root, 'examples')).filter((file) => file.endsWith('.yaml') && file !== 'expected.yaml');
const workflows = files.flatMap((file) =>
  parseAllDocuments(readFileSync(join(root, 'examples', file), 'utf8')).map((document) => document.toJS() as Workflow),
);

for (const workflow of workflows.filter(({ kind }) => kind === 'Workflow')) {
  const world = new World(workflow, { workflows, spec: { input: inputOf(workflow), intent: 'recorded' } });
  for (const name of ['workspace', ...(workflow.spec.storage?.shared_volumes ?? []).map((volume) => volume.name)]) {
    world.volumes[name] = { volume: name, phase: 'ready', claim: `claim-${name}` };
  }
  write(workflow.metadata.name, record(world, help));
}
for (const { name, workflow, options, happen } of scenarios) {
  const events = [...happen];
  write(
    name,
    record(new World(workflow, options), (world) => events.shift()?.(world)),
  );
}

function write(name: string, decisions: readonly Recorded[]): void {
  const recording: Recording = { name, version: version ?? '', decisions };
  const file = join(import.meta.dirname, `${version}-${name}.json`);
  writeFileSync(file, `${JSON.stringify(recording)}\n`, { flag: 'wx' });
}

/** Decides until the execution has ended; between two decisions something happens to it. */
function record(world: World, happen: (world: World, round: number) => void): Recorded[] {
  const decisions: Recorded[] = [];
  for (let round = 0; round < 200 && !isTerminal(world.status); round += 1) {
    const decision = world.step();
    const { lastFacts } = world;
    if (lastFacts !== undefined) decisions.push(toRecorded(lastFacts, world.now, decision));
    happen(world, round);
  }
  if (!isTerminal(world.status)) throw new Error('the execution never ends');
  return decisions;
}

/** Something of the right type for every input that is required. */
function inputOf({ spec }: Workflow): Record<string, string | number> {
  const { required = [], properties = {} } = (spec.input_schema ?? {}) as {
    required?: string[];
    properties?: Record<string, { type?: string; enum?: string[] }>;
  };
  const value = (name: string) => properties[name]?.enum?.[0] ?? (properties[name]?.type === 'string' ? 'x' : 1);
  return Object.fromEntries(required.map((name) => [name, value(name)]));
}

function help(world: World, round: number): void {
  const [running] = world.running();
  if (running !== undefined) world.end(running, { exitCode: round % 4 === 3 ? 1 : 0, stdout: `line ${round}\n` });
  else if (world.status.phase === 'waiting') world.signal(world.status.state ?? '', 'approved');
  else if (world.children.size > 0) world.endChild({ phase: 'completed', result: { ok: true }, blackboard: { k: 1 } });
}
