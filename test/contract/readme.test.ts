import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { checkDefinition } from '../../lib/definition/check.ts';

const readme = readFileSync(resolve(import.meta.dirname, '../../README.md'), 'utf8');
const workflows = [...readme.matchAll(/```yaml\n(.*?)```/gs)].map(([, text = '']) => parse(text));

describe('the readme', () => {
  it('shows one workflow, in which nothing is wrong or doubtful', () => {
    expect(workflows).toMatchObject([{ kind: 'Workflow', metadata: { name: 'greeting' } }]);
    expect(checkDefinition(workflows[0].spec)).toEqual([]);
  });
});
