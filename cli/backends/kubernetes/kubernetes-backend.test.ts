import { expect, it } from 'vitest';
import { wordsOf } from './kubernetes-backend.ts';

it('the Kubernetes backend says where it looks, and shows commands that lead back', () => {
  expect(wordsOf('team-a', ' --context prod')).toEqual({
    place: 'in namespace team-a',
    workflowPlaces: 'in namespace team-a or windlass-global',
    flags: ' -n team-a --context prod',
  });
  expect(wordsOf('windlass-global', '').workflowPlaces).toBe('in namespace windlass-global');
});
