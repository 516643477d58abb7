/** Measures and writes docs/benchmarks.md and docs/benchmarks.json. usage: dev/bench/run [--only NAME]... [--runs N] */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { type Cluster, connect } from '../../test/cluster/harness/cluster.ts';
import { restoreInstalled, scaleInstalledTo } from '../../test/cluster/harness/installed.ts';
import { stopLeftovers } from '../../test/cluster/harness/process-record.ts';
import { projectDir } from '../../test/cluster/harness/project.ts';
import { removeLeftNamespaces } from '../../test/cluster/harness/test-namespace.ts';
import { withBenchCluster } from './bench-cluster.ts';
import { chosenOf } from './chosen.ts';
import { machineLine } from './machine.ts';
import { isLocal, type Program, type Row, type Sample } from './program.ts';
import { programs } from './programs/all.ts';
import { type BenchEntry, entryOf, tableLine, tableLines, withTable } from './report.ts';

const help = `Measures Windlass beside bare pods on the current cluster and writes docs/benchmarks.md and docs/benchmarks.json.

usage: dev/bench/run [--only NAME]... [--runs N] [--quiet SECONDS] [--argo] [--dry-run]

  --only NAME   measure only this program; rows of the others stay as they were (repeatable)
  --runs N      runs of each program (default 3; programs that say so run once)
  --quiet N     seconds for which rows about quiet time look (default 120)
  --argo        measure the rows beside Argo Workflows, which is built from its Go module once, and no others
  --dry-run     write no files

programs:
${programs.map((program) => `  ${program.name.padEnd(19)}${program.title}${isLocal(program) ? ' (no cluster)' : ''}`).join('\n')}
`;

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    runs: { type: 'string', default: '3' },
    quiet: { type: 'string', default: '120' },
    argo: { type: 'boolean', default: false },
    'dry-run': { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}

function chosen(): readonly Program[] {
  const unknown = (values.only ?? []).filter((name) => !programs.some((program) => program.name === name));
  if (unknown.length > 0) fail(`no program '${unknown.join(', ')}'; dev/bench/run --help lists them`);
  return chosenOf(programs, { only: values.only, argo: values.argo });
}

const quietSeconds = Number(values.quiet);

async function measure(program: Program, runs: number): Promise<Row> {
  const samples: Sample[] = [];
  for (let run = 1; run <= runs; run++) {
    const say = (text: string): void => console.log(`  ${program.name} ${run}/${runs}: ${text}`);
    const started = performance.now();
    const sample = await sampleOf(program, say);
    samples.push(sample);
    const ratio = sample.baseline === undefined ? '' : `, ratio ${(sample.ours / sample.baseline).toFixed(3)}`;
    const took = ((performance.now() - started) / 1000).toFixed(0);
    say(`${sample.ours.toFixed(2)} ${program.unit}${ratio} (took ${took} s)`);
  }
  return { program, samples };
}

async function sampleOf(program: Program, say: (text: string) => void): Promise<Sample> {
  if (isLocal(program)) return program.measureLocally(say);
  const cluster = await connect();
  try {
    return await withBenchCluster(cluster, program.name, (bench) => program.measure(bench, say), {
      quietSeconds,
    });
  } finally {
    await cluster.kube.close();
  }
}

const jsonPath = join(projectDir, 'docs', 'benchmarks.json');
const pagePath = join(projectDir, 'docs', 'benchmarks.md');

async function store(entries: readonly BenchEntry[]): Promise<void> {
  const known = JSON.parse(await readFile(jsonPath, 'utf8').catch(() => '[]')) as BenchEntry[];
  const merged = programs.flatMap(
    ({ name }) => entries.find((entry) => entry.name === name) ?? known.find((entry) => entry.name === name) ?? [],
  );
  const page = await readFile(pagePath, 'utf8').catch(() => '# Benchmarks\n');
  await writeFile(jsonPath, `${JSON.stringify(merged, null, 2)}\n`);
  await writeFile(pagePath, withTable(page, [...tableLines(programs, merged), '', `Measured on ${machineLine()}.`]));
}

async function run(): Promise<boolean> {
  const runs = Number(values.runs);
  if (!Number.isInteger(runs) || runs < 1) fail(`--runs '${values.runs}' is no number above 0`);
  if (!(quietSeconds >= 1)) fail(`--quiet '${values.quiet}' is no number of seconds`);
  for (const process of await stopLeftovers()) console.log(`stopped what an earlier run left: ${process}`);
  if (chosen().every(isLocal)) return await measureAll(runs);
  const cluster = await connect();
  await removeLeftNamespaces(cluster.kube);
  await takeInstalledAway(cluster);
  const interrupted = (): void => void leaveInOrder(cluster).finally(() => process.exit(130));
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  try {
    return await measureAll(runs);
  } finally {
    await putInstalledBack(cluster);
    await cluster.kube.close();
  }
}

/**
 * The measured processes are the benchmark's own. Installed controllers would do half of their work; installed relays take the
 * hosts of another bus for lost, and write each of them as Disconnected again and again.
 */
async function takeInstalledAway({ kube }: Cluster): Promise<void> {
  await scaleInstalledTo(kube, 0);
  await scaleInstalledTo(kube, 0, 'relay');
}

async function putInstalledBack({ kube }: Cluster): Promise<void> {
  await restoreInstalled(kube);
  await restoreInstalled(kube, 'relay');
}

/** Nothing of a run that is interrupted may stay: neither its processes and namespaces, nor a cluster without controllers. */
async function leaveInOrder(cluster: Cluster): Promise<void> {
  console.log('interrupted: stopping what was started, and putting the installed processes back');
  await stopLeftovers();
  await putInstalledBack(cluster);
  await removeLeftNamespaces(cluster.kube);
}

async function measureAll(runs: number): Promise<boolean> {
  const entries: BenchEntry[] = [];
  for (const program of chosen()) {
    console.log(`${program.name}: ${program.title}`);
    const row = await measure(program, Math.min(runs, program.runs ?? runs));
    const entry = entryOf(row, new Date().toISOString());
    entries.push(entry);
    console.log(tableLine(program, entry));
    // After each program, so that a run that is stopped half-way keeps what it has.
    if (!values['dry-run']) await store(entries);
  }
  return entries.every(({ met }) => met);
}

if (values.help) console.log(help);
else if (!(await run())) console.log('a bar is not met: see the table, and docs/benchmarks.md for why');
