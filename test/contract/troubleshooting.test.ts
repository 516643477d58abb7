import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const folders = ['api', 'cli', 'controllers', 'crds', 'edge', 'gateway', 'lib', 'relay'];
const sources = execFileSync('git', ['ls-files', ...folders], { cwd: root })
  .toString()
  .split('\n')
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  .map((path) => readFileSync(resolve(root, path), 'utf8'))
  .join('\n');

/** The symptoms in code spans of the first column. A message with a name in it is looked up in parts. */
const symptoms = readFileSync(resolve(root, 'docs/troubleshooting.md'), 'utf8')
  .split('\n## ')
  .filter((section) => section.includes('| Symptom | Cause | Remedy |'))
  .flatMap((section) => [...section.matchAll(/^\| (?!Symptom|---)([^|]+) \|/gm)].map(([, cell = '']) => cell))
  .flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text))
  .filter((text) => !/^(UNAVAILABLE|URL)$/.test(text));

const partsOf = (text: string): readonly string[] => text.split(/…|URL|UNAVAILABLE/).map((part) => part.trim());

it('every symptom of the tables for the gateway, edge hosts and call_tool is a text of the code', () => {
  expect(symptoms.length).toBeGreaterThan(40);
  const missing = symptoms.filter((text) => !partsOf(text).every((part) => sources.includes(part)));
  expect(missing).toEqual([]);
});
