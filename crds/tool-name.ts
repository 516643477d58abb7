/** Beginnings of the names of built-in tools: no registered tool may have a name that begins so (spec 3 §9). */
export const builtInPrefixes = ['fs.', 'web.', 'cmd.', 'svc.'] as const;

/** The name of a tool that a tenant registers: letters, digits and `_`, then `.` and `-` as well, 128 at most. */
export const registeredNamePattern = '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$';

/**
 * A glob over names of tools, in which `*` is any text. No name holds another character, so that `?`, `[…]` and `{…}`, which
 * other globs know, are refused in place of taken for text (requirements AMB-195).
 */
export const toolGlobPattern = '^[A-Za-z0-9_.*-]+$';

/** The same for lists that each tool of a list is tested by: 8 stars at most. Lists of before may hold more. */
export const shortToolGlobPattern = '^[A-Za-z0-9_.-]*(\\*[A-Za-z0-9_.-]*){0,8}$';

/**
 * An entry of a deny list. It is a glob over names of tools with 8 stars at most, or an absolute path or glob of paths,
 * which file tools keep off. Paths of a volume that is not mounted begin with `volume:NAME/`, where `*` in the name is
 * any text.
 */
export const denyPattern = '^(/.*|volume:[a-z0-9.*-]+/.*|[A-Za-z0-9_.-]*(\\*[A-Za-z0-9_.-]*){0,8})$';

/** An entry of a deny list that is or was taken: with any number of stars. */
export const anyDenyPattern = '^(/.*|volume:[a-z0-9.*-]+/.*|[A-Za-z0-9_.*-]+)$';

/** Step names of a tool workflow that its templates read as something else: `{{state.input.x}}` (spec 3 §2.4). */
export const reservedToolSteps: readonly string[] = ['input'];

/** The name of a step and of an extracted variable, which `{{state.<step>.<variable>}}` reads. */
export const toolStepPattern = '^[A-Za-z_][A-Za-z0-9_-]{0,62}$';

/** Every built-in tool (spec 3 §10, spec 2 §4.6), by name; their rows are in `lib/tools/catalogue`. */
export const builtInTools: readonly string[] = [
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
  'svc.agent.create',
  'svc.agent.delete',
  'svc.agent.export',
  'svc.agent.generate',
  'svc.agent.list',
  'svc.agent.logs',
  'svc.agent.search',
  'svc.agent.update',
  'svc.agent.wait',
  'svc.edge.fleet.cancel',
  'svc.edge.fleet.invoke',
  'svc.edge.fleet.list',
  'svc.execute',
  'svc.execute.intent',
  'svc.execute.status',
  'svc.execute.wait',
  'svc.execution.file',
  'svc.file.delete',
  'svc.file.list',
  'svc.file.mkdir',
  'svc.file.read',
  'svc.file.write',
  'svc.git.clone',
  'svc.git.commit',
  'svc.git.delete',
  'svc.git.diff',
  'svc.git.list',
  'svc.git.push',
  'svc.git.refresh',
  'svc.git.status',
  'svc.runtime.list',
  'svc.schema.get',
  'svc.schema.validate',
  'svc.script.delete',
  'svc.script.get',
  'svc.script.list',
  'svc.script.save',
  'svc.script.update',
  'svc.system.config',
  'svc.system.info',
  'svc.task.cancel',
  'svc.task.execute',
  'svc.task.list',
  'svc.task.logs',
  'svc.task.remove',
  'svc.task.status',
  'svc.task.wait',
  'svc.tools.list',
  'svc.tools.search',
  'svc.volume.create',
  'svc.volume.delete',
  'svc.volume.list',
  'svc.volume.quota',
  'svc.workflow.cancel',
  'svc.workflow.create',
  'svc.workflow.delete',
  'svc.workflow.demote',
  'svc.workflow.executions.get',
  'svc.workflow.executions.list',
  'svc.workflow.export',
  'svc.workflow.generate',
  'svc.workflow.list',
  'svc.workflow.logs',
  'svc.workflow.promote',
  'svc.workflow.remove',
  'svc.workflow.run',
  'svc.workflow.search',
  'svc.workflow.signal',
  'svc.workflow.status',
  'svc.workflow.update',
  'svc.workflow.validate',
  'svc.workflow.wait',
  'web.fetch',
  'web.search',
];
