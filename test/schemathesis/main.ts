/**
 * Runs Schemathesis against the API: every operation of its OpenAPI document, with good and bad requests.
 * usage: node test/schemathesis/main.ts REPORT     writes REPORT (JSON); ends with 1 when anything was found
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { leastExamples, shortOf } from './examples.ts';
import { type SchemathesisWorld, startWorld } from './world.ts';

const [report] = process.argv.slice(2);
if (report === undefined) throw new Error('usage: node test/schemathesis/main.ts REPORT');
const root = resolve(import.meta.dirname, '../..');
const events = `${report}.events`;

const options = (url: string): string[] => [
  `--config-file=${resolve(import.meta.dirname, 'schemathesis.toml')}`,
  'run',
  `${url}/openapi.json`,
  '--no-color',
  `--max-examples=${leastExamples}`,
  // The same requests each time, unless others are asked for.
  `--seed=${process.env['SCHEMATHESIS_SEED'] ?? '1'}`,
  '--report=json,ndjson',
  `--report-json-path=${resolve(report)}`,
  `--report-ndjson-path=${resolve(events)}`,
];

async function run(world: SchemathesisWorld): Promise<number> {
  const venv = execFileSync(resolve(root, 'dev/setup/schemathesis'), { encoding: 'utf8' }).trim();
  const child = spawn(resolve(venv, 'bin/st'), options(world.url), {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      LANG: 'C.UTF-8',
      PYTHONPATH: import.meta.dirname,
      PYTHONDONTWRITEBYTECODE: '1',
      SCHEMATHESIS_HOOKS: 'hooks',
      WINDLASS_SCHEMATHESIS_WORLD: JSON.stringify(world.facts),
    },
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

const world = await startWorld();
try {
  console.log(`the API logs to ${world.logFile}`);
  const code = await run(world);
  const short = await shortOf(events);
  for (const line of short) console.log(line);
  process.exitCode = code === 0 && short.length === 0 ? 0 : 1;
} finally {
  await world.close();
}
