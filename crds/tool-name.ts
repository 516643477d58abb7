/** Beginnings of the names of built-in tools: no registered tool may have a name that begins so (spec 3 §9). */
export const builtInPrefixes = ['fs.', 'web.', 'cmd.', 'svc.'] as const;

/** The name of a tool that a tenant registers: letters, digits and `_`, then `.` and `-` as well, 128 at most. */
export const registeredNamePattern = '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$';

/**
 * A glob over names of tools, in which `*` is any text. No name holds another character, so that `?`, `[…]` and `{…}`, which
 * other globs know, are refused in place of taken for text (requirements AMB-195).
 */
export const toolGlobPattern = '^[A-Za-z0-9_.*-]+$';

/**
 * An entry of a deny list: a glob over names of tools, or an absolute path or glob of paths, which file tools keep off; paths
 * of a volume that is not mounted begin with `volume:NAME/`, where `*` in the name is any text.
 */
export const denyPattern = '^(/.*|volume:[a-z0-9.*-]+/.*|[A-Za-z0-9_.*-]+)$';

/** Step names of a tool workflow that its templates read as something else: `{{state.input.x}}` (spec 3 §2.4). */
export const reservedToolSteps: readonly string[] = ['input'];

/** The name of a step and of an extracted variable, which `{{state.<step>.<variable>}}` reads. */
export const toolStepPattern = '^[A-Za-z_][A-Za-z0-9_-]{0,62}$';
