import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { anEnd, aQuestion, aWorkflow } from '../../test/builders/workflow-builder.ts';
import { writeYaml } from './write-yaml.ts';

describe('a workflow that is written as YAML', () => {
  it.each(['no', 'yes', 'on', 'off', 'y', 'N', '012', '0o17', '1_000', '12:30:45', '2026-01-01', '~', '1e3', 'null'])(
    'holds the text %s as text for every reader, of YAML 1.1 as of 1.2',
    (text) => {
      const question = { ...aQuestion('Go on?', { yes: 'done', no: 'done' }), default_response: text };
      const workflow = aWorkflow('w').state('ask', question).state('done', anEnd()).build();
      for (const version of ['1.1', '1.2'] as const) expect(parse(writeYaml(workflow), { version })).toEqual(workflow);
    },
  );
});
