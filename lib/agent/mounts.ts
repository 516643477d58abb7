import type { AgentMount, AgentSpec } from '../../crds/schema/agent.ts';
import { withoutTrailingSlashes } from '../trailing-slashes.ts';

/** Folders of the container that are not for volumes. */
const own = ['/windlass', '/var/run/secrets', '/proc', '/sys', '/dev'] as const;

const folderOf = ({ mount_path: path }: AgentMount): string => withoutTrailingSlashes(path);

/** The mounts of one execution, and those of its agent at other folders (ADR 0126). */
export function mountsOf(
  { volumes: usual = [] }: Pick<AgentSpec, 'volumes'>,
  { volumes: asked = [] }: { readonly volumes?: readonly AgentMount[] },
): readonly AgentMount[] {
  const taken = new Set(asked.map(folderOf));
  return [...asked, ...usual.filter((mount) => !taken.has(folderOf(mount)))];
}

/** The first mount whose folder cannot be used. */
export function badMount(
  mounts: readonly AgentMount[],
): { readonly index: number; readonly message: string } | undefined {
  const folders = mounts.map(folderOf);
  const index = folders.findIndex((folder, at) => !isFree(folder) || folders.indexOf(folder) < at);
  const path = mounts[index]?.mount_path;
  return path === undefined
    ? undefined
    : { index, message: `${path} cannot be used; choose another folder, such as /data` };
}

function isFree(folder: string): boolean {
  const isOdd = folder === '' || folder.split('/').includes('..') || folder.includes(':') || folder.includes('//');
  return !isOdd && !own.some((one) => folder === one || folder.startsWith(`${one}/`));
}
