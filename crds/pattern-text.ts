import { gitRefPattern } from './git-url.ts';
import { imageReferencePattern } from './image-reference.ts';
import { labelNamePattern } from './label-name.ts';
import { stateNamePattern, volumeNamePattern } from './reserved-names.ts';
import {
  backoffPattern,
  durationPattern,
  manifestNamePattern,
  memoryPattern,
  pullSecretPattern,
  semanticVersionPattern,
  weekPattern,
} from './schema/parts.ts';
import { sourcePattern } from './stimulus-source.ts';
import { networkPattern } from './network.ts';
import { denyPattern, registeredNamePattern, shortToolGlobPattern, toolGlobPattern } from './tool-name.ts';
import { uidPattern } from './uid.ts';

const aUuid = 'must be a UUID, as 8e0bdc27-1f6c-4c28-9f1b-0d4e5c8a1b2c';
const aSecretName = 'must have lower-case letters, digits, dots and dashes, a letter or digit first and last';
const anId = 'must begin with a letter or digit and have up to 64 letters, digits, dots, dashes and underscores';
const aUrl = 'must begin with http:// or https://, and have neither user, blank nor #';

/** The rule of each pattern in words, with an example where that is shorter. */
const patternTexts: Readonly<Record<string, string>> = {
  [durationPattern]: 'must be a whole number above zero and s, m or h, as 300s, 5m or 1h',
  [weekPattern]:
    'must be a whole number above zero and s, m or h, of 168h (7 days) at most, as 15m: the conversation is kept no longer',
  [backoffPattern]: 'must be 0s, or a whole number above zero and s, m or h, as 10s',
  [stateNamePattern]: 'must begin with a letter or _ and have up to 63 letters, digits, _ or -',
  [semanticVersionPattern]: 'must be a semantic version, as 1.0.0',
  [uidPattern]: 'must be a uid, as 8e0bdc27-1f6c-4c28-9f1b-0d4e5c8a1b2c',
  [memoryPattern]: 'must be an amount that Kubernetes takes, as 512Mi, 1.5Gi or 512M',
  [imageReferencePattern]:
    'must be an image reference, its path in lower case and without blanks, as docker.io/library/busybox:1.36',
  [pullSecretPattern]:
    'must be NAME or NAME/KEY of a Secret, and KEY .dockerconfigjson or .dockercfg, for kubelets read no other key',
  [labelNamePattern]: 'must have up to 63 lower-case letters, digits or dashes, no dash first or last',
  [volumeNamePattern]: 'must have 1 to 63 characters, none of them / or a control character',
  [manifestNamePattern]: 'must have up to 63 lower-case letters, digits or dashes, no dash first',
  [registeredNamePattern]:
    'must begin with a letter, digit or _ and have up to 128 letters, digits, dots, dashes and _',
  [toolGlobPattern]: 'must be the name of a tool, in which * is any text, as fs.read or fs.*',
  [networkPattern]: 'must be a network, as 10.20.0.0/16',
  [shortToolGlobPattern]: 'must be the name of a tool, in which * is any text, 8 times at most, as fs.read or fs.*',
  [denyPattern]:
    'must be a path, as /etc/**, a path of a volume, as volume:NAME/**, or the name of a tool with at most 8 *, as fs.*',
  [sourcePattern]: 'must have up to 63 letters, digits, dots, dashes and _, a letter or digit first and last',
  [gitRefPattern]: 'must be a branch, a tag or a commit, as main',
  '^/': 'must be an absolute path',
  '^(/|volume:[a-z0-9.*-]+/)': 'must be an absolute path, as /workspace/**, or one of a volume, as volume:NAME/**',
  '^\\.?[A-Za-z0-9_-][A-Za-z0-9._-]*(/\\.?[A-Za-z0-9_-][A-Za-z0-9._-]*)*$':
    'must be a relative path without .. and blanks, as config/filter.jq',
  '^https?://[^/?#@\\s]+(/[^?#\\s]*)?$': aUrl,
  '^https?://[^/?#@\\s]+(/[^\\s#]*)?$': aUrl,
  "^(https?://|ssh://([A-Za-z0-9_][A-Za-z0-9._-]{0,63}@)?)([A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|\\[[0-9A-Fa-f:.]{2,45}\\])(:[0-9]{1,5})?/[A-Za-z0-9._~!$&'()*+,;=:@%/-]+$":
    'must be an https, http or ssh URL, as https://git.example.org/team/site.git',
  '^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$': aSecretName,
  '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$': 'must have lower-case letters, digits or dashes, no dash first or last',
  '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$':
    'must have up to 63 lower-case letters, digits or dashes, no dash first or last',
  '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$': anId,
  "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$": 'must be the name of an HTTP header, as X-Api-Key',
  '^[A-Za-z0-9_.~-]{1,128}$': 'must be the name of a query parameter, as api_key',
  '^[\\x21\\x23-\\x5b\\x5d-\\x7e]{1,256}$': 'must be one scope, without blanks, quotes and backslashes',
  '^[0-9a-f]{64}$': 'must be a SHA-256 in 64 lower-case hexadecimal digits',
  '^[^<>\\x00-\\x1f]+$': 'must have neither <, > nor control characters',
  '^[^<>\\s\\x00-\\x1f]+$': 'must have neither <, >, blanks nor control characters',
  '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,126}$':
    'must begin with a letter, digit or _ and have up to 127 letters, digits, dots, dashes and _',
  '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$': aUuid,
  '^[^=,]+=[^=,]*(,[^=,]+=[^=,]*){0,19}$': 'must be up to 20 labels, as team=web,tier=front',
  '^[^=]+=': 'must be a label, as site=lab',
  '^[0-9]{1,15}$': 'must be next_cursor of the page before',
  '^[A-Za-z0-9_-]{1,255}$': 'must be next_cursor of the page before',
  '\\S': 'must have a character that is no blank',
  '^[^\\u0000-\\u001f\\u007f]+$': 'must have no control character',
  '^[A-Za-z0-9_.-]+$': 'must be the name of a tool, as cmd.run',
  '^[A-Za-z0-9+/]{86}==$': 'must be the base64 of an Ed25519 signature of 64 bytes',
};

/** The rule that a text breaks where the pattern refuses it. */
export const patternText = (pattern: string): string => patternTexts[pattern] ?? `must match ${pattern}`;
