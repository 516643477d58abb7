import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectDir } from '../../test/cluster/harness/project.ts';

/** Part of the pod's memory limit that the chart gives to the heap, in per cent. */
const heapPart = /--max-old-space-size-percentage=(\d+)/;

/** The gateway and the relay have a nursery of their own size. */
type Component = 'gateway' | 'relay' | 'other';

/** NODE_OPTIONS as the chart sets them. */
export async function nodeOptionsOfChart(component: Component = 'other'): Promise<string> {
  const folder = component === 'other' ? '' : `${component}/`;
  const template = await readFile(join(projectDir, `charts/windlass/templates/${folder}_environment.tpl`), 'utf8');
  const options = /name: NODE_OPTIONS, value: (.+?) }/.exec(template)?.[1];
  if (options === undefined) throw new Error('the chart sets no NODE_OPTIONS');
  return options;
}

/** Variables that the image and the chart set for a process whose pod may have so many MiB. */
export async function environmentOfPod(limitMiB: number, component?: Component): Promise<Record<string, string>> {
  const dockerfile = await readFile(join(projectDir, 'Dockerfile'), 'utf8');
  const pairs =
    /^ENV PATH=\S+ (.*)$/m
      .exec(dockerfile)?.[1]
      ?.split(' ')
      .map((pair) => pair.split('=')) ?? [];
  const options = (await nodeOptionsOfChart(component)).replace(
    heapPart,
    (_, part: string) => `--max-old-space-size=${Math.floor((limitMiB * Number(part)) / 100)}`,
  );
  return { ...Object.fromEntries(pairs), NODE_OPTIONS: options };
}
