import { describe, expect, it } from 'vitest';
import { annotations } from '../../../crds/labels.ts';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import { anEnd, aWorkflow } from '../../../test/builders/workflow-builder.ts';
import { versionsOf } from './versions.ts';

const now = Date.parse('2026-01-09T00:00:00Z');
const day = (number: number): string => `2026-01-0${number}T00:00:00Z`;
const revision = (version: string, created: string) => ({
  metadata: { creationTimestamp: created, annotations: { [annotations.version]: version } },
});
function workflow(version: string, listed: string[]): Workflow {
  const built = aWorkflow('demo').with({ version }).state('end', anEnd()).build();
  const versions = listed.map((name, index) => ({ version: name, revision: name, registered_at: day(3 - index) }));
  return { ...built, status: { versions } };
}

describe('the versions of a workflow', () => {
  it('WF-API-11 are those that the status lists, the current one marked', () => {
    expect(
      versionsOf(workflow('2.0.0', ['2.0.0', '1.0.0']), [revision('2.0.0', day(3)), revision('1.0.0', day(2))], now),
    ).toEqual([
      { version: '2.0.0', registered_at: day(3), current: true },
      { version: '1.0.0', registered_at: day(2), current: false },
    ]);
  });

  it('WF-API-11 are also those that were stored since the controllers last looked, each once', () => {
    const stored = [
      revision('1.1.0', day(4)),
      revision('1.2.0', day(5)),
      revision('1.2.0', day(6)),
      revision('1.0.0', day(3)),
    ];
    const rows = versionsOf(workflow('1.2.0', ['1.0.0']), stored, now);
    expect(rows.map(({ version, current }) => [version, current])).toEqual([
      ['1.2.0', true],
      ['1.1.0', false],
      ['1.0.0', false],
    ]);
  });

  it('WF-API-11 begin with a content that is not stored yet', () => {
    const [first] = versionsOf(workflow('3.0.0', ['1.0.0']), [], now);
    expect(first).toEqual({ version: '3.0.0', registered_at: '2026-01-09T00:00:00.000Z', current: true });
  });

  it('WF-API-11 are also those that are too old to be listed, behind the others', () => {
    const names = Array.from({ length: 500 }, (_, index) => `2.${500 - index}.0`);
    const versions = names.map((version) => ({ version, revision: version, registered_at: day(3) }));
    const full = { ...workflow('2.500.0', []), status: { versions } };
    const rows = versionsOf(full, [revision('0.9.0', day(1)), revision('3.0.0', day(4))], now);
    expect(rows.map(({ version }) => version)).toEqual(['3.0.0', ...names, '0.9.0']);
  });

  it('WF-API-11 keep the order of the status where times of two clocks disagree', () => {
    const rows = versionsOf(workflow('0.3.0', ['0.2.0', '0.1.0']), [revision('0.3.0', day(1))], now);
    expect(rows.map(({ version }) => version)).toEqual(['0.3.0', '0.2.0', '0.1.0']);
  });

  it('know no revision without its version, as an earlier release has made', () => {
    const rows = versionsOf(workflow('1.0.0', ['1.0.0']), [{ metadata: { creationTimestamp: day(1) } }], now);
    expect(rows.map(({ version }) => version)).toEqual(['1.0.0']);
  });
});
