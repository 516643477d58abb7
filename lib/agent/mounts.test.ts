import { expect, it } from 'vitest';
import type { AgentMount } from '../../crds/schema/agent.ts';
import { badMount, mountsOf } from './mounts.ts';

const mount = (path: string, volume = 'data'): AgentMount => ({
  volume,
  mount_path: path,
  access_mode: 'read-only',
});

it('an execution mounts its own volumes, and those of its agent at other folders', () => {
  const agent = { volumes: [mount('/a', 'usual'), mount('/b/', 'usual')] };
  expect(mountsOf({}, {})).toEqual([]);
  expect(mountsOf(agent, {})).toEqual(agent.volumes);
  expect(mountsOf(agent, { volumes: [mount('/b')] })).toEqual([mount('/b'), mount('/a', 'usual')]);
});

it('the first folder that cannot be used is named', () => {
  expect(badMount([mount('/a'), mount('/b')])).toBeUndefined();
  expect(badMount([mount('/a'), mount('/a/'), mount('/')])).toEqual({
    index: 1,
    message: '/a/ cannot be used; choose another folder, such as /data',
  });
});
