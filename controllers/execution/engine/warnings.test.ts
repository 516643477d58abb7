import { describe, expect, it } from 'vitest';
import { limits } from '../../../crds/limits.ts';
import { anEnd, anUpdate, aWorkflow } from '../../../test/builders/workflow-builder.ts';
import { World } from '../../../test/builders/world.ts';

const said = (template: string): string[] | undefined =>
  new World(
    aWorkflow('w')
      .state('a', anUpdate({ k: template }, 'b'))
      .state('b', anEnd())
      .build(),
  ).settle().status.warnings;

describe('placeholders that were rendered', () => {
  it('WF-TPL-31 are in status.warnings, each once', () => {
    expect(said('{{input.x}} {{b.output.y}} {{input.x}}')).toEqual([
      'state a: {{input.x}} had no value; a placeholder replaces it',
      'state a: {{b.output.y}} had no value; a placeholder replaces it',
    ]);
    expect(said('{{execution.id}}')).toBeUndefined();
  });

  it.each([limits.placeholderWarnings - 1, limits.placeholderWarnings, limits.placeholderWarnings + 1])(
    'WF-TPL-31 are bounded: %i of them',
    (count) => {
      const template = Array.from({ length: count }, (_, index) => `{{input.k${index}}}`).join('');
      expect(said(template)).toHaveLength(Math.min(count, limits.placeholderWarnings));
    },
  );

  it('WF-TPL-31 are bounded in length', () => {
    const [line = ''] = said(`{{input.${'k'.repeat(2_000)}}}`) ?? [];
    expect(line).toHaveLength(limits.warningLength);
  });
});
