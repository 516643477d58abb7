import { describe, expect, it } from 'vitest';
import { validateSpec } from './validators.ts';

const digest = `sha256:${'a'.repeat(64)}`;

/** Problems of a CliTool with this image that are about the image. */
const problemsOf = (image: string) =>
  validateSpec
    .CliTool({ description: 'd', image, allowed_subcommands: ['run'] })
    .filter(({ path }) => path === 'spec.image')
    .map(({ message }) => message);

describe('the image of a container', () => {
  it.each([
    'busybox',
    'busybox:1.36',
    'docker.io/library/busybox:1.36',
    'localhost:5000/team/tool',
    '[fd00::1]:5000/tool:v1',
    `registry.example.org/a/b__c/d-e.f:V_1@${digest}`,
    `busybox@${digest}`,
    `busybox:${'t'.repeat(128)}`,
  ])('is a reference such as %s', (image) => {
    expect(problemsOf(image)).toEqual([]);
  });

  it.each([
    ['an upper-case path', 'docker.io/Library/busybox'],
    ['a blank', 'busy box'],
    ['a blank at the end', 'busybox:1.36 '],
    ['an empty tag', 'busybox:'],
    ['a tag of 129 characters', `busybox:${'t'.repeat(129)}`],
    ['a tag that begins with a dash', 'busybox:-rf'],
    ['a digest of 31 digits', `busybox@sha256:${'a'.repeat(31)}`],
    ['a URL', 'https://registry.example.org/tool'],
    ['two slashes', 'registry.example.org//tool'],
    ['a slash at the end', 'registry.example.org/'],
    ['a line break', 'busybox\n'],
    ['an option', '--privileged'],
  ])('with %s is refused in words', (_what, image) => {
    expect(problemsOf(image)).toEqual([expect.stringContaining('must be an image reference')]);
  });
});
