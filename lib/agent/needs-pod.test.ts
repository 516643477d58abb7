import { describe, expect, it } from 'vitest';
import { needsPod } from './needs-pod.ts';

describe('design §12 an agent has a pod', () => {
  it.each([
    ['without tools', undefined, [], false],
    ['with none', [], [], false],
    ['with tools that run elsewhere', ['web.fetch', 'svc.agent.list', 'afs.read'], [], false],
    ['with one that touches files', ['web.fetch', 'fs.read'], [], true],
    ['with all that touch files', ['fs.*'], [], true],
    ['with the command tool', ['cmd'], [], true],
    ['with the command tool by its other name', ['cmd.run'], [], true],
    ['with every tool', ['*'], [], true],
    ['with a mount alone', [], [{}], true],
  ])('%s', (_title, names, mounts, needed) => {
    expect(needsPod(names === undefined ? {} : { tools: names.map((name) => ({ name })) }, mounts)).toBe(needed);
  });

  it('with a volume of its own', () => {
    const mount = { volume: 'data', mount_path: '/data', access_mode: 'read-only' } as const;
    expect(needsPod({ volumes: [mount] })).toBe(true);
  });
});
