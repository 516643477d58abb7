import type { CelRule } from '../schema/parts.ts';

const badRefs = ['..', '//', '/.', '@{', './', '.lock/'].map((part) => `!self.ref.contains('${part}')`).join(' && ');

/** Rules of a binding that its schema cannot say. */
export const gitBindingRules: CelRule[] = [
  {
    rule: 'self.repo_url == oldSelf.repo_url',
    message: 'repo_url cannot be changed; make another binding',
    fieldPath: '.repo_url',
  },
  {
    rule: `!has(self.ref) || (${badRefs} && !self.ref.endsWith('/') && !self.ref.endsWith('.') && !self.ref.endsWith('.lock'))`,
    message: 'must be the name of a branch or a tag, or a commit, as git takes it',
    fieldPath: '.ref',
  },
  {
    rule: "!self.repo_url.startsWith('http://') || !has(self.credentials)",
    message: 'credentials are sent over https and ssh alone; leave them out or change repo_url',
    fieldPath: '.credentials',
  },
  {
    rule: "!self.repo_url.startsWith('ssh://') || has(self.credentials)",
    message: 'ssh needs credentials with the keys host, ssh-privatekey and known_hosts',
    fieldPath: '.repo_url',
  },
  {
    rule: "!has(self.request) || (self.request.op == 'commit') == has(self.request.message)",
    message: 'a commit has a message, and no other operation has one',
    fieldPath: '.request',
  },
];
