import { describe, expect, it } from 'vitest';
import { builtInTools } from '../../../crds/tool-name.ts';
import { catalogue } from './catalogue.ts';

/** Rows of the specification: requirement, tool, required arguments in order, skip_judge where it is listed. */
const rows: readonly (readonly [id: string, name: string, required: string, skips: boolean | undefined])[] = [
  ['TOOL-001', 'cmd.run', 'command', false],
  ['TOOL-002', 'fs.write', 'path content', false],
  ['TOOL-003', 'fs.edit', 'path target_content replacement_content', false],
  ['TOOL-004', 'fs.multi_edit', 'path edits', false],
  ['TOOL-005', 'fs.create_dir', 'path', false],
  ['TOOL-006', 'fs.delete', 'path', false],
  ['TOOL-007', 'svc.agent.generate', 'input', false],
  ['TOOL-008', 'svc.workflow.delete', 'name', false],
  ['TOOL-009', 'svc.workflow.run', 'name', false],
  ['TOOL-010', 'svc.workflow.generate', 'input', false],
  ['TOOL-011', 'svc.workflow.promote', '', false],
  ['TOOL-012', 'svc.workflow.demote', '', false],
  ['TOOL-013', 'svc.task.execute', 'agent_id', false],
  ['TOOL-014', 'svc.task.cancel', 'execution_id', false],
  ['TOOL-015', 'svc.task.remove', 'execution_id', false],
  ['TOOL-016', 'svc.execute.intent', 'intent', false],
  ['TOOL-017', 'svc.file.write', 'volume_id path content', false],
  ['TOOL-018', 'svc.file.delete', 'volume_id path', false],
  ['TOOL-019', 'svc.file.mkdir', 'volume_id path', false],
  ['TOOL-020', 'svc.volume.create', 'label size_limit_bytes', false],
  ['TOOL-021', 'svc.volume.delete', 'volume_id', false],
  ['TOOL-022', 'svc.git.clone', 'repo_url label', false],
  ['TOOL-023', 'svc.git.refresh', 'binding_id', false],
  ['TOOL-024', 'svc.git.delete', 'binding_id', false],
  ['TOOL-025', 'svc.git.commit', 'binding_id message', false],
  ['TOOL-026', 'svc.git.push', 'binding_id', false],
  ['TOOL-027', 'svc.script.save', 'name code', false],
  ['TOOL-028', 'svc.script.update', 'id name code', false],
  ['TOOL-029', 'svc.script.delete', 'id', false],
  ['TOOL-030', 'fs.read', 'path', true],
  ['TOOL-031', 'fs.list', 'path', true],
  ['TOOL-032', 'fs.grep', 'pattern path', true],
  ['TOOL-033', 'fs.glob', 'pattern path', true],
  ['TOOL-034', 'web.search', 'query', true],
  ['TOOL-035', 'web.fetch', 'url', true],
  ['TOOL-036', 'svc.agent.list', '', true],
  ['TOOL-037', 'svc.agent.search', 'query', true],
  ['TOOL-038', 'svc.agent.export', 'name', true],
  ['TOOL-039', 'svc.agent.create', 'manifest_yaml', true],
  ['TOOL-040', 'svc.agent.update', 'manifest_yaml', true],
  ['TOOL-041', 'svc.agent.delete', 'agent_id', true],
  ['TOOL-042', 'svc.agent.logs', 'agent_id', true],
  ['TOOL-043', 'svc.agent.wait', 'execution_id', true],
  ['TOOL-044', 'svc.workflow.list', '', true],
  ['TOOL-045', 'svc.workflow.search', 'query', true],
  ['TOOL-046', 'svc.workflow.export', 'name', true],
  ['TOOL-047', 'svc.workflow.create', 'manifest_yaml', true],
  ['TOOL-048', 'svc.workflow.update', 'manifest_yaml', true],
  ['TOOL-049', 'svc.workflow.executions.list', '', true],
  ['TOOL-050', 'svc.workflow.executions.get', 'execution_id', true],
  ['TOOL-051', 'svc.workflow.logs', 'execution_id', true],
  ['TOOL-052', 'svc.workflow.status', 'execution_id', true],
  ['TOOL-053', 'svc.workflow.wait', 'execution_id', true],
  ['TOOL-054', 'svc.workflow.cancel', 'execution_id', true],
  ['TOOL-055', 'svc.workflow.signal', 'execution_id response', true],
  ['TOOL-056', 'svc.workflow.remove', 'execution_id', true],
  ['TOOL-057', 'svc.workflow.validate', '', true],
  ['TOOL-058', 'svc.schema.get', 'key', true],
  ['TOOL-059', 'svc.schema.validate', 'kind manifest_yaml', true],
  ['TOOL-060', 'svc.task.status', 'execution_id', true],
  ['TOOL-061', 'svc.task.wait', 'execution_id', true],
  ['TOOL-062', 'svc.task.list', '', true],
  ['TOOL-063', 'svc.task.logs', 'execution_id', true],
  ['TOOL-064', 'svc.execution.file', 'execution_id path', true],
  ['TOOL-065', 'svc.execute.wait', 'execution_id', true],
  ['TOOL-066', 'svc.execute.status', 'pipeline_execution_id', true],
  ['TOOL-067', 'svc.tools.list', '', true],
  ['TOOL-068', 'svc.tools.search', '', true],
  ['TOOL-069', 'svc.system.info', '', true],
  ['TOOL-070', 'svc.system.config', '', true],
  ['TOOL-071', 'svc.runtime.list', '', true],
  ['TOOL-072', 'svc.file.list', 'volume_id path', true],
  ['TOOL-073', 'svc.file.read', 'volume_id path', true],
  ['TOOL-074', 'svc.volume.list', '', true],
  ['TOOL-075', 'svc.volume.quota', '', true],
  ['TOOL-076', 'svc.git.list', '', true],
  ['TOOL-077', 'svc.git.status', 'binding_id', true],
  ['TOOL-078', 'svc.git.diff', 'binding_id', true],
  ['TOOL-079', 'svc.script.list', '', true],
  ['TOOL-080', 'svc.script.get', 'id', true],
  ['TOOL-081', 'svc.execute', 'prompt', undefined],
  ['TOOL-082', 'svc.edge.fleet.invoke', 'target tool', undefined],
  ['TOOL-083', 'svc.edge.fleet.list', 'target', undefined],
  ['TOOL-084', 'svc.edge.fleet.cancel', 'fleet_command_id', undefined],
];

describe('the catalogue of tools', () => {
  it.each(rows)('%s %s requires "%s" and skips the judge: %s', (_id, name, required, skips) => {
    const row = catalogue.get(name);
    expect(row?.input_schema.required?.join(' ')).toBe(required);
    expect(row?.skip_judge).toBe(skips ?? row?.skip_judge);
  });

  it('has the names that kinds and policies know, and no other', () => {
    expect([...catalogue.keys()].toSorted()).toEqual(builtInTools);
  });

  it('holds these tools and no others', () => {
    expect([...catalogue.keys()].toSorted()).toEqual(rows.map(([, name]) => name).toSorted());
  });

  it('AMB-134 judges svc.execute', () => {
    expect(catalogue.get('svc.execute')?.skip_judge).toBe(false);
  });

  it('EDGE-TOOL-05 says of each tool whether a fleet can run it', () => {
    const capable = [...catalogue.values()].filter((row) => row.fleet_capable).map(({ name }) => name);
    expect(capable.toSorted()).toEqual([
      'cmd.run',
      'fs.create_dir',
      'fs.delete',
      'fs.edit',
      'fs.glob',
      'fs.grep',
      'fs.list',
      'fs.multi_edit',
      'fs.read',
      'fs.write',
      'web.fetch',
    ]);
  });

  it('design §12 repeats after a lost replica only calls that change nothing the second time', () => {
    const repeated = [...catalogue.values()].filter((row) => row.idempotent).map(({ name }) => name);
    for (const name of ['cmd.run', 'fs.edit', 'fs.multi_edit', 'fs.delete', 'svc.task.execute', 'svc.workflow.run'])
      expect(repeated).not.toContain(name);
    expect(repeated).toEqual(expect.arrayContaining(['fs.read', 'fs.write', 'web.fetch', 'svc.agent.list']));
  });
});
